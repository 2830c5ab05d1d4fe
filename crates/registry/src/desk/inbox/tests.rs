use super::*;

const LONG: Duration = Duration::from_secs(60);

#[test]
fn everything_is_taken_at_once_and_in_order() {
    let inbox = Inbox::new();
    inbox.put(1, Urgency::WithCompany).unwrap();
    inbox.put(2, Urgency::Now).unwrap();
    inbox.put(3, Urgency::WithCompany).unwrap();
    let mut taken = VecDeque::from([0]);
    inbox.take(&mut taken, LONG);
    assert_eq!(taken, [0, 1, 2, 3]);
}

#[test]
fn a_patient_request_is_taken_without_company_after_a_moment() {
    let inbox = Arc::new(Inbox::new());
    let taker = thread::spawn({
        let inbox = inbox.clone();
        move || {
            let mut taken = VecDeque::new();
            inbox.take(&mut taken, LONG);
            taken
        }
    });
    inbox.put(1, Urgency::WithCompany).unwrap();
    assert_eq!(taker.join().unwrap(), [1], "it did not wait for ever");
}

#[test]
fn nobody_waits_longer_than_asked() {
    let inbox = Inbox::<u8>::new();
    let mut taken = VecDeque::new();
    inbox.take(&mut taken, Duration::from_millis(1));
    assert!(taken.is_empty());
}

#[test]
fn whoever_comes_too_late_is_told() {
    let inbox = Inbox::new();
    let late = Arc::new(());
    inbox.close();
    assert!(inbox.put(late.clone(), Urgency::Now).is_err());
    assert_eq!(Arc::strong_count(&late), 1, "what is refused is dropped");
}

#[test]
fn many_put_in_and_nothing_is_lost() {
    let inbox = Arc::new(Inbox::new());
    let putters: Vec<_> = (0..4u32)
        .map(|putter| {
            let inbox = inbox.clone();
            thread::spawn(move || {
                for n in 0..10_000u32 {
                    let urgency = if n % 3 == 0 { Urgency::Now } else { Urgency::WithCompany };
                    inbox.put((putter, n), urgency).unwrap();
                }
            })
        })
        .collect();
    let mut next = [0; 4];
    let mut taken = VecDeque::new();
    while next != [10_000; 4] {
        inbox.take(&mut taken, LONG);
        for (putter, n) in taken.drain(..) {
            assert_eq!(n, next[putter as usize], "each one's requests stay in order");
            next[putter as usize] += 1;
        }
    }
    putters.into_iter().for_each(|putter| putter.join().unwrap());
}
