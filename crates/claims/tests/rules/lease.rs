//! How long a holder holds.

use claims::Status::{Active, Expired};
use claims::{Span, Timestamp};

use super::world::{World, refused, secs, ttl, wish};

/// Rule 4. The ttl runs from the answer that activates, not from the registration.
#[test]
fn lease_runs_from_the_activation() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    let waiter = world.register(wish("a").ttl(20));
    world.at(5).release(holder).unwrap();
    let answer = world.at(8).poll(waiter).unwrap();
    assert_eq!(answer.claim.activation().unwrap().since.at, secs(8));
    assert_eq!(world.deadline(waiter), secs(28));
}

/// Rule 4. A renewal sets the deadline to now + ttl.
#[test]
fn renewal_counts_from_now() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    world.at(7).renew(holder).unwrap();
    assert_eq!(world.deadline(holder), secs(17));
}

/// Rule 4. A renewal may bring another ttl, longer or shorter, and the next one keeps it.
#[test]
fn renewal_may_change_the_ttl_for_good() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    world.at(1).renew_for(holder, 100).unwrap();
    assert_eq!(world.deadline(holder), secs(101));
    world.at(2).renew_for(holder, 3).unwrap();
    assert_eq!(world.deadline(holder), secs(5));
    world.at(4).renew(holder).unwrap();
    assert_eq!(world.deadline(holder), secs(7));
    assert_eq!(world.claim(holder).ttl, ttl(10), "what was registered stays");
}

/// Rule 4. A renewal is not an activation: the fence stays.
#[test]
fn renewal_keeps_the_fence() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let fence = world.fence(holder);
    world.at(1).renew(holder).unwrap();
    assert_eq!(world.fence(holder), fence);
}

/// Rule 4. Asking for activation again is not a renewal either.
#[test]
fn poll_of_a_holder_does_not_move_its_deadline() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    world.at(9).poll(holder).unwrap();
    assert_eq!(world.deadline(holder), secs(10));
    assert!(world.events().is_empty());
}

/// Rule 4. The ttl may be unlimited inside the engine.
#[test]
fn unlimited_lease_never_ends_by_itself() {
    let mut world = World::new();
    let holder = world.register(wish("a").unlimited());
    let waiter = world.register(wish("a"));
    assert_eq!(world.deadline(holder), Timestamp::NEVER);
    for day in 1..400 {
        world.at(day * 86_400).sweep();
        let _over_or_not = world.poll(waiter);
    }
    assert_eq!(world.status(holder), Active);
    world.renew(holder).unwrap();
    assert_eq!(world.deadline(holder), Timestamp::NEVER);
    world.release(holder).unwrap();
}

/// Rule 4. A ttl of nothing is a lease that is over at once; v1 clients may ask for it.
#[test]
fn lease_of_no_length_is_overdue_at_once() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(0));
    assert_eq!(world.status(holder), Active);
    let next = world.register(wish("a"));
    assert_eq!(world.status(holder), Expired);
    assert_eq!(world.status(next), Active);
}

/// Rule 4. But not in the answer that gives it: who asks for its turn is told that it has it.
#[test]
fn lease_of_no_length_is_not_over_in_its_own_answer() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let short = world.register(wish("a").ttl(0));
    let next = world.register(wish("a"));
    world.release(holder).unwrap();
    let answer = world.poll(short).unwrap();
    assert_eq!(answer.claim.status(), Active);
    world.poll(next).unwrap();
    assert_eq!(world.status(short), Expired);
}

/// Rule 4. Nothing is renewed that is not held.
#[test]
fn only_a_holder_renews() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let waiter = world.register(wish("a"));
    assert_eq!(refused(world.renew(waiter)), "not-active");
    world.release(holder).unwrap();
    assert_eq!(refused(world.renew(holder)), "not-active");
}

/// Rule 4. The lease lasts its whole ttl: not a microsecond less.
#[test]
fn wanted_lease_ends_exactly_at_its_deadline() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    let waiter = world.register(wish("a"));
    let last = secs(10) - Span::from_micros(1);
    assert_eq!(refused(world.at_micros(last.as_micros()).poll(waiter)), "still-waiting");
    assert_eq!(world.status(holder), Active);
    world.at(10).poll(waiter).unwrap();
    assert_eq!(world.status(holder), Expired);
}
