//! A full disk: nothing new, but what is held can be renewed and given back.

use claims::{Command, Farewell};
use registry::StoreError;

use crate::twin::{Store, Twin, small};

fn full() -> (Store, Vec<claims::Owner>) {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    let owners = (0..20).map(|nth| store.claim(&format!("held/{nth}")).1).collect();
    twin.faults.capacity.set(Some(twin.bytes()));
    (store, owners)
}

/// Registers until the store says no.
fn fill(store: &mut Store) -> String {
    for nth in 0..1000 {
        let wish = store.wish(&format!("more/{nth}"));
        match store.try_run(Command::Register(wish)) {
            Ok(answer) => drop(answer.unwrap()),
            Err(StoreError::Unavailable(text)) => return text,
            Err(other) => panic!("{other}"),
        }
    }
    panic!("a disk that never fills");
}

#[test]
fn full_disk_refuses_registrations_while_renewals_and_releases_go_on() {
    let (mut store, owners) = full();
    let text = fill(&mut store);
    assert!(text.contains("the disk is full"), "{text}");
    for owner in &owners {
        store.run(Command::Renew(*owner, None));
    }
    for owner in owners {
        store.run(Command::End(owner, Farewell::Release));
    }
    let again = Store::open(&store.twin, small()).unwrap();
    assert!(again.ledger.state().tally().ended >= 20, "what was answered was kept");
}

#[test]
fn store_recovers_by_itself_when_there_is_room_again() {
    let (mut store, _) = full();
    fill(&mut store);
    store.twin.faults.capacity.set(None);
    store.pass(claims::Span::from_secs(1));
    store.do_chores();
    store.claim("after");
}

#[test]
fn exhausted_reserve_stops_everything_but_loses_nothing_and_no_lease_ends() {
    let (mut store, owners) = full();
    fill(&mut store);
    let refused = (0..10_000).any(|_| store.try_run(Command::Renew(owners[0], None)).is_err());
    assert!(refused, "the reserve has an end");
    let held = store.ledger.state().tally().active;
    // An hour without a byte of room: nobody could renew, so nobody is overdue.
    store.pass(claims::Span::from_secs(3600));
    store.ledger.sweep();
    store.ledger.commit().unwrap();
    assert_eq!(store.ledger.state().tally().active, held);
    store.twin.faults.capacity.set(None);
    store.pass(claims::Span::from_secs(1));
    store.do_chores();
    store.run(Command::Renew(owners[0], None));
    let again = Store::open(&store.twin, small()).unwrap();
    assert_eq!(again.ledger.state().tally().active, held);
}

#[test]
fn snapshot_that_does_not_fit_is_given_up_and_tried_again() {
    let twin = Twin::default();
    let options = registry::embedded::Options { snapshot_after: 4 << 10, ..small() };
    let mut store = Store::open(&twin, options).unwrap();
    store.claim("first");
    twin.faults.capacity.set(Some(twin.bytes() + 100));
    for nth in 0..30 {
        let wish = store.wish(&format!("r/{nth}"));
        let _ = store.try_run(Command::Register(wish));
    }
    assert!(twin.names("snapshot-").is_empty(), "there was no room");
    twin.faults.capacity.set(None);
    store.pass(claims::Span::from_secs(1));
    for nth in 0..30 {
        store.claim(&format!("s/{nth}"));
    }
    assert!(!twin.names("snapshot-").is_empty(), "now there is");
}

/// Found under a crowd of connections: the process stopped itself because it could not open a file.
#[test]
fn process_without_descriptors_goes_on_and_recovers() {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    let (_, owner) = store.claim("held");
    twin.faults.no_descriptors.set(true);
    fill(&mut store);
    store.run(Command::Renew(owner, None));
    twin.faults.no_descriptors.set(false);
    store.pass(claims::Span::from_secs(1));
    store.do_chores();
    store.claim("after");
}
