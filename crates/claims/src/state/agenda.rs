//! When to look at each live claim again.
//!
//! **Problem.** A million leases are renewed all the time, and hardly one ever ends. An exact list of
//! due times pays for every renewal.
//!
//! **Idea.** Be early rather than exact. Every live claim has an entry at or before the moment it is
//! due; a renewal leaves the early one where it is, and whoever comes to it looks and puts it off.
//! Entries of claims that are over are dropped when they are met, or all at once when there are more
//! of them than of the others.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use crate::identity::ClaimId;
use crate::time::Timestamp;

/// How many superfluous entries are too few to be cleared away.
const CLUTTER_MIN: usize = 1024;

/// Entries, earliest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agenda {
    entries: BinaryHeap<Reverse<(Timestamp, ClaimId)>>,
    /// The entry made last. A claim that is granted as soon as it registers gets two in a row, of
    /// which the second makes the first superfluous.
    last: Option<(Timestamp, ClaimId)>,
}

impl Agenda {
    pub(crate) fn push(&mut self, at: Timestamp, claim: ClaimId) {
        if at == Timestamp::NEVER {
            return;
        }
        match &mut self.last {
            Some((before, same)) if *same == claim => *before = at.min(*before),
            last => self.entries.extend(last.replace((at, claim)).map(Reverse)),
        }
    }

    /// The moment of the first entry.
    pub(crate) fn first(&self) -> Option<Timestamp> {
        let first = self.entries.peek().map(|Reverse((at, _))| *at);
        first.into_iter().chain(self.last.map(|(at, _)| at)).min()
    }

    /// Takes out the first entry, if it is at or before `now`.
    pub(crate) fn pop_until(&mut self, now: Timestamp) -> Option<(Timestamp, ClaimId)> {
        self.first().filter(|&at| at <= now)?;
        self.entries.extend(self.last.take().map(Reverse));
        self.entries.pop().map(|Reverse(entry)| entry)
    }

    /// Whether most entries are superfluous, with so many claims live.
    pub(crate) fn is_cluttered(&self, live: usize) -> bool {
        self.entries.len() > 2 * live + CLUTTER_MIN
    }
}

impl FromIterator<(Timestamp, ClaimId)> for Agenda {
    fn from_iter<I: IntoIterator<Item = (Timestamp, ClaimId)>>(entries: I) -> Self {
        let due = |entry: &(Timestamp, ClaimId)| entry.0 < Timestamp::NEVER;
        Self { entries: entries.into_iter().filter(due).map(Reverse).collect(), last: None }
    }
}
