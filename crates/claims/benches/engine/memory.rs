//! The bare memory: reading one of so many records, and when that has come its place in line. A decision that
//! did nothing meanwhile could not do with less.

use std::hint::black_box;

use claims::Claim;

use crate::world::World;

const LINE: usize = 64;
/// As large as a claim, in whole cache lines: each of them is read.
const LINES: usize = size_of::<Claim>().div_ceil(LINE);

/// Nothing in it but that it is far away.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Record([[usize; LINE / size_of::<usize>()]; LINES]);

pub(crate) struct Memory {
    records: Vec<Record>,
    /// A bit for each record.
    line: Vec<u64>,
    /// Which one is read when, so that no place is looked up far away.
    order: Vec<usize>,
}

impl Memory {
    pub(crate) fn new(count: usize, world: &mut World) -> Self {
        let mut order: Vec<usize> = (0..count).collect();
        world.shuffle(&mut order);
        let records = black_box(vec![Record([[0; _]; LINES]); count]);
        Self { records, line: black_box(vec![0; count.div_ceil(64)]), order }
    }

    pub(crate) fn any(&self, round: usize) -> usize {
        self.order[round % self.order.len()]
    }

    /// Reads a record, and then the word that has a bit for it: in which line that is, only the record
    /// can tell.
    pub(crate) fn read(&self, nth: usize) {
        let told: usize = self.records[nth].0.iter().map(|line| line[0]).sum();
        black_box(self.line[nth / 64 + told]);
    }
}
