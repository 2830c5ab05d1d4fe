//! Where a claim stands: what an answer tells its claimant.

use alloc::vec::Vec;

use super::{Slot, Slots, State};
use crate::claim::{Claim, Phase};
use crate::identity::ClaimId;
use crate::time::Timestamp;

/// How many holders an answer names: enough for a person, bounded for a crowd.
const HOLDERS_NAMED: usize = 8;

/// A claim as it is at one moment, and its place among the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The claim.
    pub claim: Claim,
    /// Its place in the queue, while it waits.
    pub place: Option<Place>,
    /// The moment, on the store's timeline: what is left of a lease is counted from here.
    pub now: Timestamp,
}

/// A waiter's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// 1 is next. Of several queues, the one it stands furthest back in.
    pub position: usize,
    /// Who holds what it wants, the first few.
    pub holders: Vec<ClaimId>,
}

/// How many stand before a claim in one line, counted before the claim itself was looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    slot: Slot,
    before: usize,
    /// Of the index, when it was counted.
    moves: u64,
}

impl State {
    /// Where a claim stands at the moment `now`.
    pub fn standing(&self, id: ClaimId, now: Timestamp) -> Option<Standing> {
        let claim = self.claims.get(id)?;
        Some(Standing { claim: claim.clone(), place: self.place(claim, None), now })
    }

    /// Counts who stands before a claim where the last decision was made, if many do. That it waits there
    /// is a guess, and a good one where a queue is long: so this is done while the claim is on its way
    /// from far memory.
    pub(crate) fn count_ahead(&self, claim: ClaimId) -> Option<Counted> {
        let (slot, moves) = (self.recent, self.index.moves);
        let resource = self.index.at(slot).filter(|resource| resource.is_long())?;
        Some(Counted { slot, before: resource.before(claim), moves })
    }

    /// Its place in the queue, while it waits. What was counted of it is used if it still holds.
    pub(crate) fn place(&self, claim: &Claim, counted: Option<Counted>) -> Option<Place> {
        if !matches!(claim.phase, Phase::Waiting(_)) {
            return None;
        }
        let slots = Slots::of(claim);
        let resources = || slots.as_slice().iter().map(|&slot| &self.index[slot]);
        let counted = counted.filter(|counted| counted.moves == self.index.moves);
        let before = |slot| match counted {
            Some(counted) if counted.slot == slot => counted.before,
            _ => self.index[slot].before(claim.id),
        };
        let names = claim.resources.as_slice().iter();
        let positions = slots.as_slice().iter().zip(names);
        let positions = positions.map(|(&slot, name)| before(slot) + self.hidden.ahead(name) + 1);
        let position = positions.max().unwrap_or(1);
        let mut holders: Vec<ClaimId> = Vec::new();
        for holder in resources().flat_map(|resource| resource.holders.iter()) {
            if holders.len() == HOLDERS_NAMED {
                break;
            }
            if !holders.contains(&holder) {
                holders.push(holder);
            }
        }
        Some(Place { position, holders })
    }
}
