//! Durable first, then answered.

use claims::Command;
use registry::embedded::{Durability, Options};

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
    store.ledger.commit().expect_err("there is no going on");
    assert_eq!(twin.faults.syncs.get(), syncs + 1, "and no second try");
}

#[test]
fn lazy_durability_syncs_at_its_interval_and_when_closed() {
    let twin = Twin::default();
    let every = std::time::Duration::from_secs(1);
    let options = || Options { durability: Durability::Interval(every), ..small() };
    let mut store = Store::open(&twin, options()).unwrap();
    store.do_chores();
    store.pass(claims::Span::from_secs(5));
    store.ledger.commit().unwrap();
    let syncs = twin.faults.syncs.get();
    for nth in 0..10 {
        store.claim(&format!("r/{nth}"));
    }
    assert_eq!(twin.faults.syncs.get(), syncs, "answered before it is durable");
    assert_eq!(store.ledger.sync_within(), Some(claims::Span::from_secs(1)));
    store.pass(claims::Span::from_secs(1));
    store.ledger.commit().unwrap();
    assert_eq!(twin.faults.syncs.get(), syncs + 1);
    store.claim("one more");
    store.ledger.close().unwrap();
    assert_eq!(twin.faults.syncs.get(), syncs + 2);
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
