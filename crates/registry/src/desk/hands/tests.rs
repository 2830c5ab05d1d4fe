//! Who does what, with real threads.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread::{self, ThreadId};

use claims::Rules;

use crate::desk::tests::{failing, register};
use crate::desk::{Clocks, Desk, MachineClocks, Unwritten};
use crate::store::{Pending, Store};

fn desk() -> Desk<Unwritten> {
    let books = Unwritten::new(Rules::default(), MachineClocks.read());
    Desk::open(books, Box::new(MachineClocks), |fatal| unreachable!("{fatal}"))
}

/// In which thread this is done.
fn whose(desk: &Desk<Unwritten>) -> Pending<'_, ThreadId> {
    desk.look(|_, _, _| thread::current().id())
}

/// Asks so many things at once, in a thread that lends a hand. The desk's own thread is not at work: it
/// would do what it finds.
async fn ask_at_once(desk: &Desk<Unwritten>, count: usize) -> Vec<ThreadId> {
    while !desk.inbox.is_the_desk_asleep() {
        thread::yield_now();
    }
    let ask = async {
        tokio::task::yield_now().await;
        let asked: Vec<_> = (0..count).map(|_| whose(desk)).collect();
        let mut told = Vec::new();
        for asked in asked {
            told.push(asked.await.expect("served"));
        }
        told
    };
    tokio::select! {
        _ = Store::lend_a_hand(desk) => unreachable!("a hand is lent until it is taken away"),
        told = ask => told,
    }
}

#[tokio::test]
async fn little_that_a_hand_asks_is_done_in_its_own_thread() {
    let desk = desk();
    assert_eq!(ask_at_once(&desk, 1).await, [thread::current().id()]);
    assert_eq!(ask_at_once(&desk, 8).await, [thread::current().id(); 8]);
}

#[tokio::test]
async fn much_that_a_hand_asks_is_done_by_the_desk() {
    let desk = desk();
    let told = ask_at_once(&desk, 9).await;
    assert_eq!(told.len(), 9);
    assert!(!told.contains(&thread::current().id()), "others wait while it waits for the disk");
}

#[tokio::test]
async fn what_others_ask_is_done_by_the_desk() {
    let desk = desk();
    let others = whose(&desk).await.expect("served");
    assert_ne!(others, thread::current().id());
    ask_at_once(&desk, 1).await;
    assert_eq!(whose(&desk).await.expect("served"), others, "a hand that is gone is gone");
}

/// Where a program would end itself.
fn never_returns(flag: &AtomicBool) -> ! {
    flag.store(true, Ordering::SeqCst);
    loop {
        thread::park();
    }
}

/// Nobody must try the same once more: it might seem to work then.
#[tokio::test]
async fn hand_does_not_go_on_after_the_desk_has_failed() {
    static STOPPED: AtomicBool = AtomicBool::new(false);
    // It cannot be closed any more, as little as a program goes on that has ended itself.
    let desk: &'static _ = Box::leak(Box::new(failing(|_| never_returns(&STOPPED))));
    let mut before = desk.submit(register(1));
    while !STOPPED.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    let mut hand = Store::lend_a_hand(desk);
    let mut after = None;
    for _ in 0..3 {
        poll_fn(|cx| {
            assert!(hand.as_mut().poll(cx).is_pending());
            let after = after.get_or_insert_with(|| desk.submit(register(2)));
            assert!(after.as_mut().poll(cx).is_pending(), "answered after a failure");
            assert!(before.as_mut().poll(cx).is_pending(), "answered although it failed");
            Poll::Ready(())
        })
        .await;
    }
}
