//! The simulated store, and what goes wrong in it.

use std::collections::VecDeque;

use claims::contest::{Dice, Lease, Seen, Sighting};
use claims::{Span, Timestamp};

use super::Fault;

/// How many old values can still be read.
const REMEMBERED: usize = 64;

/// One record, and what it was.
#[derive(Debug, Default)]
pub(super) struct Stage {
    written: VecDeque<(Timestamp, Lease)>,
    version: u64,
}

impl Stage {
    /// What a read finds that is answered as of then.
    pub(super) fn seen_at(&self, then: Timestamp) -> Seen {
        let found = self.written.iter().rev().find(|(at, _)| *at <= then);
        found.map_or(Seen::Absent, |(_, lease)| as_read(lease))
    }

    pub(super) const fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn write(&mut self, now: Timestamp, lease: Lease) {
        self.version += 1;
        self.written.push_back((now, lease));
        if self.written.len() > REMEMBERED {
            self.written.pop_front();
        }
    }
}

impl Fault {
    /// Whether it happens now, and by how much.
    pub(super) fn strikes(&self, dice: &mut Dice) -> Option<Span> {
        if self.per_million == 0 || dice.below(1_000_000) >= self.per_million {
            return None;
        }
        Some(Span::from_micros(dice.below(self.at_most.as_micros() + 1)))
    }
}

/// What a reader finds after this was written.
fn as_read(lease: &Lease) -> Seen {
    Seen::Record(Sighting {
        writer: Some(lease.writer.clone()),
        written_at: lease.released_at.is_none().then_some(lease.written_at),
        expire: Some(lease.expire),
        first_acquired_at: lease.first_acquired_at,
        released: lease.released_at.is_some(),
    })
}
