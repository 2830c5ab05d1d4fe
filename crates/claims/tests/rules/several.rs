//! Claims over several resources.

use claims::Status::{Active, Waiting};
use claims::Turn;

use super::world::{World, refused, wish};

/// Rule 7. A claim over several resources is active on all or on none.
#[test]
fn claim_over_several_resources_holds_all_or_none() {
    let mut world = World::new();
    let holder = world.register(wish("b"));
    let both = world.register(wish("a b"));
    assert_eq!(world.status(both), Waiting);
    assert!(world.holders("a").is_empty());
    world.release(holder).unwrap();
    world.poll(both).unwrap();
    assert_eq!(world.holders("a"), [both.claim]);
    assert_eq!(world.holders("b"), [both.claim]);
    world.release(both).unwrap();
    assert!(world.holders("a").is_empty());
    assert!(world.holders("b").is_empty());
}

/// Rule 7. At most sixteen, and that many it may be.
#[test]
fn claim_may_cover_sixteen_resources() {
    let mut world = World::new();
    let names: Vec<String> = (0..16).map(|nth| format!("r{nth}")).collect();
    let all = world.register(wish(&names.join(" ")));
    assert_eq!(world.status(all), Active);
    for name in &names {
        let late = world.register(wish(name));
        assert_eq!(world.status(late), Waiting, "{name}");
    }
}

/// Rule 7. It queues for all at one moment ...
#[test]
fn claim_over_several_resources_queues_for_all_at_once() {
    let mut world = World::new();
    world.register(wish("a"));
    world.register(wish("b"));
    let early = world.register(wish("b"));
    let both = world.register(wish("b a"));
    let late = world.register(wish("a"));
    assert_eq!(world.queue("a"), [both.claim, late.claim]);
    assert_eq!(world.queue("b"), [early.claim, both.claim]);
    assert_eq!(world.position(both), 2, "the queue it stands furthest back in");
}

/// Rule 7. ... so such claims cannot deadlock each other, however they name their resources.
#[test]
fn claims_in_opposite_order_do_not_deadlock() {
    let mut world = World::new();
    let both = ["a b", "b a", "a b", "b a"].map(|names| world.register(wish(names)));
    for (nth, &claim) in both.iter().enumerate() {
        world.poll(claim).unwrap();
        for &later in &both[nth + 1..] {
            assert_eq!(refused(world.poll(later)), "still-waiting");
        }
        world.release(claim).unwrap();
    }
}

/// Rule 7. Not even in a circle.
#[test]
fn ring_of_claims_is_served_one_after_the_other() {
    let mut world = World::new();
    let ring: Vec<_> = ["a b", "b c", "c d", "d a"].map(|names| world.register(wish(names))).into();
    let mut served = Vec::new();
    for _ in 0..ring.len() {
        for &claim in ring.iter().filter(|claim| !served.contains(*claim)).rev().collect::<Vec<_>>()
        {
            if world.poll(claim).is_ok() {
                world.release(claim).unwrap();
                served.push(claim);
            }
        }
    }
    assert_eq!(served.len(), ring.len());
}

/// Rules 2 and 7. Strictly in turn: an earlier waiter that cannot be served yet, because its other
/// resource is held, is not overtaken on the one that is free.
#[test]
fn free_resource_is_not_taken_before_an_earlier_waiter_for_it() {
    let mut world = World::new();
    let holder = world.register(wish("b"));
    let both = world.register(wish("a b"));
    let single = world.register(wish("a"));
    assert_eq!(world.status(single), Waiting);
    assert!(world.holders("a").is_empty());
    world.release(holder).unwrap();
    world.poll(both).unwrap();
    world.release(both).unwrap();
    world.poll(single).unwrap();
}

/// Rules 6 and 7. A called claim's room is kept on all its resources.
#[test]
fn turn_is_kept_on_every_resource() {
    let mut world = World::new();
    let holder = world.register(wish("a b"));
    let both = world.register(wish("a b"));
    let on_a = world.register(wish("a"));
    let on_b = world.register(wish("b"));
    world.release(holder).unwrap();
    assert!(matches!(world.turn(both), Turn::Called { .. }));
    assert_eq!(refused(world.poll(on_a)), "still-waiting");
    assert_eq!(refused(world.poll(on_b)), "still-waiting");
    world.at(60).poll(on_b).unwrap();
    assert_eq!(world.turn(both), Turn::PassedOver);
    world.poll(on_a).unwrap();
}

/// Rules 6 and 7. Beside a called claim, whoever fits on each shared resource may hold.
#[test]
fn compatible_claim_is_served_beside_one_called_on_another_resource() {
    let mut world = World::new();
    let holder = world.register(wish("a b"));
    world.register(wish("a b").shared());
    let reader = world.register(wish("b c").shared());
    let writer = world.register(wish("c"));
    world.release(holder).unwrap();
    world.poll(reader).unwrap();
    assert_eq!(refused(world.poll(writer)), "still-waiting");
}

/// Rules 6 and 7. One resource of a called claim taken by an older one: it is called off on all.
#[test]
fn claim_called_off_on_one_resource_frees_the_other_for_nobody_before_it() {
    let mut world = World::new();
    let holder = world.register(wish("a b"));
    let older = world.register(wish("a").ttl(10));
    let both = world.register(wish("a b").ttl(10));
    let later = world.register(wish("b").ttl(10));
    world.release(holder).unwrap();
    world.at(10).sweep();
    assert_eq!(world.turn(older), Turn::PassedOver);
    assert!(matches!(world.turn(both), Turn::Called { .. }));
    world.at(11).poll(older).unwrap();
    assert_eq!(world.turn(both), Turn::InLine);
    assert_eq!(refused(world.poll(later)), "still-waiting");
    world.release(older).unwrap();
    world.poll(both).unwrap();
}

/// Rules 6 and 7. An older claim comes back: all who were called in its absence are called off, also
/// one that stands behind another which lost its turn on a resource of its own. (Such a one used to
/// be missed, and its turn ran out while it could not be taken.)
#[test]
fn everybody_called_too_early_is_called_off() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let older = world.register(wish("a b").ttl(10));
    let both = world.register(wish("a b").at_most(2));
    let on_b = world.register(wish("b").at_most(2));
    let on_a = world.register(wish("a").at_most(2));
    world.release(holder).unwrap();
    world.at(10).poll(on_a).unwrap();
    assert_eq!(world.turn(older), Turn::PassedOver);
    for called in [both, on_b] {
        assert!(matches!(world.turn(called), Turn::Called { .. }));
    }
    assert_eq!(refused(world.poll(older)), "still-waiting");
    for called_off in [both, on_b] {
        assert_eq!(world.turn(called_off), Turn::InLine);
    }
}

/// Rules 6 and 7. Two turns that end at one moment end together: a third claim, called beside both on
/// different resources, keeps the turn it has. (It used to be called off, and called anew.)
#[test]
fn turns_that_end_together_leave_the_turn_of_a_third_alone() {
    let mut world = World::new();
    let holder = world.register(wish("a b"));
    let on_a = world.register(wish("a").shared().ttl(10));
    let on_b = world.register(wish("b").shared().ttl(10));
    let both = world.register(wish("a b").shared().ttl(30));
    world.release(holder).unwrap();
    let turn = world.turn(both);
    world.at(10).sweep();
    assert_eq!(world.turn(on_a), Turn::PassedOver);
    assert_eq!(world.turn(on_b), Turn::PassedOver);
    assert_eq!(world.turn(both), turn);
}

/// Rule 7. A lease that runs out frees all resources of the claim, for all who wait.
#[test]
fn expiry_frees_every_resource() {
    let mut world = World::new();
    world.register(wish("a b c").ttl(10));
    let waiters = ["a", "b", "c"].map(|name| world.register(wish(name)));
    for waiter in waiters {
        world.at(10).poll(waiter).unwrap();
    }
}
