//! A cut through the state at one moment, read slowly while the state moves on.
//!
//! **Problem.** A snapshot of a million claims takes seconds to write, and the store must not pause.
//!
//! **Why the obvious fails.** Copying everything doubles the memory and is a pause in itself;
//! reading the live state piece by piece gives pieces of different moments.
//!
//! **Idea.** Keep the old form of a claim when it changes before it has been read. Claims are read
//! in order of their ids, so "has been read" is one comparison, and what is kept is at most what
//! changed since the cut.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use super::State;
use crate::claim::Claim;
use crate::identity::ClaimId;
use crate::record::{Record, Seen};

/// A cut being read.
#[derive(Debug, Clone)]
pub(crate) struct Cut {
    /// Claims from here on came after the cut.
    end: ClaimId,
    /// The last claim that was read.
    read: Option<ClaimId>,
    /// Claims that changed or went before they were read, as they were at the cut.
    kept: BTreeMap<ClaimId, Box<Record>>,
}

impl State {
    /// Cuts here: [`State::read_cut`] gives the claims as they are now, whatever happens meanwhile.
    pub fn begin_cut(&mut self) {
        let end = self.counters.next_claim;
        self.cut = Some(Box::new(Cut { end, read: None, kept: BTreeMap::new() }));
    }

    /// Reads up to `count` further claims of the cut. False when there are no more; the cut is over
    /// then.
    pub fn read_cut(&mut self, count: usize, mut visit: impl FnMut(Record<&Claim>)) -> bool {
        let Some(mut cut) = self.cut.take() else {
            return false;
        };
        for _ in 0..count {
            let live = self.records_after(cut.read).next().filter(|live| live.claim.id < cut.end);
            let kept = cut.kept.first_key_value();
            let next = match (live, kept) {
                (Some(live), Some((&id, kept))) if id <= live.claim.id => kept.borrowed(),
                (Some(live), _) => live,
                (None, Some((_, kept))) => kept.borrowed(),
                (None, None) => return false,
            };
            visit(next);
            let id = next.claim.id;
            cut.read = Some(id);
            cut.kept.remove(&id);
        }
        self.cut = Some(cut);
        true
    }

    /// Gives the cut up.
    pub fn end_cut(&mut self) {
        self.cut = None;
    }
}

impl Cut {
    /// A claim is about to change or go.
    pub(super) fn keep(&mut self, claim: &Claim, seen: &Seen) {
        if claim.id < self.end && self.read.is_none_or(|read| read < claim.id) {
            let record = || Box::new(Record::new(claim, *seen).cloned());
            self.kept.entry(claim.id).or_insert_with(record);
        }
    }
}
