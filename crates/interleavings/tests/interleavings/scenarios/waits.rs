//! Waits for claims in a database, of which the newest counts.

use claims::ClaimId;
use shuttle::future::block_on;

use crate::model::sync::Arc;
use crate::model::sync::atomic::{AtomicBool, Ordering};
use crate::model::thread;
use crate::rig::{always, catches};
use crate::waits::Waits;

const CLAIM: ClaimId = ClaimId(7);

/// A wait ends at the moment at which a newer one for the same claim begins.
fn a_newer_wait_takes_over() {
    let waits = Arc::new(Waits::default());
    let old = thread::spawn({
        let waits = waits.clone();
        move || drop(waits.enter(CLAIM, 1))
    });
    let new = waits.enter(CLAIM, 2).expect("nobody is newer");
    old.join().unwrap();
    let is_taken = new.is_taken();
    if !is_taken {
        waits.wake(CLAIM);
        block_on(new.woken());
    }
    drop(new);
    assert!(!is_taken, "the wait that counts is taken for one that does not");
}

/// Somebody is called while it begins to wait: before, it sees that itself; after, it is woken.
fn called_while_it_enters() {
    let waits = Arc::new(Waits::default());
    let called = Arc::new(AtomicBool::new(false));
    let caller = thread::spawn({
        let (waits, called) = (waits.clone(), called.clone());
        move || {
            called.store(true, Ordering::SeqCst);
            waits.wake(CLAIM);
        }
    });
    let place = waits.enter(CLAIM, 1).expect("nobody is newer");
    if !called.load(Ordering::SeqCst) {
        block_on(place.woken());
    }
    caller.join().unwrap();
}

#[test]
fn wait_that_ends_does_not_end_the_one_that_took_over() {
    always(a_newer_wait_takes_over);
    catches("leaves in two steps", "taken for one that does not", a_newer_wait_takes_over);
}

#[test]
fn who_is_called_while_it_begins_to_wait_sees_the_call() {
    always(called_while_it_enters);
    catches("calls and nobody hears", "deadlock", called_while_it_enters);
}
