//! A restart forgets nothing, and is not the clients' fault.

use claims::engine::apply;
use claims::{Command, Phase, Span, State, Status};

use crate::twin::{Store, Twin, small};

#[test]
fn everything_acknowledged_is_there_again() {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    let (_, first) = store.claim("a");
    for nth in 0..200 {
        let (_, owner) = store.claim(&format!("b{}", nth % 7));
        if nth % 3 == 0 {
            store.run(Command::End(owner, claims::Farewell::Abort));
        }
    }
    let before = store.ledger.state().clone();
    let again = Store::open(&twin, small()).unwrap();
    let mut expected = before;
    let stamp = claims::Stamp { at: again.ledger.now(), ..claims::Stamp::default() };
    apply(&mut expected, &claims::Event::Resumed, stamp);
    assert!(*again.ledger.state() == expected, "recovered state differs");
    assert_eq!(again.ledger.state().claim(first.claim).unwrap().status(), Status::Active);
}

#[test]
fn fences_rise_across_restarts_and_forgotten_resources() {
    let twin = Twin::default();
    let mut last = 0;
    for _ in 0..5 {
        let mut store = Store::open(&twin, small()).unwrap();
        for _ in 0..3 {
            let (standing, owner) = store.claim("a");
            let fence = standing.claim.activation().unwrap().fence.0;
            assert!(fence > last);
            last = fence;
            store.release(owner);
        }
        assert_eq!(store.ledger.state().names_after(None).count(), 0, "nothing is remembered");
    }
}

/// Rule 11.
#[test]
fn restart_gives_each_lease_its_ttl_again_but_only_once() {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    let (_, owner) = store.claim("a");
    let deadline = |store: &Store| match &store.ledger.state().claim(owner.claim).unwrap().phase {
        Phase::Active(active) => active.deadline.since(store.ledger.now()),
        Phase::Waiting(_) | Phase::Ended(_) => panic!("it is held"),
    };
    store.pass(Span::from_secs(50));
    store.claim("clock");
    assert!(deadline(&store) <= Span::from_secs(10));
    let mut store = Store::open(&twin, small()).unwrap();
    assert_eq!(deadline(&store), Span::from_secs(60));
    store.pass(Span::from_secs(40));
    store.claim("clock");
    let mut store = Store::open(&twin, small()).unwrap();
    assert!(deadline(&store) <= Span::from_secs(20), "the second restart gives nothing");
    store.run(Command::Renew(owner, None));
    let store = Store::open(&twin, small()).unwrap();
    assert_eq!(deadline(&store), Span::from_secs(60), "after a renewal, once again");
}

/// Rule 11: a restart storm must not keep the dead alive.
#[test]
fn time_passes_through_a_restart_storm() {
    let twin = Twin::default();
    Store::open(&twin, small()).unwrap().claim("a");
    let waiter = Store::open(&twin, small()).unwrap().claim("a").1;
    for _ in 0..100 {
        let mut store = Store::open(&twin, small()).unwrap();
        store.pass(Span::from_millis(2_500));
        // Nobody asks for anything: only the passing of time is written down.
        store.ledger.sweep();
        store.ledger.commit().unwrap();
    }
    let mut store = Store::open(&twin, small()).unwrap();
    assert_eq!(store.run(Command::Activate(waiter)).claim.status(), Status::Active);
}

#[test]
fn log_that_turned_over_many_segments_is_read_back_whole() {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    for nth in 0..1000 {
        store.claim(&format!("resource/{nth}"));
    }
    assert!(twin.names("log-").len() > 10, "the log has many segments");
    let again = Store::open(&twin, small()).unwrap();
    assert_eq!(again.ledger.state().tally().active, 1000);
}

#[test]
fn replay_of_all_batches_equals_the_state() {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    let mut replayed = State::new(small().rules);
    for nth in 0..300 {
        store.pass(Span::from_millis(300));
        let wish = store.wish(&format!("r{}", nth % 5));
        let _ = store.ledger.execute(Command::Register(wish)).unwrap();
        store.ledger.sweep();
        let batch = store.ledger.commit().unwrap();
        for event in &batch.events {
            apply(&mut replayed, event, batch.stamp);
        }
        store.do_chores();
        assert!(*store.ledger.state() == replayed, "after {nth} steps");
    }
}
