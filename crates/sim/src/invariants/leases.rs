//! **A lease lasts its ttl.** No holder expires before its ttl has passed on the store's timeline
//! since it was activated or renewed, and a restart gives it the whole ttl again, once (rules 4 and
//! 11). That the timeline itself is honest is checked in `timeline`.

use std::collections::BTreeMap;

use claims::{ClaimId, Ending, Event, Phase, Span, State, Timestamp};

use super::{Checked, Moment, Violation};

/// When each holder's lease ends, by the events alone.
#[derive(Debug, Default)]
pub(super) struct Leases {
    due: BTreeMap<ClaimId, Due>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub(super) at: Timestamp,
    ttl: Span,
    graced: bool,
}

impl Leases {
    pub(super) fn iter(&self) -> impl Iterator<Item = (ClaimId, Due)> + '_ {
        self.due.iter().map(|(&claim, &due)| (claim, due))
    }

    pub(super) fn check(&mut self, moment: &Moment<'_>) -> Checked {
        let now = moment.stamp.at;
        match moment.event {
            Event::Activated { claim, .. } => {
                let ttl = moment.mirror.claim(*claim).map(|claim| claim.ttl.span());
                // It became its turn after the last reading of the clock, and counts from then.
                self.begin(*claim, ttl.unwrap_or_default(), moment.occasion.since);
            }
            Event::Renewed { claim, ttl, .. } => self.begin(*claim, ttl.span(), now),
            Event::Ended { claim, ending } => {
                if let Some(due) = self.due.remove(claim)
                    && *ending == Ending::Expired
                {
                    return check_expired(*claim, due, now);
                }
            }
            Event::Registered { .. }
            | Event::Seen { .. }
            | Event::Called { .. }
            | Event::CalledOff { .. }
            | Event::PassedOver { .. }
            | Event::Appointed { .. }
            | Event::Forgotten { .. }
            | Event::Resumed
            | Event::EpochBegan { .. } => {}
        }
        Ok(())
    }

    fn begin(&mut self, claim: ClaimId, ttl: Span, now: Timestamp) {
        let due = Due { at: now + ttl, ttl, graced: false };
        self.due.insert(claim, due);
    }

    /// The restart gives every holder its ttl again, once. The leases that `begun` in a batch that
    /// nobody heard of are new to us.
    pub(super) fn recovered(
        &mut self,
        state: &State,
        now: Timestamp,
        begun: &[ClaimId],
    ) -> Checked {
        for (&id, &due) in &self.due {
            if let Some(Phase::Ended(ended)) = state.claim(id).map(|claim| &claim.phase)
                && ended.ending == Ending::Expired
            {
                check_expired(id, due, ended.at.at)?;
            }
        }
        self.due.retain(|claim, _| {
            let phase = state.claim(*claim).map(|claim| &claim.phase);
            matches!(phase, Some(Phase::Active(_))) && !begun.contains(claim)
        });
        for claim in state.claims_after(None) {
            let Phase::Active(active) = &claim.phase else {
                continue;
            };
            let ttl = active.ttl.span();
            let due = self.due.entry(claim.id).or_insert(Due { at: now, ttl, graced: false });
            if !due.graced {
                due.at = due.at.max(now + due.ttl);
                due.graced = true;
            }
        }
        Ok(())
    }
}

fn check_expired(claim: ClaimId, due: Due, at: Timestamp) -> Checked {
    let early = due.at.since(at);
    match early > Span::ZERO {
        true => Err(Violation::of(
            "a lease lasts its ttl",
            format!("claim {claim} expired {:.6} s too early", early.as_micros() as f64 / 1e6),
        )),
        false => Ok(()),
    }
}
