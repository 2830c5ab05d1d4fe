//! The number that proves who holds now.

use std::collections::BTreeSet;

use claims::{ClaimId, Counters, Epoch, Fence, Record, Rules, Stamp, State, engine};

use super::world::{World, key, wish};

/// Numbers that every JSON reader keeps exact are below this.
const EXACT: u64 = 1 << 53;

/// Rule 8. Each activation gets a greater number than any this resource ever had.
#[test]
fn fences_of_a_resource_rise() {
    let mut world = World::new();
    let mut last = Fence(0);
    for at in 0..50 {
        let holder = world.at(at).register(wish("a"));
        assert!(world.fence(holder) > last);
        last = world.fence(holder);
        world.release(holder).unwrap();
    }
}

/// Rule 8. Shared activations, too: no two have the same.
#[test]
fn claims_that_hold_together_have_different_fences() {
    let mut world = World::new();
    let mut fences = BTreeSet::new();
    for _ in 0..20 {
        let claim = world.register(wish("a").shared());
        fences.insert(world.fence(claim));
    }
    assert_eq!(fences.len(), 20);
}

/// Rule 8. Fences follow the order of activation, not of registration.
#[test]
fn fence_is_given_at_activation() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let first = world.register(wish("a").ttl(10));
    let second = world.register(wish("a"));
    assert_eq!(world.claim(first).activation(), None);
    world.release(holder).unwrap();
    world.at(10).poll(second).unwrap();
    world.release(second).unwrap();
    world.poll(first).unwrap();
    assert!(world.fence(first) > world.fence(second));
}

/// Rule 8. Across forgotten idle resources: nothing is remembered, and still it rises.
#[test]
fn fence_rises_across_a_forgotten_resource() {
    let mut world = World::new();
    let before = world.register(wish("a"));
    let fence = world.fence(before);
    world.release(before).unwrap();
    world.at(100 * 3_600).sweep();
    assert!(world.state.claim(before.claim).is_none());
    assert_eq!(world.state.names_after(None).count(), 0);
    let after = world.register(wish("a"));
    assert!(world.fence(after) > fence);
    assert!(after.claim > before.claim);
}

/// Rule 8. Across restarts.
#[test]
fn fence_rises_across_a_restart() {
    let mut world = World::new();
    let before = world.register(wish("a"));
    let fence = world.fence(before);
    world.release(before).unwrap();
    world.restart();
    let after = world.register(wish("a"));
    assert!(world.fence(after) > fence);
}

/// Rule 8. Across restores: the backup does not know what was given after it was made, and the new
/// epoch is above all of that.
#[test]
fn fence_rises_across_a_restore_from_a_backup() {
    let mut world = World::new();
    world.register(wish("a"));
    let backup = world.state.clone();
    let lost = world.register(wish("b"));
    let (lost, lost_fence) = (lost.claim, world.fence(lost));

    let mut restored = World::new();
    restored.state = State::restore(
        Rules::default(),
        backup.counters(),
        backup.records_after(None).map(Record::cloned),
    );
    let mut events = Vec::new();
    assert!(engine::begin_epoch(&mut restored.state, Stamp::default(), &mut events));
    let counters = restored.state.counters();
    assert!(counters.next_fence > lost_fence);
    assert!(counters.next_claim > lost);
    assert_eq!(counters.epoch.number(), 1);
}

/// Rule 8. The epoch is in the high bits, so what was given before is below whatever comes.
#[test]
fn new_epoch_leaves_room_for_a_trillion_numbers() {
    let mut world = World::new();
    world.register(wish("a"));
    assert!(world.begin_epoch());
    let late = world.register(wish("b"));
    assert!(world.fence(late).0 > 1 << 40);
    assert!(late.claim.0 > 1 << 40);
}

/// Rule 8. A store that used up its epoch's numbers goes on above them, not among them.
#[test]
fn new_epoch_is_above_every_number_given() {
    for reached in [1 << 40, (1 << 40) + 5, 5 << 40] {
        let counters = Counters {
            epoch: Epoch::default(),
            next_claim: ClaimId(7),
            next_fence: Fence(reached),
        };
        let mut state = State::restore(Rules::default(), counters, []);
        let mut events = Vec::new();
        assert!(engine::begin_epoch(&mut state, Stamp::default(), &mut events));
        assert!(state.counters().next_fence.0 > reached);
        assert!(state.counters().next_claim.0 > reached);
    }
}

/// Rule 8. Below 2^53, to the last number of the last epoch; after that there is none.
#[test]
fn numbers_stay_exact_in_the_last_epoch() {
    let last = Epoch::from_number(8_191).unwrap();
    assert_eq!(last.next(), None);
    assert_eq!(Epoch::from_number(8_192), None);
    let before = Epoch::from_number(8_190).unwrap();
    let counters = Counters { epoch: before, next_claim: ClaimId(1), next_fence: Fence(1) };
    let mut state = State::restore(Rules::default(), counters, []);
    let (stamp, mut events) = (Stamp::default(), Vec::new());
    assert!(engine::begin_epoch(&mut state, stamp, &mut events));
    assert_eq!(state.counters().epoch, last);
    assert!(state.counters().next_fence.0 + (1 << 40) - 1 <= EXACT);
    assert!(!engine::begin_epoch(&mut state, stamp, &mut events));
    assert_eq!(events.len(), 1);
}

/// Rule 8. A fence is public, and what is remembered of a claim keeps it.
#[test]
fn ended_claim_still_tells_its_fence() {
    let mut world = World::new();
    let holder = world.register(wish("a").key(key(1)));
    let fence = world.fence(holder);
    world.release(holder).unwrap();
    assert_eq!(world.fence(holder), fence);
    let never = world.register(wish("a"));
    let waiter = world.register(wish("a"));
    world.withdraw(waiter).unwrap();
    assert_eq!(world.claim(waiter).activation(), None);
    assert!(world.fence(never) > fence);
}
