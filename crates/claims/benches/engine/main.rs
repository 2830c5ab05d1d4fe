//! What a decision costs, on one core, without any store around it.
//!
//! `cargo bench -p claims --bench engine` prints two tables (`-- --quick` for a glance):
//!
//! * Nobody in the way: a claim is registered, and released, while few or very many others live.
//! * A queue: joining, giving up from anywhere in it, asking from anywhere in it, and the release that
//!   makes the first waiter a holder, with ten to a million waiters.
//!
//! The cost in the short queue is measured twice. Ten waiters alone in the world fit into the
//! processor's first cache, and a million claims fit into none: that comparison is mostly one of
//! caches. So the same is done with ten waiters in each of very many queues. As many claims live then
//! as in the longest queue, and what is left is the cost of its length.
//!
//! The other way to tell the two apart is beside it: what the bare memory costs, without any engine.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to people")]

mod memory;
mod queue;
mod uncontended;
mod world;

use queue::Queues;
use uncontended::Names;

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

    println!();
    println!(
        "{:<44} {:>8} {:>8} {:>8} {:>9} {:>8}",
        "median ns per decision", "enqueue", "cancel", "poll", "handover", "mean"
    );
    let alone = row("10 waiters, nobody else", Queues { count: 1, length: 10 }, rounds);
    for length in [1_000, 100_000].into_iter().filter(|&length| length < most) {
        row(&format!("{length} waiters"), Queues { count: 1, length }, rounds);
    }
    let crowded = Queues { count: most / 10, length: 10 };
    let crowd = row(&format!("10 waiters, {} such queues", most / 10), crowded, rounds);
    let longest = row(&format!("{most} waiters"), Queues { count: 1, length: most }, rounds);
    print_ratios("longest : 10 among as many claims", longest, crowd);
    print_ratios("longest : 10 alone", longest, alone);

    println!();
    let [few, many] = [10, most].map(|count| memory::touch_ns(count, rounds));
    let far = many.saturating_sub(few);
    let without = |ns: u128| ns.saturating_sub(far);
    let [_, cancel, poll, _] = longest.map(without);
    println!("{:<44} {few:>8} {many:>8}", format!("bare memory: ns to read one of 10, of {most}"));
    println!("{:<44} {:>8} {cancel:>8} {poll:>8}", "longest without that difference", "");
    let ratio = |nth: usize| without(longest[nth]) as f64 / alone[nth] as f64;
    println!("{:<44} {:>8} {:>8.1} {:>8.1}", "that : 10 alone", "", ratio(1), ratio(2));
    println!();
    println!("{:<44} {:>8} bytes", "memory per waiter", waiter);
}

fn row(label: &str, queues: Queues, rounds: usize) -> [u128; 4] {
    let costs = queue::measure(queues, rounds);
    let [enqueue, cancel, poll, handover] = costs;
    let mean = mean(costs);
    println!("{label:<44} {enqueue:>8} {cancel:>8} {poll:>8} {handover:>9} {mean:>8.0}");
    costs
}

fn print_ratios(label: &str, above: [u128; 4], below: [u128; 4]) {
    let [enqueue, cancel, poll, handover] =
        std::array::from_fn(|nth| above[nth] as f64 / below[nth] as f64);
    let mean = mean(above) / mean(below);
    println!("{label:<44} {enqueue:>8.1} {cancel:>8.1} {poll:>8.1} {handover:>9.1} {mean:>8.1}");
}

/// The cost of a decision in a queue that sees as many of each kind.
fn mean(costs: [u128; 4]) -> f64 {
    costs.iter().sum::<u128>() as f64 / costs.len() as f64
}
