//! **Nothing acknowledged is lost.** What an answer said is true after every crash: a holder holds
//! the same claim under the same fence or has ended for a reason, what ended stays ended, and whoever
//! was in the queue is. And nothing ends that nobody ended.

use std::collections::{BTreeMap, BTreeSet};

use claims::{ClaimId, Ending, Event, State, Status};

use super::{Checked, Moment, Violation};
use crate::message::Says;

#[derive(Debug, Default)]
pub(super) struct Acknowledged {
    /// The last thing each claim was told.
    told: BTreeMap<ClaimId, Says>,
    /// Claims that somebody asked to end, whether or not that was answered.
    asked_to_end: BTreeSet<ClaimId>,
}

impl Acknowledged {
    pub(super) fn asked_to_end(&mut self, claim: ClaimId) {
        self.asked_to_end.insert(claim);
    }

    pub(super) fn check(&mut self, moment: &Moment<'_>) -> Checked {
        let Event::Ended { claim, ending } = moment.event else {
            return Ok(());
        };
        let status = Status::from(*ending);
        self.told.insert(*claim, Says::Ended(*claim, status));
        let farewells = &moment.occasion.farewells;
        match *ending == Ending::Expired || farewells.contains(&(*claim, *ending)) {
            true => Ok(()),
            false => violated(format!("claim {claim} is {status}, but nobody asked for that")),
        }
    }

    pub(super) fn answered(&mut self, says: Says) -> Checked {
        let claim = match says {
            Says::Waiting(claim) | Says::Active(claim, _) | Says::Ended(claim, _) => claim,
            Says::Over | Says::NotNow => return Ok(()),
            Says::KeyInUse => {
                return violated("a key was refused that only its own claimant knows".to_owned());
            }
        };
        // What ended in the same batch stays ended, whatever was said before that.
        let told = self.told.entry(claim).or_insert(says);
        if !matches!(told, Says::Ended(..)) {
            *told = says;
        }
        Ok(())
    }

    /// The store has `state` after a restart. A batch that was in flight when it stopped may have
    /// forgotten claims, too.
    pub(super) fn recovered(&mut self, state: &State, in_flight: Option<&State>) -> Checked {
        for (&id, &told) in &self.told {
            let now = state.claim(id);
            let status = now.map(|claim| claim.status());
            let fence = now.and_then(|claim| claim.activation().map(|given| given.fence));
            let forgotten = in_flight.is_some_and(|state| state.claim(id).is_none());
            let may_have_ended = match status {
                Some(Status::Waiting | Status::Active) => false,
                Some(Status::Expired) => true,
                Some(_) => self.asked_to_end.contains(&id),
                None => forgotten,
            };
            let holds = match told {
                Says::Waiting(_) => {
                    may_have_ended || matches!(status, Some(Status::Waiting | Status::Active))
                }
                Says::Active(_, given) => {
                    (may_have_ended || status == Some(Status::Active))
                        && fence.is_none_or(|fence| fence == given)
                }
                Says::Ended(_, how) => status.is_none_or(|status| status == how),
                Says::Over | Says::NotNow | Says::KeyInUse => true,
            };
            if !holds {
                let is = status.map_or("unknown", Status::as_str);
                return violated(format!(
                    "claim {id} was told {told:?}, and after a restart it is {is} {fence:?}"
                ));
            }
        }
        // A restart may end claims, too: those that lived on the grace of the one before.
        for (&id, told) in &mut self.told {
            if let Some(status) = state.claim(id).map(claims::Claim::status)
                && status > Status::Active
            {
                *told = Says::Ended(id, status);
            }
        }
        // What is forgotten cannot be asked about any more.
        self.told.retain(|id, _| state.claim(*id).is_some());
        Ok(())
    }
}

fn violated(what: String) -> Checked {
    Err(Violation::of("nothing acknowledged is lost", what))
}
