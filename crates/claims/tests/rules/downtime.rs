//! Downtime is not the client's fault.

use claims::Status::{Active, Expired, Waiting};
use claims::clock::{STALL, ServingClock, TICK};
use claims::{Span, Timestamp, Turn};

use super::world::{World, refused, secs, wish};

/// Rule 11. After a restart each active claim has its full ttl again.
#[test]
fn restart_gives_each_lease_its_full_ttl_again() {
    let mut world = World::new();
    let ten = world.register(wish("a").ttl(10));
    let hundred = world.register(wish("b").ttl(10));
    world.at(1).renew_for(hundred, 100).unwrap();
    world.at(9).restart();
    assert_eq!(world.deadline(ten), secs(19));
    assert_eq!(world.deadline(hundred), secs(109), "the ttl last renewed");
}

/// Rule 11. Also one that was overdue: the store that should have taken the renewal was not there.
#[test]
fn restart_gives_an_overdue_lease_its_ttl_again() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    let waiter = world.register(wish("a"));
    world.at(40).restart();
    assert_eq!(world.status(holder), Active);
    assert_eq!(refused(world.poll(waiter)), "still-waiting");
    world.at(49).renew(holder).unwrap();
}

/// Rule 11. Once: a restart storm must not keep the dead alive for ever.
#[test]
fn restart_storm_does_not_keep_the_dead_alive() {
    let mut world = World::new();
    let dead = world.register(wish("a").ttl(10));
    let waiter = world.register(wish("a"));
    for at in (5..60).step_by(5) {
        world.at(at).restart();
    }
    assert_eq!(world.status(dead), Expired, "given its ttl at 5, over at 15");
    world.poll(waiter).unwrap();
}

/// Rule 11. One that renews in between is alive, and has it again.
#[test]
fn renewal_earns_the_next_restart() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    world.at(5).restart();
    assert_eq!(world.state.tally().graced, 1);
    world.at(6).renew(holder).unwrap();
    assert_eq!(world.state.tally().graced, 0);
    world.at(12).restart();
    assert_eq!(world.deadline(holder), secs(22));
}

/// Rule 11. A restart never shortens a lease.
#[test]
fn restart_never_brings_a_deadline_forward() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    let unlimited = world.register(wish("b").unlimited());
    world.at(3).renew_for(holder, 30).unwrap();
    world.restart();
    assert_eq!(world.deadline(holder), secs(33));
    assert_eq!(world.deadline(unlimited), Timestamp::NEVER);
}

/// Rule 11. Waiters count as seen, and a kept turn begins anew: they could not have come.
#[test]
fn restart_gives_waiters_their_time_again() {
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10_000));
    let waiter = world.register(wish("a").ttl(20));
    let second = world.register(wish("a").ttl(20));
    world.at(7_000).restart();
    world.at(14_000).release(holder).unwrap();
    assert_eq!(world.status(waiter), Waiting);
    world.at(14_010).restart();
    let Turn::Called { until } = world.turn(waiter) else {
        panic!("{:?}", world.turn(waiter));
    };
    assert_eq!(until, secs(14_030));
    assert_eq!(refused(world.at(14_029).poll(second)), "still-waiting");
    world.poll(waiter).unwrap();
}

/// Rule 11. Queues, places, holders and fences come through a restart unchanged.
#[test]
fn restart_keeps_every_place() {
    let mut world = World::new();
    let holder = world.register(wish("a").shared());
    let beside = world.register(wish("a b").shared());
    let waiters: Vec<_> = (0..3).map(|_| world.register(wish("b")).claim).collect();
    let fences = [world.fence(holder), world.fence(beside)];
    world.restart();
    assert_eq!(world.holders("a"), [holder.claim, beside.claim]);
    assert_eq!(world.queue("b"), waiters);
    assert_eq!([world.fence(holder), world.fence(beside)], fences);
}

fn reading(millis: u64) -> Span {
    Span::from_millis(millis)
}

/// Rule 11. A server that was itself stopped gives that time back before it expires anybody.
#[test]
fn stopped_server_does_not_count_the_time_it_was_stopped() {
    let mut clock = ServingClock::resume(Timestamp::ZERO, reading(1_000));
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(10));
    let waiter = world.register(wish("a"));
    for millis in (1_250..=6_000).step_by(250) {
        clock.read(reading(millis));
    }
    assert_eq!(clock.now(), secs(5));
    let after_an_hour = clock.read(reading(6_000 + 3_600_000));
    assert_eq!(after_an_hour, secs(5) + TICK);
    let answer = world.at_micros(after_an_hour.as_micros()).poll(waiter);
    assert_eq!(refused(answer), "still-waiting");
    world.renew(holder).unwrap();
}

/// Rule 11. A lease of a second, renewed when a third of it is over, outlives any stall: what is left
/// of it is more than a stall counts for.
#[test]
fn stall_costs_less_than_what_is_left_of_a_short_lease() {
    let mut clock = ServingClock::resume(Timestamp::ZERO, reading(0));
    let mut world = World::new();
    let holder = world.register(wish("a").ttl(1));
    let waiter = world.register(wish("a"));
    for nth in 1..=5 {
        clock.read(reading(nth * 3_400 - 3_067));
        let stalled = clock.read(reading(nth * 3_400));
        world.at_micros(stalled.as_micros());
        assert_eq!(refused(world.poll(waiter)), "still-waiting", "stall {nth}");
        world.renew(holder).unwrap();
    }
}

/// Rule 11. Served time counts fully, however often the clock is read.
#[test]
fn serving_clock_keeps_time_while_it_is_read() {
    for step in [1, 50, 250, 999, 1_000] {
        let mut clock = ServingClock::resume(secs(7), reading(123));
        for nth in 1..=20 {
            clock.read(reading(123 + nth * step));
        }
        assert_eq!(clock.now(), secs(7) + reading(20 * step), "{step} ms");
    }
    assert!(TICK.half_again() < STALL, "a late tick is not a stall");
}

/// Rule 11. Time in which the store could not have served is left out ...
#[test]
fn skipped_time_does_not_count() {
    let mut clock = ServingClock::resume(secs(7), reading(0));
    clock.skip_to(reading(900));
    assert_eq!(clock.read(reading(1_000)), secs(7) + reading(100));
}

/// Rule 11. ... and the timeline never runs backwards, whatever the raw clock does.
#[test]
fn serving_clock_never_runs_backwards() {
    let mut clock = ServingClock::resume(secs(7), reading(5_000));
    let mut last = clock.now();
    for raw in [5_100, 4_000, 0, 5_100, 5_050, 5_200, 5_200] {
        let now = clock.read(reading(raw));
        assert!(now >= last);
        last = now;
    }
    assert_eq!(last, secs(7) + reading(200), "nothing counts twice");
    clock.skip_to(reading(100));
    assert_eq!(clock.read(reading(5_300)), secs(7) + reading(300));
}

/// Rule 11. A restart goes on from the last moment written down: downtime is not on the timeline.
#[test]
fn resumed_clock_goes_on_where_it_was() {
    let mut clock = ServingClock::resume(secs(70), reading(9_000_000));
    assert_eq!(clock.read(reading(9_000_000)), secs(70));
}
