//! Where a claim stands: what an answer tells its claimant.

use alloc::vec::Vec;

use super::{Resource, Slot, Slots, State};
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

impl State {
    /// Where a claim stands at the moment `now`.
    pub fn standing(&self, id: ClaimId, now: Timestamp) -> Option<Standing> {
        let claim = self.claims.get(id)?;
        Some(Standing { claim: claim.clone(), place: self.place(claim), now })
    }

    /// The place of a claim that waits there and nowhere else, with nobody hidden from here.
    pub(crate) fn place_at(&self, here: Slot, claim: ClaimId) -> Place {
        let resource = &self.index[here];
        let position = resource.before(claim) + 1;
        Place { position, holders: named(core::iter::once(resource)) }
    }

    /// Its place in the queue, while it waits.
    pub(crate) fn place(&self, claim: &Claim) -> Option<Place> {
        if !matches!(claim.phase, Phase::Waiting(_)) {
            return None;
        }
        let slots = Slots::of(claim);
        let resources = slots.as_slice().iter().map(|&slot| &self.index[slot]);
        let names = claim.resources.as_slice().iter();
        let positions = resources
            .clone()
            .zip(names)
            .map(|(resource, name)| resource.before(claim.id) + self.hidden.ahead(name) + 1);
        let position = positions.max().unwrap_or(1);
        Some(Place { position, holders: named(resources) })
    }
}

/// The first few holders of these resources, each once.
fn named<'a>(resources: impl Iterator<Item = &'a Resource>) -> Vec<ClaimId> {
    let mut holders: Vec<ClaimId> = Vec::new();
    for holder in resources.flat_map(|resource| resource.holders.iter()) {
        if holders.len() == HOLDERS_NAMED {
            break;
        }
        if !holders.contains(&holder) {
            holders.push(holder);
        }
    }
    holders
}
