//! The latest events, and those who follow them.

use claims::{Command, Farewell, Rules};
use shuttle::future::block_on;

use super::desk::{ModelClocks, open, owner, register};
use crate::desk::{Clocks, Unwritten};
use crate::model::thread;
use crate::rig::{always, catches};
use crate::store::Store;

/// Registered, activated and ended, twice: six events, of which four are kept.
const EVENTS: u64 = 6;

/// Somebody reads while things happen, as fast or as slowly as the scheduler likes.
fn somebody_follows() {
    let desk = open(Unwritten::new(Rules::default(), ModelClocks.read()));
    let actor = thread::spawn({
        let desk = desk.clone();
        move || {
            for nth in [1, 2] {
                let standing = block_on(desk.submit(register(nth, "one")));
                let standing = standing.expect("served").expect("known");
                let ending = Command::End(owner(nth, &standing), Farewell::Release);
                block_on(desk.submit(ending)).expect("served").expect("it is ours");
            }
        }
    });
    let (mut next, mut seen, mut skipped) = (0, 0, 0);
    while next < EVENTS {
        block_on(desk.wait_for_event(next)).expect("served");
        let page = block_on(desk.events(next, 2)).expect("served");
        assert!(!page.events.is_empty(), "woken for nothing");
        for (kept, position) in page.events.iter().zip(next + page.skipped..) {
            assert_eq!(kept.position, position, "in order, without a gap that was not told");
        }
        seen += page.events.len() as u64;
        skipped += page.skipped;
        next = page.next;
    }
    assert_eq!((seen + skipped, next), (EVENTS, EVENTS), "each once, or told to be missed");
    actor.join().unwrap();
}

#[test]
fn readers_see_every_event_in_order_or_are_told_that_they_skipped() {
    always(somebody_follows);
    catches("skips in silence", "without a gap", somebody_follows);
}
