//! Who may hold together, and who is first.

use claims::Status::{Active, Waiting};

use super::world::{World, refused, wish};

/// Rule 1. A set of holders is legal if its size is at most the smallest limit among them: one.
#[test]
fn exclusive_claim_holds_alone() {
    let mut world = World::new();
    let first = world.register(wish("a"));
    let second = world.register(wish("a"));
    let shared = world.register(wish("a").shared());
    assert_eq!(world.status(first), Active);
    assert_eq!(world.status(second), Waiting);
    assert_eq!(world.status(shared), Waiting);
}

/// Rule 1. None.
#[test]
fn shared_claims_hold_together_without_end() {
    let mut world = World::new();
    for _ in 0..300 {
        let claim = world.register(wish("a").shared());
        assert_eq!(world.status(claim), Active);
    }
    assert_eq!(world.holders("a").len(), 300);
}

/// Rule 1. A number.
#[test]
fn semaphore_lets_in_exactly_its_limit() {
    let mut world = World::new();
    let claims: Vec<_> = (0..5).map(|_| world.register(wish("a").at_most(3))).collect();
    let active = claims.iter().filter(|&&claim| world.status(claim) == Active);
    assert_eq!(active.count(), 3);
    world.release(claims[1]).unwrap();
    world.poll(claims[3]).unwrap();
    assert_eq!(refused(world.poll(claims[4])), "still-waiting");
}

/// Rule 1. The smallest limit among them counts, whoever has it: a holder ...
#[test]
fn holder_with_the_smallest_limit_keeps_generous_newcomers_out() {
    let mut world = World::new();
    let strict = world.register(wish("a").at_most(2));
    world.register(wish("a").at_most(9));
    let shared = world.register(wish("a").shared());
    assert_eq!(world.status(shared), Waiting);
    world.release(strict).unwrap();
    world.poll(shared).unwrap();
}

/// Rule 1. ... or the newcomer itself.
#[test]
fn newcomer_with_a_small_limit_waits_until_few_enough_hold() {
    let mut world = World::new();
    let crowd: Vec<_> = (0..3).map(|_| world.register(wish("a").shared())).collect();
    let strict = world.register(wish("a").at_most(2));
    world.release(crowd[0]).unwrap();
    assert_eq!(refused(world.poll(strict)), "still-waiting");
    world.release(crowd[1]).unwrap();
    world.poll(strict).unwrap();
    assert_eq!(world.holders("a").len(), 2);
}

/// Rule 1. Limits are about holders of the same resource only.
#[test]
fn claims_on_other_resources_do_not_count() {
    let mut world = World::new();
    for resource in ["a", "b", "A", "a "] {
        let claim = world
            .try_register(super::world::Wish {
                names: vec![super::world::name(resource)],
                ..wish("a")
            })
            .unwrap()
            .claim;
        assert_eq!(claim.status(), Active, "{resource:?}");
    }
}

/// Rule 2. A claim becomes active only if no earlier claim still waiting could be served first.
#[test]
fn waiters_are_served_in_order_of_arrival() {
    let mut world = World::new();
    let mut holder = world.register(wish("a"));
    let waiters: Vec<_> = (0..4).map(|_| world.register(wish("a"))).collect();
    for (nth, &next) in waiters.iter().enumerate() {
        world.release(holder).unwrap();
        for &later in waiters[nth + 1..].iter().rev() {
            assert_eq!(refused(world.poll(later)), "still-waiting");
        }
        world.poll(next).unwrap();
        holder = next;
    }
}

/// Rule 2. Newcomers never barge: not past one who waits for the holder ...
#[test]
fn shared_newcomer_does_not_barge_past_an_exclusive_waiter() {
    let mut world = World::new();
    world.register(wish("a").shared());
    let exclusive = world.register(wish("a"));
    let shared = world.register(wish("a").shared());
    assert_eq!(world.status(shared), Waiting);
    assert_eq!(world.queue("a"), [exclusive.claim, shared.claim]);
}

/// Rule 2. ... and not past one whose turn is kept.
#[test]
fn newcomer_does_not_barge_past_a_called_waiter() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let waiter = world.register(wish("a"));
    world.release(holder).unwrap();
    let newcomer = world.register(wish("a"));
    assert_eq!(world.status(newcomer), Waiting);
    world.poll(waiter).unwrap();
}

/// Rule 2. Place in the queue is place of registration, not of the last question.
#[test]
fn polling_more_often_does_not_help() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let patient = world.register(wish("a"));
    let eager = world.register(wish("a"));
    for at in 1..20 {
        assert_eq!(refused(world.at(at).poll(eager)), "still-waiting");
    }
    world.release(holder).unwrap();
    assert_eq!(refused(world.poll(eager)), "still-waiting");
    world.poll(patient).unwrap();
}

/// Rule 2. Who gives up makes way for those behind, also from the middle of the queue.
#[test]
fn withdrawn_waiter_is_no_longer_in_the_way() {
    let mut world = World::new();
    let holder = world.register(wish("a").shared());
    let exclusive = world.register(wish("a"));
    let shared = world.register(wish("a").shared());
    assert_eq!(world.position(shared), 2);
    world.withdraw(exclusive).unwrap();
    world.poll(shared).unwrap();
    assert_eq!(world.holders("a"), [holder.claim, shared.claim]);
}

/// Rule 2. The place that an answer tells counts everybody in front.
#[test]
fn refusal_tells_the_place_in_the_queue_and_the_holders() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let waiters: Vec<_> = (0..3).map(|_| world.register(wish("a"))).collect();
    for (nth, &waiter) in waiters.iter().enumerate() {
        let refusal = world.poll(waiter).unwrap_err();
        assert_eq!(
            refusal,
            claims::Refusal::StillWaiting {
                claim: waiter.claim,
                position: nth + 1,
                holders: vec![holder.claim],
            }
        );
    }
}
