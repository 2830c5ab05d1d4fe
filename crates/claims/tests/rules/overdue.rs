//! What becomes of a lease that has run out.

use claims::Status::{Active, Expired, Released, Waiting};
use claims::{Ending, Event, Rules, Span};

use super::world::{World, refused, secs, wish};

/// Rule 5. An overdue claim nobody wants stays active and may still renew ...
#[test]
fn overdue_and_unwanted_claim_may_renew_until_it_has_lingered() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    world.at(69).renew(holder).unwrap();
    assert_eq!(world.deadline(holder), secs(79));
    assert_eq!(refused(world.at(79 + 60).renew(holder)), "not-active");
    assert_eq!(world.status(holder), Expired);
}

/// Rule 5. ... or release ...
#[test]
fn overdue_and_unwanted_claim_may_release_until_it_has_lingered() {
    let mut world = World::new();
    let early = world.register(wish("a").ttl(10));
    let late = world.register(wish("b").ttl(10));
    world.at(69).release(early).unwrap();
    assert_eq!(world.status(early), Released);
    assert_eq!(refused(world.at(70).release(late)), "cannot-end");
}

/// Rule 5. ... or ask again, as v1 clients do.
#[test]
fn overdue_and_unwanted_claim_is_still_active_when_it_asks() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    let answer = world.at(40).poll(holder).unwrap();
    assert_eq!(answer.claim.status(), Active);
    assert_eq!(refused(world.at(70).poll(holder)), "over");
}

/// Rule 5. The linger is a figure of the rules.
#[test]
fn linger_can_be_set() {
    let mut world = World::with(Rules { linger: Span::from_secs(5), ..Rules::default() });
    let holder = world.register(wish("a").ttl(10));
    world.at(14).renew_for(holder, 1).unwrap();
    world.at(20).sweep();
    assert_eq!(world.status(holder), Expired);
}

/// Rule 5. Every decision first expires what is overdue and wanted: a registration of another ...
#[test]
fn overdue_claim_is_expired_by_the_registration_of_another() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    let next = world.at(10).register(wish("a"));
    assert_eq!(world.status(holder), Expired);
    assert_eq!(world.status(next), Active);
}

/// Rule 5. ... a poll of another ...
#[test]
fn overdue_claim_is_expired_by_the_poll_of_another() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    let waiter = world.register(wish("a"));
    world.at(10).poll(waiter).unwrap();
    assert_eq!(world.status(holder), Expired);
}

/// Rule 5. ... and even its own renewal or release, which come too late if somebody waits.
#[test]
fn overdue_and_wanted_claim_can_neither_renew_nor_release() {
    for too_late in [World::renew, World::release] {
        let mut world = World::new();
        let holder = world.register(wish("a").ttl(10));
        let waiter = world.register(wish("a"));
        world.at(9).renew(holder).unwrap();
        let answer = too_late(world.at(19), holder);
        assert!(matches!(refused(answer), "not-active" | "cannot-end"));
        assert_eq!(world.status(holder), Expired);
        world.poll(waiter).unwrap();
    }
}

/// Rule 5. Wanted means: in somebody's way. One that leaves room is let be.
#[test]
fn overdue_claim_that_leaves_room_is_not_expired() {
    let mut world = World::new();
    let holder = world.register(wish("a").shared().ttl(10));
    let beside = world.at(20).register(wish("a").shared());
    assert_eq!(world.status(beside), Active);
    assert_eq!(world.status(holder), Active);
    world.renew(holder).unwrap();
}

/// Rule 5. Of several holders only the overdue are expired, and no more than make room.
#[test]
fn no_more_overdue_holders_are_expired_than_are_in_the_way() {
    let mut world = World::new();
    let first = world.register(wish("a").at_most(3).ttl(10));
    let second = world.register(wish("a").at_most(3).ttl(20));
    let third = world.register(wish("a").at_most(3).ttl(30));
    let next = world.at(25).register(wish("a").at_most(3));
    assert_eq!(world.status(next), Active);
    assert_eq!(world.status(first), Expired);
    assert_eq!(world.status(second), Active, "overdue, and not in the way");
    assert_eq!(world.status(third), Active);
    let last = world.register(wish("a"));
    assert_eq!(world.status(last), Waiting);
    assert_eq!(world.status(second), Expired);
    assert_eq!(world.status(third), Active);
}

/// Rule 5. Whether it is wanted does not depend on the order in which a claim names its resources.
#[test]
fn overdue_holder_of_any_resource_of_a_waiter_is_wanted() {
    for names in ["free held overdue", "overdue held free", "held overdue free"] {
        let mut world = World::new();
        let overdue = world.register(wish("overdue").ttl(10));
        world.register(wish("held").ttl(100));
        let waiter = world.register(wish(names));
        let answer = world.at(11).renew(overdue);
        assert_eq!(refused(answer), "not-active", "{names}");
        assert_eq!(world.status(waiter), Waiting);
    }
}

/// Rule 5. Nor does it depend on it which of several overdue holders goes.
#[test]
fn holder_whose_lease_ran_out_first_goes_first() {
    for names in ["a b", "b a"] {
        let mut world = World::new();
        let first = world.register(wish("a").at_most(2).ttl(10));
        let second = world.register(wish("a b").at_most(2).ttl(20));
        world.register(wish("b").at_most(2).ttl(100));
        let newcomer = world.at(30).register(wish(names).at_most(2));
        assert_eq!(world.status(newcomer), Active, "{names}");
        assert_eq!(world.status(first), Expired, "{names}");
        assert_eq!(world.status(second), Expired, "{names}");
    }
}

/// Rule 5. It is not wanted by those whose turn it is not.
#[test]
fn overdue_holder_is_not_expired_for_one_that_must_wait_for_another_waiter() {
    let mut world = World::new();
    let overdue = world.register(wish("a").shared().ttl(10));
    world.register(wish("b").ttl(100));
    let first = world.register(wish("a b").shared());
    let second = world.register(wish("a"));
    assert_eq!(refused(world.at(11).poll(second)), "still-waiting");
    assert_eq!(world.status(first), Waiting);
    world.renew(overdue).unwrap();
}

/// Rule 5. A refusal may carry events that must be committed.
#[test]
fn refusal_carries_what_was_due() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    let first = world.register(wish("a").ttl(10));
    let second = world.register(wish("a").ttl(10));
    assert_eq!(refused(world.at(11).poll(second)), "still-waiting");
    let expired = Event::Ended { claim: holder.claim, ending: Ending::Expired };
    assert_eq!(world.events()[0], expired);
    let called =
        |event: &Event| matches!(event, Event::Called { claim, .. } if *claim == first.claim);
    assert!(world.events().iter().any(called));
}

/// Rule 5. An expired claim stays so, whatever its owner asks.
#[test]
fn expired_claim_is_never_taken_up_again() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    world.at(70).sweep();
    assert_eq!(world.status(holder), Expired);
    assert_eq!(refused(world.renew(holder)), "not-active");
    assert_eq!(refused(world.poll(holder)), "over");
    assert_eq!(refused(world.release(holder)), "cannot-end");
    assert_eq!(refused(world.withdraw(holder)), "cannot-end");
    assert_eq!(refused(world.revoke(holder.claim)), "cannot-end");
}
