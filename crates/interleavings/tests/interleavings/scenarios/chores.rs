//! The embedded store's second thread, which makes room in the log while the first needs it.

use claims::{Command, Farewell, Rules};
use registry::embedded::{Ledger, Options};
use shuttle::future::block_on;

use super::desk::{ModelClocks, open, owner, register};
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

/// Two claim and release while segments and snapshots are made; then the store is closed and opened.
fn two_work_while_room_is_made() {
    let shelf = Shelf::default();
    let ledger = Ledger::open(shelf.clone(), small(), ModelClocks.read()).expect("a new store");
    let desk = open(ledger);
    let workers = [1, 2].map(|worker: u8| {
        let desk = desk.clone();
        thread::spawn(move || {
            for nth in [worker, worker + 10, worker + 20] {
                let standing = block_on(desk.submit(register(nth, &format!("r/{worker}"))));
                let standing = standing.expect("served").expect("known");
                if nth < 20 {
                    let ending = Command::End(owner(nth, &standing), Farewell::Release);
                    block_on(desk.submit(ending)).expect("served").expect("it is ours");
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
}
