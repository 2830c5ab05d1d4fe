//! **Fences rise and never repeat.** Each activation has a greater fence than any its resources ever
//! had, across restarts and forgotten claims (rule 8); and a claim has one fence for its life.

use std::collections::BTreeMap;

use claims::{ClaimId, Event, Fence, Name, State};

use super::{Checked, Moment, Violation};
use crate::message::Says;

/// Every JSON reader keeps a number below this exact.
const FENCE_END: u64 = 1 << 53;

#[derive(Debug, Default)]
pub(super) struct Fences {
    /// The highest of each resource.
    highest: Vec<(Name, Fence)>,
    of_claim: BTreeMap<ClaimId, Fence>,
}

impl Fences {
    pub(super) fn check(&mut self, moment: &Moment<'_>) -> Checked {
        let Event::Activated { claim, fence, .. } = moment.event else {
            return Ok(());
        };
        let Some(known) = moment.mirror.claim(*claim) else {
            return Ok(());
        };
        if fence.0 >= FENCE_END {
            return violated(format!("fence {fence} is too large"));
        }
        for name in known.resources.as_slice() {
            if let Some(highest) = self.raise(name, *fence) {
                return violated(format!(
                    "{name} was given out under fence {fence} after fence {highest}"
                ));
            }
        }
        self.of_claim.insert(*claim, *fence);
        Ok(())
    }

    pub(super) fn answered(&mut self, says: Says) -> Checked {
        let Says::Active(claim, fence) = says else {
            return Ok(());
        };
        match self.of_claim.get(&claim) {
            Some(&given) if given == fence => Ok(()),
            given => {
                violated(format!("claim {claim} was told fence {fence}, but was given {given:?}"))
            }
        }
    }

    /// What was committed but not yet seen when the server stopped.
    pub(super) fn recovered(&mut self, state: &State) -> Checked {
        for claim in state.claims_after(None) {
            let Some(activation) = claim.activation() else {
                continue;
            };
            let before = self.of_claim.insert(claim.id, activation.fence);
            if before.is_some_and(|before| before != activation.fence) {
                return violated(format!("claim {} has another fence after a restart", claim.id));
            }
            if before.is_none() {
                for name in claim.resources.as_slice() {
                    self.raise(name, activation.fence);
                }
            }
        }
        Ok(())
    }

    /// Raises the highest fence of a resource, or gives the one that stands in the way.
    fn raise(&mut self, name: &Name, fence: Fence) -> Option<Fence> {
        match self.highest.iter_mut().find(|(known, _)| known == name) {
            Some((_, highest)) if *highest >= fence => Some(*highest),
            Some((_, highest)) => {
                *highest = fence;
                None
            }
            None => {
                self.highest.push((name.clone(), fence));
                None
            }
        }
    }
}

fn violated(what: String) -> Checked {
    Err(Violation::of("fences rise", what))
}
