//! Claims that nobody else wants.

use std::time::{Duration, Instant};

use claims::ClaimId;

use crate::world::{World, names, release};

/// Cycles that are timed together.
const BATCH: usize = 200;

/// Which names are claimed while many others are held.
#[derive(Clone, Copy)]
pub(crate) enum Names {
    /// A thousand, over and over.
    Thousand,
    /// Any of those that are held: each is released and claimed again. Any part of the memory may be
    /// touched next.
    AnyHeld,
}

/// Decisions in a second, by the median of many batches: a claim is registered and released, in turn,
/// while `live` others hold.
pub(crate) fn decisions_per_second(live: usize, claimed: Names, cycles: usize) -> f64 {
    let mut world = World::new();
    let names = names(live + 1_000);
    let (idle, held) = names.split_at(1_000);
    let mut holders: Vec<ClaimId> = held.iter().map(|name| world.register(name)).collect();
    crate::gather();
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..cycles / BATCH {
        let start = Instant::now();
        for _ in 0..BATCH {
            match claimed {
                Names::Thousand => {
                    let nth = world.below(idle.len());
                    let holder = world.register(&idle[nth]);
                    world.decide(release(holder)).expect("it holds");
                }
                Names::AnyHeld => {
                    let nth = world.below(held.len());
                    world.decide(release(holders[nth])).expect("it holds");
                    holders[nth] = world.register(&held[nth]);
                }
            }
            world.tidy();
        }
        times.push(start.elapsed());
    }
    times.sort();
    (2 * BATCH) as f64 / times[times.len() / 2].as_secs_f64()
}
