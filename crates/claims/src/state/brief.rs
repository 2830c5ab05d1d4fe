//! What somebody who only asks needs of its claim, kept beside it.
//!
//! **Problem.** Most of what a crowd does is asking: from anywhere in a long queue, about a claim that nobody
//! has looked at for long and that takes two lines of the cache.
//!
//! **Idea.** The answer depends on little of the claim: whose it is, and when it asked before. That is kept
//! apart, four to the room of a claim, so more of it is near the processor; and what changes with each
//! question is kept nowhere else, so the claim itself can stay where it is (`engine::outlook`).

use super::{State, due};
use crate::claim::{Claim, Phase, Turn};
use crate::identity::{ClaimId, KeyHash};
use crate::record::{Record, Seen};
use crate::time::Timestamp;

/// Aligned, so that it is in one line of the cache.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
pub(crate) struct Brief {
    /// That of the claim, which never changes.
    pub(crate) key: KeyHash,
    /// Means something while the claim waits.
    pub(crate) seen: Seen,
}

impl State {
    /// The claims with a greater id than `after`, oldest first, as they are written down.
    pub fn records_after(&self, after: Option<ClaimId>) -> impl Iterator<Item = Record<&Claim>> {
        self.claims.after(after).map(|(claim, brief)| Record::new(claim, brief.seen))
    }

    /// One claim as it is written down.
    pub fn record(&self, id: ClaimId) -> Option<Record<&Claim>> {
        self.claims.get_with(id).map(|(claim, brief)| Record::new(claim, brief.seen))
    }

    /// The same of somebody who stands in a queue.
    pub(crate) fn known_record(&self, id: ClaimId) -> Record<&Claim> {
        let (claim, brief) = self.claims.get_with(id).expect("whoever stands in a queue is known");
        Record { claim, seen: brief.seen }
    }

    /// What is beside a claim that is there.
    pub(crate) fn brief(&self, id: ClaimId) -> &Brief {
        self.claims.beside(id).expect("there is one beside every claim")
    }

    /// When a claim is due, if it is live.
    pub(crate) fn due(&self, id: ClaimId) -> Option<Timestamp> {
        let (claim, brief) = self.claims.get_with(id)?;
        let is_live = !matches!(claim.phase, Phase::Ended(_));
        is_live.then(|| due(claim, &brief.seen, &self.rules))
    }

    /// The claimant of a waiter asked, or was there until now. It is due later then, and its entry in the agenda
    /// stays where it is. What its turn becomes is for the caller to say.
    pub(crate) fn see(&mut self, id: ClaimId, seen: Seen) -> Turn {
        let (claim, brief) = self.claims.get_mut(id).expect("events name claims that exist");
        let Phase::Waiting(turn) = claim.phase else { unreachable!("only a waiter is seen") };
        self.cut.iter_mut().for_each(|cut| cut.keep(claim, &brief.seen));
        brief.seen = seen;
        turn
    }

    /// What is beside a waiter, to be changed without a look at its claim; nothing if the claim has to be kept as
    /// it was.
    pub(crate) fn brief_mut(&mut self, id: ClaimId) -> Option<&mut Brief> {
        self.claims.beside_mut(id).filter(|_| self.cut.is_none())
    }
}
