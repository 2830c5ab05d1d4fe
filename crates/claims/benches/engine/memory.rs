//! The bare memory: what it costs to read one of so many records and its place in line, and nothing
//! else. No queue can do with less, so what this costs more with many than with few is no fault of the
//! engine's.

use std::hint::black_box;
use std::time::Duration;

use claims::Claim;

use crate::queue::{median_ns, timed};
use crate::world::World;

const LINE: usize = 64;
/// As large as a claim, in whole cache lines: each of them is read.
const LINES: usize = size_of::<Claim>().div_ceil(LINE);

/// Nothing in it but that it is far away.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Record([[usize; LINE / size_of::<usize>()]; LINES]);

/// The median ns of reading any of `count` records, and then the word that has a bit for it: which
/// queue that is in, only the record can tell.
pub(crate) fn touch_ns(count: usize, rounds: usize) -> u128 {
    let mut world = World::new();
    let records = black_box(vec![Record([[0; _]; LINES]); count]);
    let line = black_box(vec![0_u64; count.div_ceil(64)]);
    let mut order: Vec<usize> = (0..count).collect();
    world.shuffle(&mut order);
    let mut times: Vec<Duration> = Vec::new();
    for &nth in order.iter().cycle().take(rounds) {
        times.push(timed(|| {
            let told: usize = records[nth].0.iter().map(|line| line[0]).sum();
            black_box(line[nth / 64 + told]);
        }));
    }
    median_ns(times)
}
