//! Nothing that was acknowledged is lost: a grant is there until its lease can end or somebody
//! gives it back, what was given back stays so, and a claim is remembered for as long as promised.

use std::collections::HashMap;

use super::cases::{Case, Holding, end};
use super::{Finding, Kind, Terms, seconds};
use crate::history::{Entry, Nanos, Seen, Told, What};

pub(super) fn check(case: &Case<'_>, remembered: &Remembered, findings: &mut Vec<Finding>) {
    let holdings: HashMap<u64, &Holding> =
        case.holdings.iter().map(|holding| (holding.claim, holding)).collect();
    for &index in &case.entries {
        let entry = &case.history[index];
        let Some(told) = Said::of(entry) else { continue };
        let Some(holding) = holdings.get(&told.claim) else { continue };
        if let Some((kind, says)) = contradiction(holding, entry, told, remembered) {
            let mut entries = vec![holding.entry, index];
            if let Some((_, release)) = holding.released.filter(|_| kind == Kind::ReleaseLost) {
                entries.insert(1, release);
            }
            findings.push(case.finding(kind, &entries, says));
        }
    }
}

/// What an answer says about a claim.
#[derive(Clone, Copy)]
struct Said {
    claim: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Active,
    Over,
    NotKnown,
}

impl Said {
    fn of(entry: &Entry) -> Option<Self> {
        entry.end?;
        let (claim, state) = match entry.what {
            What::Renew { claim, outcome: Told::Done } => (claim, State::Active),
            What::Renew { claim, outcome: Told::Refused }
            | What::Release { claim, outcome: Told::Refused } => (claim, State::Over),
            What::Look { claim, seen } => {
                let state = match seen {
                    Some(Seen::Waiting) => State::Waiting,
                    Some(Seen::Active) => State::Active,
                    Some(Seen::Ended) => State::Over,
                    None => State::NotKnown,
                };
                (claim, state)
            }
            What::Acquire { .. }
            | What::Renew { .. }
            | What::Release { .. }
            | What::Belief { .. }
            | What::Effect { .. }
            | What::Fault { .. } => return None,
        };
        Some(Self { claim, state })
    }
}

fn contradiction(
    holding: &Holding,
    entry: &Entry,
    told: Said,
    remembered: &Remembered,
) -> Option<(Kind, String)> {
    let claim = told.claim;
    let until = holding.surely_until();
    let granted = holding.end <= entry.begin;
    let must_hold = granted && end(entry) < until;
    match told.state {
        State::NotKnown if granted && remembered.must_know(holding, end(entry)) => Some((
            Kind::ClaimForgotten,
            format!("claim {claim} is not known at {}, though it was granted", at(entry)),
        )),
        State::Waiting if granted => Some((
            Kind::GrantLost,
            format!("claim {claim} waits at {}, though it was granted before", at(entry)),
        )),
        State::Over if must_hold => Some((
            Kind::GrantLost,
            format!(
                "claim {claim} is over at {}, though its lease lasts until {} at least",
                at(entry),
                seconds(until)
            ),
        )),
        State::Active => {
            let (released, _) = holding.released.filter(|&(end, _)| end <= entry.begin)?;
            let says = format!(
                "claim {claim} is alive at {}, given back at {}",
                at(entry),
                seconds(released)
            );
            Some((Kind::ReleaseLost, says))
        }
        State::Waiting | State::Over | State::NotKnown => None,
    }
}

fn at(entry: &Entry) -> String {
    seconds(entry.begin)
}

/// What bounds how long a claim that is over is remembered.
pub(super) struct Remembered {
    /// When acquisitions began, and when claims were given back, each in order.
    began: Vec<Nanos>,
    released: Vec<Nanos>,
    ended_max: usize,
    retain: Nanos,
}

impl Remembered {
    pub(super) fn of(history: &[Entry], terms: &Terms) -> Self {
        let mut began = Vec::new();
        let mut released = Vec::new();
        for entry in history {
            if let What::Acquire { .. } = entry.what {
                began.push(entry.begin);
            }
            if let What::Release { outcome: Told::Done, .. } = entry.what {
                released.extend(entry.end);
            }
        }
        began.sort_unstable();
        released.sort_unstable();
        Self { began, released, ended_max: terms.ended_max, retain: terms.retain }
    }

    /// Whether a granted claim cannot have been forgotten by `now`: the oldest go first, and of all
    /// claims there are only so many that could have ended after this one.
    fn must_know(&self, holding: &Holding, now: Nanos) -> bool {
        let began = self.began.partition_point(|&at| at <= now);
        let over_before = self.released.partition_point(|&at| at < holding.begin);
        let since = now.saturating_sub(holding.granted_from);
        began.saturating_sub(over_before) <= self.ended_max && since < self.retain
    }
}
