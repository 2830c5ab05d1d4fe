//! Claims that wait.
//!
//! The bench itself must not touch far memory for the decisions it measures. So whoever is to act next
//! comes off the end of a list that was shuffled before, and a key follows from its id: nothing is
//! looked up anywhere.

use std::mem;
use std::time::Duration;

use claims::{ClaimId, Command, Farewell, Name};

use crate::memory::Memory;
use crate::world::{World, names, owner, registration, release, timed};

/// How often the bare memory is read, in rounds. Each time it takes room in the caches, also from the tables
/// by which the processor finds its pages: read in every round, it made asking among a million a tenth slower.
const READ_EVERY: usize = 16;

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
    /// Any waiters. They are off the deck then.
    fn draw(&mut self, count: usize, world: &mut World) -> Vec<ClaimId> {
        let mut drawn = Vec::with_capacity(count);
        while drawn.len() < count {
            match self.deck.pop() {
                Some(waiter) if waiter > self.holder => drawn.push(waiter),
                Some(_) => {}
                None => {
                    self.deck.append(&mut self.later);
                    world.shuffle(&mut self.deck);
                }
            }
        }
        drawn
    }
}

/// What each kind of decision costs, and the bare memory.
#[derive(Clone, Copy)]
pub(crate) struct Costs {
    /// The median ns of enqueue, cancel, poll and handover.
    pub(crate) decisions: [u128; 4],
    /// The median ns of reading one of as many records of bare memory, in this turn and all before.
    pub(crate) memory: u128,
}

/// Queues on which decisions are taken.
pub(crate) struct Bench {
    world: World,
    crowd: Vec<Queue>,
    memory: Memory,
    /// Waiters in a queue, when a round is over.
    length: usize,
    /// Decisions that are at hand at the same time.
    batch: usize,
    round: usize,
    times: [Vec<Duration>; 4],
    reads: Vec<Duration>,
}

impl Bench {
    pub(crate) fn new(queues: Queues, batch: usize) -> Self {
        let (mut world, mut crowd) = fill(queues);
        world.shuffle(&mut crowd);
        let memory = Memory::new(queues.count * queues.length, &mut world);
        let (length, times, reads) = (queues.length, Default::default(), Vec::new());
        Self { world, crowd, memory, length, batch, round: 0, times, reads }
    }

    /// Takes a batch of each kind of decision in every round, on one queue after the other in random
    /// order, and now and then reads the bare memory: so it is as cold for that as for them. The length of
    /// a queue is the same after each round.
    pub(crate) fn run(&mut self, rounds: usize) -> Costs {
        for _ in 0..rounds {
            self.round();
        }
        let per_decision = |times: Vec<Duration>| median_ns(&times) / self.batch as u128;
        let decisions = mem::take(&mut self.times).map(per_decision);
        Costs { decisions, memory: median_ns(&self.reads) }
    }

    fn round(&mut self) {
        let Self { world, crowd, memory, length, batch, round, times, reads } = self;
        let nth = *round % crowd.len();
        let queue = &mut crowd[nth];

        let next = world.state.counters().next_claim.0;
        let newcomers: Vec<ClaimId> = (next..).take(*batch).map(ClaimId).collect();
        let registrations = newcomers.iter().map(|&id| registration(id, &queue.name));
        let joins = registrations.map(Command::Register).collect();
        times[0].push(world.decide_all(joins, |answer| answer.is_ok()));
        queue.later.extend(newcomers);

        let leave = queue.draw(*batch, world).into_iter();
        let leave = leave.map(|id| Command::End(owner(id), Farewell::Withdraw)).collect();
        times[1].push(world.decide_all(leave, |answer| answer.is_ok()));

        let mut ask = Vec::new();
        while ask.len() < *batch {
            // All different, unless there are not so many.
            let waiters = queue.draw((*batch - ask.len()).min(*length), world);
            ask.extend(waiters.iter().map(|&id| Command::Activate(owner(id))));
            queue.later.extend(waiters);
        }
        times[2].push(world.decide_all(ask, |answer| answer.is_err()));

        if round.is_multiple_of(READ_EVERY) {
            let record = memory.any(*round);
            reads.push(timed(|| memory.read(record)));
        }

        // Each release makes the next one a holder, who releases.
        for _ in 0..*batch {
            queue.later.push(world.register(&queue.name));
        }
        let first = world.state.queue(&queue.name).map(|claim| claim.id).take(*batch);
        let first: Vec<ClaimId> = first.collect();
        first.iter().for_each(|&id| world.state.attend(id));
        let holders = [queue.holder].into_iter().chain(first.iter().copied()).take(*batch);
        let releases = holders.map(release).collect();
        times[3].push(world.decide_all(releases, |answer| answer.is_ok()));
        queue.holder = *first.last().expect("somebody waits");
        world.tidy();
        *round += 1;
    }
}

/// What one more waiter adds to a process.
pub(crate) struct Waiter {
    pub(crate) taken: usize,
    /// Once that is gathered into huge pages.
    pub(crate) gathered: usize,
}

pub(crate) fn bytes_per_waiter(length: usize) -> Waiter {
    let mut world = World::new();
    let names = names(1);
    let before = resident_bytes();
    for _ in 0..length {
        world.register(&names[0]);
        world.tidy();
    }
    let taken = (resident_bytes() - before) / length;
    crate::gather();
    Waiter { taken, gathered: (resident_bytes() - before) / length }
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

fn median_ns(times: &[Duration]) -> u128 {
    median(times.iter().map(Duration::as_nanos))
}

pub(crate) fn median<T: PartialOrd + Copy>(of: impl Iterator<Item = T>) -> T {
    let mut all: Vec<T> = of.collect();
    all.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    all[all.len() / 2]
}

/// What the process has in memory, where the system tells.
fn resident_bytes() -> usize {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = told.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = value.and_then(|value| value.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.unwrap_or(0) * 1024
}
