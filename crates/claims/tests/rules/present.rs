//! Nobody is made a holder behind its back.

use claims::Status::{Active, Waiting};
use claims::{Event, Turn};

use super::world::{World, refused, secs, wish};

/// Rule 3. A claim becomes active only in answer to its own claimant: its registration ...
#[test]
fn registration_of_a_free_resource_is_a_grant() {
    let mut world = World::new();
    let answer = world.try_register(wish("a")).unwrap();
    assert_eq!(answer.claim.status(), Active);
    assert_eq!(answer.place, None);
}

/// Rule 3. ... its activation request ...
#[test]
fn waiter_becomes_active_when_it_asks_and_not_before() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let waiter = world.register(wish("a"));
    world.release(holder).unwrap();
    assert_eq!(world.status(waiter), Waiting);
    world.at(30).sweep();
    assert_eq!(world.status(waiter), Waiting);
    assert_eq!(world.poll(waiter).unwrap().claim.status(), Active);
}

/// Rule 3. ... or a wait it has open.
#[test]
fn open_wait_is_granted_by_the_release_of_another() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let waiter = world.register(wish("a"));
    world.wait(waiter);
    world.at(5).release(holder).unwrap();
    assert_eq!(world.status(waiter), Active);
    assert_eq!(world.deadline(waiter), secs(65));
    let granted =
        |event: &Event| matches!(event, Event::Activated { claim, .. } if *claim == waiter.claim);
    assert!(world.events().iter().any(granted));
}

/// Rule 3. A wait that ended is nobody waiting for an answer.
#[test]
fn closed_wait_is_not_granted() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let waiter = world.register(wish("a"));
    world.wait(waiter);
    world.leave(waiter).unwrap();
    world.release(holder).unwrap();
    assert_eq!(world.status(waiter), Waiting);
    assert!(matches!(world.turn(waiter), Turn::Called { .. }));
}

/// Rule 3. The same registration again is its claimant asking.
#[test]
fn repeated_registration_is_granted_its_turn() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let mine = wish("a").key(super::world::key(1));
    world.register(mine.clone());
    world.release(holder).unwrap();
    let answer = world.try_register(mine).unwrap();
    assert_eq!(answer.claim.status(), Active);
}

/// Rule 3. Only the claimant: the open wait of another is not one's own.
#[test]
fn open_wait_behind_an_absent_waiter_is_not_granted_in_its_place() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let absent = world.register(wish("a"));
    let waiter = world.register(wish("a"));
    world.wait(waiter);
    world.release(holder).unwrap();
    assert_eq!(world.status(waiter), Waiting);
    world.poll(absent).unwrap();
}

/// Rule 3. A restart ends every open wait: whoever waited there is not told any more.
#[test]
fn restart_forgets_open_waits() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let waiter = world.register(wish("a"));
    world.wait(waiter);
    world.restart();
    world.release(holder).unwrap();
    assert_eq!(world.status(waiter), Waiting);
}

/// Rule 3. Renewing, leaving or a keeper's visit is not asking for the turn.
#[test]
fn only_asking_is_answered_with_a_grant() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let waiter = world.register(wish("a"));
    world.release(holder).unwrap();
    world.leave(waiter).unwrap();
    assert_eq!(refused(world.renew(waiter)), "not-active");
    world.appoint(waiter, super::world::key(7)).unwrap();
    assert_eq!(world.status(waiter), Waiting);
    world.poll(waiter).unwrap();
}

/// Rule 3. Attending is for waiters: a holder's or a stranger's presence means nothing.
#[test]
fn presence_of_one_who_does_not_wait_is_ignored() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    world.state.attend(holder.claim);
    world.state.attend(claims::ClaimId(999));
    world.release(holder).unwrap();
    let next = world.register(wish("a"));
    assert_eq!(world.status(next), Active);
}
