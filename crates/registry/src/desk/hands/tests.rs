//! Who does what, with real threads.

use std::thread::{self, ThreadId};

use claims::Rules;

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
