//! Many put in, one takes out.

use std::collections::VecDeque;
use std::time::Duration;

use crate::inbox::{Closes, Inbox, Urgency};
use crate::model::sync::Arc;
use crate::model::thread;
use crate::rig::{always, catches};

const LONG: Duration = Duration::from_secs(60);

/// Three requests, of which one is in a hurry, and one who takes out until it has all of them.
fn everything_is_taken_once_and_nobody_sleeps_on_it() {
    let inbox = Arc::new(Inbox::new());
    let putters =
        [vec![(0, Urgency::WithCompany), (1, Urgency::WithCompany)], vec![(10, Urgency::Now)]];
    let putters = putters.map(|requests| {
        let inbox = inbox.clone();
        thread::spawn(move || {
            for (request, urgency) in requests {
                inbox.put(request, urgency).expect("it is open");
            }
        })
    });
    let (mut taken, mut all) = (VecDeque::new(), Vec::new());
    while all.len() < 3 {
        inbox.take(&mut taken, LONG);
        all.extend(taken.drain(..));
    }
    putters.into_iter().for_each(|putter| putter.join().unwrap());
    inbox.take_now(&mut taken);
    assert!(taken.is_empty(), "taken twice: {taken:?}");
    let of_the_first: Vec<_> = all.iter().filter(|&&request| request < 10).collect();
    assert_eq!(of_the_first, [&0, &1], "in order");
    all.sort();
    assert_eq!(all, [0, 1, 10]);
}

/// One puts in while the one who takes out leaves.
fn what_comes_while_it_closes_is_taken_dropped_or_refused() {
    let inbox = Arc::new(Inbox::new());
    let token = Arc::new(());
    let putter = thread::spawn({
        let (inbox, token) = (inbox.clone(), token.clone());
        move || (0..3).filter(|_| inbox.put(token.clone(), Urgency::Now).is_ok()).count()
    });
    let taker = thread::spawn({
        let inbox = inbox.clone();
        move || {
            let _closes = Closes(inbox.clone());
            let mut taken = VecDeque::new();
            inbox.take(&mut taken, LONG);
            taken.len()
        }
    });
    let (taken, accepted) = (taker.join().unwrap(), putter.join().unwrap());
    assert!(taken <= accepted, "{taken} taken of {accepted}");
    assert_eq!(Arc::strong_count(&token), 1, "what nobody took is still kept");
}

#[test]
fn nothing_put_in_is_lost_or_taken_twice_and_the_taker_always_wakes() {
    always(everything_is_taken_once_and_nobody_sleeps_on_it);
    catches("nap without a look", "deadlock", everything_is_taken_once_and_nobody_sleeps_on_it);
}

#[test]
fn whoever_puts_in_while_it_closes_is_taken_or_told() {
    always(what_comes_while_it_closes_is_taken_dropped_or_refused);
    catches(
        "closed and still open",
        "still kept",
        what_comes_while_it_closes_is_taken_dropped_or_refused,
    );
}
