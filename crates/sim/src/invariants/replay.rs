//! **Replay equals state.** The committed events, applied to an empty state, are the store's state:
//! now and then while it runs, and after every recovery. A batch that was in flight when the server
//! stopped may be there or not, but only as a whole.

use claims::engine::apply;
use claims::{
    Claim, ClaimId, Ending, Event, Phase, Rules, Stamp, State, Timestamp, Turn, WallTime,
};
use registry::embedded::Batch;

use super::{Checked, Violation};

/// The states are compared every so many commits.
const COMPARE_EVERY: u32 = 32;

#[derive(Debug)]
pub(super) struct Replay {
    mirror: State,
    position: u64,
    commits: u32,
    /// What the store knew in the middle of the commit in which it stopped.
    in_flight: Option<State>,
}

impl Replay {
    pub(super) fn new(rules: Rules) -> Self {
        Self { mirror: State::new(rules), position: 0, commits: 0, in_flight: None }
    }

    pub(super) fn mirror(&self) -> &State {
        &self.mirror
    }

    pub(super) fn in_flight(&self) -> Option<&State> {
        self.in_flight.as_ref()
    }

    pub(super) fn apply(&mut self, event: &Event, stamp: Stamp) {
        apply(&mut self.mirror, event, stamp);
    }

    pub(super) fn committed(&mut self, batch: &Batch) -> Checked {
        if batch.position < self.position {
            return violated("the log went back to an earlier position");
        }
        self.position = batch.position + batch.events.len() as u64;
        Ok(())
    }

    pub(super) fn compare(&mut self, state: &State) -> Checked {
        self.commits += 1;
        match self.commits.is_multiple_of(COMPARE_EVERY) && self.mirror != *state {
            true => violated("the state is not what the events say"),
            false => Ok(()),
        }
    }

    pub(super) fn stopped(&mut self, in_flight: Option<State>) {
        if in_flight.is_some() {
            self.in_flight = in_flight;
        }
    }

    /// The store has `state` after a restart at `now`. Gives the leases that began in the batch nobody
    /// heard of, if that is there.
    pub(super) fn recovered(
        &mut self,
        state: &State,
        now: Timestamp,
    ) -> Result<Vec<ClaimId>, Violation> {
        let in_flight = self.in_flight.take();
        let found = in_flight.iter().chain([&self.mirror]).find_map(|before| {
            let mut after = before.clone();
            restart(&mut after, state, now);
            (after == *state).then(|| (begun_between(&self.mirror, before), after))
        });
        match found {
            Some((begun, after)) => {
                self.mirror = after;
                Ok(begun)
            }
            None => violated("after a restart the state is not what the committed events say"),
        }
    }
}

/// What a restart does (rule 11): it resumes, and then settles what that made possible. In which order
/// the store settles is not written down, so those events are read off the `outcome`: somebody is
/// called, or a lease that lived on the grace of an earlier restart is over.
fn restart(state: &mut State, outcome: &State, now: Timestamp) {
    let tally = state.tally();
    if tally.active + tally.waiting == 0 {
        return;
    }
    let at_now = Stamp { at: now, wall: WallTime::default() };
    apply(state, &Event::Resumed, at_now);
    let changed = outcome.claims_after(None).filter_map(|claim| {
        let before = state.claim(claim.id).filter(|before| *before != claim)?;
        match (&before.phase, &claim.phase) {
            (Phase::Waiting(before), Phase::Waiting(turn)) => match *turn {
                Turn::Called { until } if *before == Turn::InLine => {
                    let claim = claim.id;
                    Some((Event::Called { claim, until }, at_now))
                }
                Turn::Called { .. } | Turn::InLine | Turn::PassedOver => None,
            },
            (Phase::Waiting(_) | Phase::Active(_), Phase::Ended(ended)) => {
                let (claim, ending) = (claim.id, Ending::Expired);
                Some((Event::Ended { claim, ending }, ended.at))
            }
            _ => None,
        }
    });
    let changed: Vec<(Event, Stamp)> = changed.collect();
    for (event, stamp) in changed {
        apply(state, &event, stamp);
    }
}

/// Claims whose lease is another one in `after`.
fn begun_between(before: &State, after: &State) -> Vec<ClaimId> {
    let deadline = |claim: &Claim| match &claim.phase {
        Phase::Active(active) => Some(active.deadline),
        Phase::Waiting(_) | Phase::Ended(_) => None,
    };
    let known = |claim: &&Claim| {
        let was = before.claim(claim.id).and_then(deadline);
        deadline(claim).is_some() && was != deadline(claim)
    };
    let begun = after.claims_after(None).filter(known);
    begun.map(|claim| claim.id).collect()
}

fn violated<T>(what: &str) -> Result<T, Violation> {
    Err(Violation::of("replay equals state", what))
}
