//! Very many resources given back at once, and a very long queue: wake-ups, and what a wait takes.

use std::path::Path;
use std::time::Instant;

use claims::Rules;
use registry::embedded::{Options, open};

use super::held::resident;
use super::store::runtime;
use super::wakes::{Woken, in_one_queue, on_many_resources};

pub(crate) fn run(dir: &Path, count: u64) {
    let runtime = runtime();
    let store = open(dir, Options { salt: [7; 16], ..Options::default() }).expect("a store");
    let before = resident();
    let (began, woken) = (Instant::now(), runtime.block_on(on_many_resources(&store, count)));
    tell("given back at once", &woken, began);
    println!("{} bytes for each holder with its waiter, at most", (resident() - before) / count);
    let queue = Rules { queue_max: count as usize, ..Rules::default() };
    let store = registry::memory(queue);
    let before = resident();
    let (began, woken) = (Instant::now(), runtime.block_on(in_one_queue(&store, count)));
    tell("turns in one queue, in memory", &woken, began);
    println!("{} bytes for each waiter, at most", resident().saturating_sub(before) / count);
}

fn tell(what: &str, woken: &Woken, began: Instant) {
    let Woken { grants, wakes } = woken;
    println!("{what}: {grants} grants, {wakes} wake-ups, {:.1?} with the making", began.elapsed());
}
