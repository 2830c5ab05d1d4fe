//! The embedded store's second thread, which makes room in the log while the first needs it.

use claims::{Command, Farewell, Rules};
use registry::embedded::{Ledger, Options};
use shuttle::future::block_on;

use super::desk::{ModelClocks, open, owner, register};
use super::hands::ask;
use super::shelf::Shelf;
use crate::desk::Clocks;
use crate::model::thread;
use crate::rig::{always, catches};
use crate::store::Store;

/// Segments so small that a few claims fill one.
fn small() -> Options {
    Options {
        rules: Rules { events_max: 4, ..Rules::default() },
        segment_bytes: 1_536,
        snapshot_after: 2_048,
        snapshot_slice: 1,
        ..Options::default()
    }
}

/// Two claim and release while segments and snapshots are made, and one of them lends a hand; then the
/// store is closed and opened.
fn two_work_while_room_is_made() {
    let shelf = Shelf::default();
    let ledger = Ledger::open(shelf.clone(), small(), ModelClocks.read()).expect("a new store");
    let desk = open(ledger);
    let workers = [1, 2].map(|worker: u8| {
        let desk = desk.clone();
        thread::spawn(move || {
            for nth in [worker, worker + 10, worker + 20] {
                let submit = |command| match worker {
                    1 => ask(&desk, || desk.submit(command)),
                    _ => block_on(desk.submit(command)).expect("served"),
                };
                let standing = submit(register(nth, &format!("r/{worker}"))).expect("known");
                if nth < 20 {
                    let ending = Command::End(owner(nth, &standing), Farewell::Release);
                    submit(ending).expect("it is ours");
                }
            }
        })
    });
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    drop(desk);
    let ledger = Ledger::open(shelf, small(), ModelClocks.read()).expect("what was kept");
    assert_eq!(ledger.state().tally().active, 2, "each still holds its last");
}

#[test]
fn log_that_needs_room_keeps_nobody_waiting_and_loses_nothing() {
    always(two_work_while_room_is_made);
    catches("waits for a chore that is not first", "deadlock", two_work_while_room_is_made);
    catches("a hand waits for a chore", "deadlock", two_work_while_room_is_made);
    catches("takes it that somebody woke it", "deadlock", two_work_while_room_is_made);
}
