//! What is over is remembered for a while, and then not.

use claims::Status::Released;
use claims::{Event, Rules, Span};

use super::world::{World, key, refused, wish};

/// Rule 12. Finished claims keep their history for a day, then go.
#[test]
fn finished_claim_is_remembered_for_a_day() {
    let mut world = World::new();
    let claim = world.register(wish("a"));
    world.at(10).release(claim).unwrap();
    world.at(10 + 86_399).sweep();
    assert_eq!(world.status(claim), Released);
    assert_eq!(world.poll(claim).unwrap_err().code(), "over");
    world.at(10 + 86_400).sweep();
    assert!(world.state.claim(claim.claim).is_none());
    assert_eq!(refused(world.poll(claim)), "unknown");
}

/// Rule 12. ... and a count limit: the oldest go first.
#[test]
fn no_more_finished_claims_are_remembered_than_the_bound() {
    let mut world = World::with(Rules { ended_max: 100, ..Rules::default() });
    let claims: Vec<_> = (0..1_000)
        .map(|at| {
            let claim = world.at(at).register(wish("a"));
            world.release(claim).unwrap();
            world.sweep();
            // Forgotten in batches of 64: one small event instead of one for each claim.
            assert!(world.state.tally().ended <= 100 + 64);
            claim.claim
        })
        .collect();
    let remembered: Vec<_> = world.state.claims_after(None).map(|claim| claim.id).collect();
    assert!(remembered.len() >= 100);
    assert_eq!(remembered, claims[claims.len() - remembered.len()..]);
}

/// Rule 12. Oldest by its end, not by its registration.
#[test]
fn claim_that_ended_first_is_forgotten_first() {
    let mut world = World::new();
    let long = world.register(wish("a").unlimited());
    let short = world.register(wish("b"));
    world.at(1).release(short).unwrap();
    world.at(2).release(long).unwrap();
    world.at(86_401).sweep();
    assert!(world.state.claim(short.claim).is_none());
    assert!(world.state.claim(long.claim).is_some());
}

/// Rule 12. Live claims are never forgotten, however old.
#[test]
fn live_claim_is_not_forgotten() {
    let mut world = World::with(Rules { ended_max: 0, retain: Span::ZERO, ..Rules::default() });
    let holder = world.register(wish("a").unlimited());
    let waiter = world.register(wish("a"));
    for at in 0..10 {
        world.at(at * 7_000).poll(waiter).unwrap_err();
        world.sweep();
    }
    world.release(holder).unwrap();
    world.poll(waiter).unwrap();
    world.sweep();
    assert!(world.state.claim(holder.claim).is_none());
    assert!(world.state.claim(waiter.claim).is_some());
}

/// Rule 12. Memory is bounded by what is live: an idle resource leaves no trace.
#[test]
fn nothing_is_left_of_idle_resources() {
    let mut world = World::new();
    for nth in 0..200 {
        let claim = world.register(wish(&format!("job-{nth} all")).key(key(nth)));
        let waiter = world.register(wish("all"));
        world.withdraw(waiter).unwrap();
        world.release(claim).unwrap();
    }
    assert_eq!(world.state.names_after(None).count(), 0);
    world.at(86_400).sweep();
    assert_eq!(world.state.claims_after(None).count(), 0);
    assert_eq!(world.state.next_due(), None);
    let tally = world.state.tally();
    assert_eq!((tally.waiting, tally.active, tally.ended), (0, 0, 0));
}

/// Rule 12. Forgetting is one event for many claims, and a sweep with nothing to do is none.
#[test]
fn forgetting_many_is_one_event() {
    let mut world = World::new();
    for _ in 0..150 {
        let claim = world.register(wish("a"));
        world.release(claim).unwrap();
    }
    world.sweep();
    assert!(world.events().is_empty());
    world.at(86_400).sweep();
    assert_eq!(world.events(), [Event::Forgotten { count: 150 }]);
}

/// Rules 5 and 12. The state tells when it next changes by itself, and looking then is enough.
#[test]
fn looking_when_due_finds_every_change() {
    let mut world = World::new();
    let unwanted = world.register(wish("a").ttl(10));
    world.register(wish("b").ttl(10));
    world.register(wish("b").ttl(20));
    let mut looks = 0;
    while let Some(due) = world.state.next_due() {
        world.at_micros(due.as_micros()).sweep();
        looks += 1;
        assert!(looks < 30, "looking must come to an end");
    }
    assert!(world.state.claim(unwanted.claim).is_none());
    assert_eq!(world.state.claims_after(None).count(), 0);
}
