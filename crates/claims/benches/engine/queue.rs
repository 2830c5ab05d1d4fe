//! Claims that wait.
//!
//! The bench itself must not touch far memory for the decisions it measures. So whoever is to act next
//! comes off the end of a list that was shuffled before, and a key follows from its id: nothing is
//! looked up anywhere.

use std::time::{Duration, Instant};

use claims::{ClaimId, Command, Farewell, Name};

use crate::memory::Memory;
use crate::world::{World, names, owner, release};

/// So many queues, with so many waiters in each.
#[derive(Clone, Copy)]
pub(crate) struct Queues {
    pub(crate) count: usize,
    pub(crate) length: usize,
}

struct Queue {
    name: Name,
    holder: ClaimId,
    /// Waiters in random order. Some hold already, or did: those in front of the present holder.
    deck: Vec<ClaimId>,
    /// Waiters that came, or asked, since the deck was shuffled.
    later: Vec<ClaimId>,
}

impl Queue {
    /// Any waiter. It is off the deck then.
    fn draw(&mut self, world: &mut World) -> ClaimId {
        loop {
            match self.deck.pop() {
                Some(waiter) if waiter > self.holder => return waiter,
                Some(_) => {}
                None => {
                    self.deck.append(&mut self.later);
                    world.shuffle(&mut self.deck);
                }
            }
        }
    }
}

pub(crate) struct Costs {
    /// The median ns of enqueue, cancel, poll and handover.
    pub(crate) decisions: [u128; 4],
    /// The median ns of reading one of as many records of bare memory.
    pub(crate) memory: u128,
}

/// Takes each kind of decision once in every round, on one queue after the other in random order, and
/// reads the bare memory once: so it is as cold for that as for them. The length of a queue stays the
/// same.
pub(crate) fn measure(queues: Queues, rounds: usize) -> Costs {
    let (mut world, mut crowd) = fill(queues);
    world.shuffle(&mut crowd);
    let memory = Memory::new(queues.count * queues.length, &mut world);
    let mut times: [Vec<Duration>; 4] = Default::default();
    let mut reads: Vec<Duration> = Vec::new();
    for round in 0..rounds {
        let nth = round % crowd.len();
        let queue = &mut crowd[nth];

        let registration = world.registration(&queue.name);
        let mut joined = None;
        times[0].push(timed(|| joined = world.decide(Command::Register(registration)).ok()));
        queue.later.push(joined.expect("it waits").claim.id);

        let withdraw = Command::End(owner(queue.draw(&mut world)), Farewell::Withdraw);
        times[1].push(timed(|| drop(world.decide(withdraw).expect("it waits"))));

        let waiter = queue.draw(&mut world);
        let asks = Command::Activate(owner(waiter));
        times[2].push(timed(|| drop(world.decide(asks).expect_err("it is not its turn"))));
        queue.later.push(waiter);

        let record = memory.any(round);
        reads.push(timed(|| memory.read(record)));

        let first = world.state.queue(&queue.name).next().expect("somebody waits").id;
        world.state.attend(first);
        let released = release(queue.holder);
        times[3].push(timed(|| drop(world.decide(released).expect("it holds"))));
        queue.holder = first;
        queue.later.push(world.register(&queue.name));
        world.tidy();
    }
    Costs { decisions: times.map(median_ns), memory: median_ns(reads) }
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
        .map(|name| {
            let holder = world.register(&name);
            Queue { holder, name, deck: Vec::new(), later: Vec::new() }
        })
        .collect();
    // One for each queue in turn: neighbours in a queue are not neighbours in memory.
    for _ in 0..queues.length {
        for queue in &mut crowd {
            queue.later.push(world.register(&queue.name));
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
