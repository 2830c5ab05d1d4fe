//! Durable first, then answered.

use claims::Command;

use crate::twin::{Store, Twin, small};

#[test]
fn failed_sync_is_fatal_and_never_tried_again() {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    let (_, owner) = store.claim("a");
    let syncs = twin.faults.syncs.get();
    twin.faults.sync_fails.set(true);
    store.pass(claims::Span::from_micros(10));
    let _ = store.ledger.execute(Command::Renew(owner, None)).unwrap();
    let fatal = store.ledger.commit().expect_err("the disk said so");
    assert_eq!(twin.faults.syncs.get(), syncs + 1, "asked once");
    assert!(fatal.to_string().contains("syncing the log failed: the disk is dying"), "{fatal}");
}

/// One fsync per handover.
#[test]
fn release_and_the_grant_it_allows_are_one_sync() {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    let (_, holder) = store.claim("a");
    let (_, waiter) = store.claim("a");
    store.ledger.attend(waiter.claim);
    let syncs = twin.faults.syncs.get();
    store.release(holder);
    assert_eq!(twin.faults.syncs.get(), syncs + 1);
    let claim = store.ledger.state().claim(waiter.claim).unwrap();
    assert_eq!(claim.status(), claims::Status::Active);
}

#[test]
fn commands_of_one_batch_share_one_sync() {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    let syncs = twin.faults.syncs.get();
    for nth in 0..20 {
        let wish = store.wish(&format!("r/{nth}"));
        store.ledger.execute(Command::Register(wish)).unwrap().unwrap();
    }
    store.ledger.commit().unwrap();
    assert_eq!(twin.faults.syncs.get(), syncs + 1);
}

#[test]
fn looking_costs_no_sync() {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    let (_, owner) = store.claim("a");
    let syncs = twin.faults.syncs.get();
    store.run(Command::Activate(owner));
    store.ledger.sweep();
    store.ledger.commit().unwrap();
    assert_eq!(twin.faults.syncs.get(), syncs);
}
