//! What a decision costs, on one core, without any store around it.
//!
//! `cargo bench -p claims --bench engine` prints three tables (`-- --quick` for a glance):
//!
//! * Nobody in the way: a claim is registered, and released, while few or very many others live.
//! * A queue: joining, giving up from anywhere in it, asking from anywhere in it, and the release that
//!   makes the first waiter a holder, with ten to a million waiters. Once with one command at hand, as
//!   it comes to a store with nothing to do; and once with sixteen, as they come to one under load, which
//!   then tells the engine of all of them before it decides the first (`engine::foresee`).
//!
//! The cost in the short queue is measured twice. Ten waiters alone in the world fit into the
//! processor's first cache, and a million claims fit into none: that comparison is mostly one of
//! caches. So the same is done with ten waiters in each of very many queues. As many claims live then
//! as in the longest queue, and what is left is the cost of its length.
//!
//! Beside it, now and then in the same rounds, the bare memory is read without any engine: how far away it is
//! changes with the minutes.
//!
//! A part of that way is the search for the page. So the memory is gathered into huge pages before anything is
//! measured, as it is in a server that has grown (`gather`). `-- --small-pages` leaves it as it is.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to people")]

mod memory;
mod queue;
mod uncontended;
mod world;

use queue::{Bench, Costs, Queues, median};
use uncontended::Names;

/// The one of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Commands that are at hand at the same time, where they are several: a store under load has more.
const BATCH: usize = 16;
/// How often two worlds take turns.
const TURNS: usize = 25;

fn main() {
    let has = |wanted: &str| std::env::args().any(|arg| arg == wanted);
    // Without `--bench` it is run as a test: it works, whatever it measures.
    let (most, rounds) = match (has("--bench"), has("--quick")) {
        (false, _) => (100, 400),
        (true, true) => (100_000, 2_000),
        (true, false) => (1_000_000, 40_000),
    };
    // First, while nothing was freed yet: what is freed is not always given back.
    let waiter = queue::bytes_per_waiter(most);

    println!("{:<44} {:>14} {:>8}", format!("{most} held, or none"), "decisions/s", "ns each");
    for (label, live, claimed) in [
        ("a thousand names", 0, Names::Thousand),
        ("a thousand names, and others held", most, Names::Thousand),
        ("any of those held", most, Names::AnyHeld),
    ] {
        let per_second = uncontended::decisions_per_second(live, claimed, rounds * 10);
        println!("{label:<44} {per_second:>14.0} {:>8.0}", 1e9 / per_second);
    }

    for batch in [1, BATCH] {
        println!();
        print_queues(most, rounds / batch, batch);
    }
    println!();
    println!("{:<44} {:>8} bytes, gathered {}", "memory per waiter", waiter.taken, waiter.gathered);
}

/// The table of decisions that are at hand so many at a time.
fn print_queues(most: usize, rounds: usize, batch: usize) {
    let label = format!("median ns per decision, {batch} at a time");
    println!(
        "{label:<44} {:>8} {:>8} {:>8} {:>9} {:>8} {:>12}",
        "enqueue", "cancel", "poll", "handover", "mean", "bare memory"
    );
    let measure = |queues: [Queues; 2]| {
        let mut benches = queues.map(|queues| Bench::new(queues, batch));
        gather();
        let turn = || benches.each_mut().map(|bench| bench.run(rounds / TURNS));
        std::iter::repeat_with(turn).take(TURNS).collect::<Vec<[Costs; 2]>>()
    };
    let one = |length| Queues { count: 1, length };
    let crowded = Queues { count: most / 10, length: 10 };
    // The speed of a machine changes from one moment to the next. So each pair is measured in turns, long
    // enough that the ten are alone in the caches nearly all the time, and a ratio is that of one turn.
    let alone = measure([one(10), one(most)]);
    print_costs("10 waiters, nobody else", alone.iter().map(|[few, _]| few));
    if most > 100_000 {
        let between = measure([one(1_000), one(100_000)]);
        print_costs("1000 waiters", between.iter().map(|[few, _]| few));
        print_costs("100000 waiters", between.iter().map(|[_, many]| many));
    }
    print_costs(&format!("{most} waiters"), alone.iter().map(|[_, many]| many));
    print_ratios("longest : 10 alone", &alone);
    let crowd = measure([crowded, one(most)]);
    print_costs(
        &format!("10 waiters, {} such queues", most / 10),
        crowd.iter().map(|[few, _]| few),
    );
    print_ratios("longest : 10 among as many claims", &crowd);
}

/// The medians of all turns.
fn print_costs<'a>(label: &str, turns: impl Iterator<Item = &'a Costs> + Clone) {
    let kind = |nth: usize| median(turns.clone().map(|costs| costs.decisions[nth]));
    let [enqueue, cancel, poll, handover] = std::array::from_fn(kind);
    let (mean, memory) =
        (median(turns.clone().map(sum)) / 4, turns.last().map_or(0, |it| it.memory));
    println!("{label:<44} {enqueue:>8} {cancel:>8} {poll:>8} {handover:>9} {mean:>8} {memory:>12}");
}

/// How much more the second costs than the first: the median of what it was in each turn.
fn print_ratios(label: &str, turns: &[[Costs; 2]]) {
    let kind = |nth: usize| {
        median(turns.iter().map(|[few, many]| ratio(many.decisions[nth], few.decisions[nth])))
    };
    let [enqueue, cancel, poll, handover] = std::array::from_fn(kind);
    let mean = median(turns.iter().map(|[few, many]| ratio(sum(many), sum(few))));
    println!("{label:<44} {enqueue:>8.2} {cancel:>8.2} {poll:>8.2} {handover:>9.2} {mean:>8.2}");
}

/// What a server does that has grown, unless the bench is told not to.
pub(crate) fn gather() {
    if !std::env::args().any(|arg| arg == "--small-pages") {
        gather::now().expect("the kernel tells where memory is");
    }
}

/// One of each kind: their mean is the cost of a decision in a queue that sees as many of each.
fn sum(costs: &Costs) -> u128 {
    costs.decisions.iter().sum()
}

fn ratio(above: u128, below: u128) -> f64 {
    above as f64 / below as f64
}
