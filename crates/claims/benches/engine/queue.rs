//! Claims that wait.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use claims::{ClaimId, Command, Farewell, Name, Owner};

use crate::world::{World, names, release};

/// So many queues, with so many waiters in each.
#[derive(Clone, Copy)]
pub(crate) struct Queues {
    pub(crate) count: usize,
    pub(crate) length: usize,
}

pub(crate) struct Costs {
    /// Of enqueue, cancel, poll and handover.
    pub(crate) median_ns: [u128; 4],
}

struct Queue {
    name: Name,
    holder: Owner,
    waiters: Waiters,
}

/// Found by chance or by number. Searching a list here would sweep the caches between two decisions,
/// and be measured with the second.
#[derive(Default)]
struct Waiters {
    list: Vec<Owner>,
    places: HashMap<ClaimId, usize>,
}

impl Waiters {
    fn push(&mut self, waiter: Owner) {
        self.places.insert(waiter.claim, self.list.len());
        self.list.push(waiter);
    }

    fn take(&mut self, place: usize) -> Owner {
        let taken = self.list.swap_remove(place);
        self.places.remove(&taken.claim);
        if let Some(moved) = self.list.get(place) {
            self.places.insert(moved.claim, place);
        }
        taken
    }
}

/// Takes each kind of decision once in every round, on a random queue. Its length stays the same.
pub(crate) fn measure(queues: Queues, rounds: usize) -> Costs {
    let (mut world, mut crowd) = fill(queues);
    let mut times: [Vec<Duration>; 4] = Default::default();
    for _ in 0..rounds {
        let nth = world.below(crowd.len());
        let queue = &mut crowd[nth];

        let registration = world.registration(&queue.name);
        let key = registration.key;
        let mut claim = None;
        times[0].push(timed(|| claim = world.decide(Command::Register(registration)).ok()));
        let joined = Owner { claim: claim.expect("it waits").claim.id, key };

        let gives_up = queue.waiters.take(world.below(queues.length));
        let withdraw = Command::End(gives_up, Farewell::Withdraw);
        times[1].push(timed(|| drop(world.decide(withdraw))));
        queue.waiters.push(joined);

        let asks = Command::Activate(queue.waiters.list[world.below(queues.length)]);
        times[2].push(timed(|| drop(world.decide(asks).expect_err("it is not its turn"))));

        let first = world.state.queue(&queue.name).next().expect("somebody waits").id;
        world.state.attend(first);
        let released = release(queue.holder);
        times[3].push(timed(|| drop(world.decide(released).expect("it holds"))));
        queue.holder = queue.waiters.take(queue.waiters.places[&first]);
        queue.waiters.push(world.register(&queue.name));
        world.tidy();
    }
    Costs { median_ns: times.map(median_ns) }
}

/// What one more waiter adds to a process.
pub(crate) fn bytes_per_waiter(length: usize) -> usize {
    let mut world = World::new();
    let names = names(1);
    let before = resident_bytes();
    for _ in 0..length {
        world.register(&names[0]);
        world.tidy();
    }
    (resident_bytes() - before) / length
}

fn fill(queues: Queues) -> (World, Vec<Queue>) {
    let mut world = World::new();
    let mut crowd: Vec<Queue> = names(queues.count)
        .into_iter()
        .map(|name| Queue { holder: world.register(&name), name, waiters: Waiters::default() })
        .collect();
    // One for each queue in turn: neighbours in a queue are not neighbours in memory.
    for _ in 0..queues.length {
        for queue in &mut crowd {
            queue.waiters.push(world.register(&queue.name));
            world.tidy();
        }
    }
    (world, crowd)
}

fn timed(decision: impl FnOnce()) -> Duration {
    let start = Instant::now();
    decision();
    start.elapsed()
}

fn median_ns(mut times: Vec<Duration>) -> u128 {
    times.sort();
    times[times.len() / 2].as_nanos()
}

/// What the process has in memory, where the system tells.
fn resident_bytes() -> usize {
    const PAGE: usize = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .map_or(0, |pages: usize| pages * PAGE)
}
