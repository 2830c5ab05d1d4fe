//! Whose turn it is, and how long it is kept.

use claims::Status::{Active, Expired, Waiting};
use claims::{Event, Owner, Rules, Span, Turn};

use super::world::{World, refused, secs, wish};

fn until(world: &World, owner: Owner) -> claims::Timestamp {
    match world.turn(owner) {
        Turn::Called { until } => until,
        turn @ (Turn::InLine | Turn::PassedOver) => panic!("not called but {turn:?}"),
    }
}

/// Rule 6. When a resource frees up, the first waiter is called: at once if it has a wait open.
#[test]
fn first_waiter_with_an_open_wait_takes_its_turn_at_once() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let first = world.register(wish("a"));
    let second = world.register(wish("a"));
    world.wait(second);
    world.wait(first);
    world.release(holder).unwrap();
    assert_eq!(world.status(first), Active);
    assert_eq!(world.status(second), Waiting);
    let called = |event: &Event| matches!(event, Event::Called { .. });
    assert!(!world.events().iter().any(called));
}

/// Rule 6. Else its turn is kept for its ttl ...
#[test]
fn turn_is_kept_for_the_ttl() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let first = world.register(wish("a").ttl(40));
    world.at(1).poll(first).unwrap_err();
    world.at(10).release(holder).unwrap();
    assert_eq!(until(&world, first), secs(50));
}

/// Rule 6. ... or one and a half times its last polling gap, if that is more ...
#[test]
fn turn_is_kept_for_a_slow_poller() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(100));
    let first = world.register(wish("a").ttl(5));
    world.at(7).poll(first).unwrap_err();
    world.at(47).poll(first).unwrap_err();
    world.at(50).release(holder).unwrap();
    assert_eq!(until(&world, first), secs(50 + 60));
}

/// Rule 6. ... the *last* gap, not the longest ...
#[test]
fn only_the_last_polling_gap_counts() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(100));
    let first = world.register(wish("a").ttl(5));
    world.at(60).poll(first).unwrap_err();
    world.at(70).poll(first).unwrap_err();
    world.release(holder).unwrap();
    assert_eq!(until(&world, first), secs(70 + 15));
}

/// Rule 6. ... at most 120 s.
#[test]
fn turn_is_never_kept_longer_than_two_minutes() {
    let mut world = World::new();
    for (resource, wish) in
        [("a", wish("a").ttl(100_000)), ("b", wish("b").unlimited()), ("c", wish("c").ttl(1))]
    {
        let holder = world.register(super::world::wish(resource).unlimited());
        let waiter = world.register(wish);
        let at = world.seen(waiter).at.as_micros() / 1_000_000 + 3_000;
        world.at(at).poll(waiter).unwrap_err();
        world.release(holder).unwrap();
        assert_eq!(until(&world, waiter), secs(at + 120));
    }
}

/// Rule 6. An ended wait does not count as a polling gap: it says nothing about how often one asks.
#[test]
fn long_open_wait_does_not_lengthen_the_turn() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(1_000));
    let first = world.register(wish("a").ttl(5));
    world.wait(first);
    world.at(60).leave(first).unwrap();
    world.release(holder).unwrap();
    assert_eq!(until(&world, first), secs(65));
}

/// Rule 6. Nor does it if the claimant asks again without having closed it.
#[test]
fn question_from_within_an_open_wait_is_no_polling_gap() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(1_000));
    let first = world.register(wish("a").ttl(5));
    world.wait(first);
    world.at(60).wait(first);
    world.leave(first).unwrap();
    world.release(holder).unwrap();
    assert_eq!(until(&world, first), secs(65));
}

/// Rule 6. The turn is kept: nobody else is served until it is over ...
#[test]
fn called_waiter_comes_late_within_its_turn_and_is_served() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let first = world.register(wish("a").ttl(30));
    let second = world.register(wish("a"));
    world.wait(second);
    world.release(holder).unwrap();
    world.at(29).sweep();
    assert_eq!(world.status(second), Waiting);
    world.poll(first).unwrap();
    assert_eq!(world.deadline(first), secs(59));
}

/// Rule 6. ... then later waiters may go ahead ...
#[test]
fn waiter_that_did_not_come_is_passed_over() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let first = world.register(wish("a").ttl(30));
    let second = world.register(wish("a"));
    world.release(holder).unwrap();
    world.at(30).poll(second).unwrap();
    assert_eq!(world.turn(first), Turn::PassedOver);
}

/// Rule 6. ... and it keeps its place: in the queue, and in front of those behind it.
#[test]
fn passed_over_waiter_keeps_its_place() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let first = world.register(wish("a").ttl(30));
    let second = world.register(wish("a"));
    let third = world.register(wish("a"));
    world.release(holder).unwrap();
    world.at(30).poll(second).unwrap();
    assert_eq!(world.queue("a"), [first.claim, third.claim]);
    assert_eq!(world.position(first), 1);
    assert_eq!(world.position(third), 2);
    assert_eq!(refused(world.at(31).poll(first)), "still-waiting");
    assert_eq!(world.turn(first), Turn::InLine);
    world.release(second).unwrap();
    assert_eq!(refused(world.poll(third)), "still-waiting");
    world.poll(first).unwrap();
}

/// Rule 6. Passed over for ever it is not: with nobody else there, it is served when it asks.
#[test]
fn passed_over_waiter_is_served_when_it_asks_of_a_free_resource() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let only = world.register(wish("a").ttl(30));
    world.release(holder).unwrap();
    world.at(40).sweep();
    assert_eq!(world.turn(only), Turn::PassedOver);
    world.at(100).poll(only).unwrap();
}

/// Rule 6. One that comes back while a later one is called goes first, and the later one's turn does
/// not run out meanwhile: it is called off, and called anew.
#[test]
fn called_waiter_is_called_off_when_an_older_one_comes_back() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let first = world.register(wish("a").ttl(30));
    let second = world.register(wish("a").ttl(30));
    world.release(holder).unwrap();
    world.at(40).sweep();
    assert_eq!(world.turn(first), Turn::PassedOver);
    assert_eq!(until(&world, second), secs(60), "its turn began at 30");
    world.at(50).poll(first).unwrap();
    assert_eq!(world.turn(second), Turn::InLine);
    world.at(70).renew(first).unwrap();
    world.at(90).release(first).unwrap();
    assert_eq!(until(&world, second), secs(120));
}

/// Rule 6. Whoever fits beside a called waiter need not wait for it ...
#[test]
fn compatible_waiter_is_served_beside_a_called_one() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let called = world.register(wish("a").at_most(2));
    let beside = world.register(wish("a").at_most(2));
    let third = world.register(wish("a").at_most(2));
    world.release(holder).unwrap();
    world.poll(beside).unwrap();
    assert!(matches!(world.turn(called), Turn::Called { .. }));
    assert_eq!(refused(world.poll(third)), "still-waiting", "its room is kept");
    world.poll(called).unwrap();
    assert_eq!(world.holders("a").len(), 2);
}

/// Rule 6. ... and several are called together.
#[test]
fn compatible_waiters_are_called_together() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let readers: Vec<_> = (0..4).map(|_| world.register(wish("a").shared())).collect();
    let writer = world.register(wish("a"));
    world.release(holder).unwrap();
    for &reader in &readers {
        assert!(matches!(world.turn(reader), Turn::Called { .. }));
    }
    assert_eq!(world.turn(writer), Turn::InLine);
    for &reader in readers.iter().rev() {
        world.poll(reader).unwrap();
    }
}

/// Rule 6. What a decision looks at is bounded: so many are called at once and no more.
#[test]
fn no_more_waiters_are_called_at_once_than_the_bound() {
    let mut world = World::with(Rules { called_max: 3, ..Rules::default() });
    let holder = world.register(wish("a"));
    let readers: Vec<_> = (0..6).map(|_| world.register(wish("a").shared())).collect();
    world.release(holder).unwrap();
    let called = |world: &World| {
        let is_called = |&&reader: &&Owner| {
            world.status(reader) == Waiting && matches!(world.turn(reader), Turn::Called { .. })
        };
        readers.iter().filter(is_called).count()
    };
    assert_eq!(called(&world), 3);
    world.poll(readers[1]).unwrap();
    assert_eq!(called(&world), 3);
    // One that is there needs not be called; one behind a waiter that was not called must wait.
    world.poll(readers[5]).unwrap_err();
    world.poll(readers[4]).unwrap();
    assert_eq!(called(&world), 3);
    world.poll(readers[5]).unwrap();
}

/// Rules 6 and 7, found by the simulator (seed 19101): whether a claim over several resources was
/// looked at depended on the order in which they were settled, once the bound was reached.
#[test]
fn bound_on_calls_does_not_depend_on_the_order_of_resources() {
    for (first, second) in [("a", "b"), ("b", "a")] {
        let mut world = World::with(Rules { called_max: 1, ..Rules::default() });
        let holders = [world.register(wish(first)), world.register(wish(second))];
        let absent = world.register(wish("a").shared());
        let there = world.register(wish("a b").shared());
        world.wait(there);
        for holder in holders {
            world.release(holder).unwrap();
        }
        assert!(matches!(world.turn(absent), Turn::Called { .. }));
        assert_eq!(world.status(there), Active, "it fits beside the one that was called");
    }
}

/// Rule 6. A waiter unseen for two hours expires, called or not.
#[test]
fn unseen_waiter_lapses_after_two_hours() {
    let mut world = World::new();
    let holder = world.register(wish("a").unlimited());
    let seen = world.register(wish("a"));
    let unseen = world.register(wish("a"));
    world.at(3_600).poll(seen).unwrap_err();
    world.at(7_199).sweep();
    assert_eq!(world.status(unseen), Waiting);
    world.at(7_200).sweep();
    assert_eq!(world.status(unseen), Expired);
    assert_eq!(world.status(seen), Waiting);
    world.at(10_800).release(holder).unwrap();
    assert_eq!(world.status(seen), Expired);
    assert_eq!(refused(world.poll(seen)), "over");
}

/// Rule 6. Who has a wait open is seen all the time, and from its end on for two hours more.
#[test]
fn open_wait_keeps_a_waiter_from_lapsing() {
    let mut world = World::new();
    let holder = world.register(wish("a").unlimited());
    let waiter = world.register(wish("a"));
    world.wait(waiter);
    world.at(10_000).sweep();
    world.at(20_000).leave(waiter).unwrap();
    world.at(27_199).sweep();
    assert_eq!(world.status(waiter), Waiting);
    world.at(27_200).release(holder).unwrap();
    assert_eq!(world.status(waiter), Expired);
}

/// Rule 6. The figures are the rules'.
#[test]
fn turn_and_lapse_can_be_set() {
    let mut world = World::with(Rules {
        turn_max: Span::from_secs(7),
        waiter_lapse: Span::from_secs(20),
        ..Rules::default()
    });
    let holder = world.register(wish("a"));
    let first = world.register(wish("a").ttl(50));
    world.release(holder).unwrap();
    assert_eq!(until(&world, first), secs(7));
    world.at(20).sweep();
    assert_eq!(world.status(first), Expired);
}
