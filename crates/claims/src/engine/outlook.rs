//! The short way for somebody far back in a long queue, who asks or goes.
//!
//! **Problem.** Among a million claims the one that a command is about is on its way from far memory when the
//! command is decided ([`foresee`](super::foresee)), and all that is done only after it has come takes its time
//! besides.
//!
//! **Idea.** Whoever stands behind somebody that has to wait changes nothing for others by asking or by going:
//! nobody looks that far back. So it is found out ahead that nothing is to be done on its resource, now or
//! afterwards, and which place it has. Where a queue is long the resource is likely to be the one that the
//! last decision was about; when the claim has come, it tells whether it waits for anything else. And where
//! nobody does, the claim of somebody who asks need not come at all: what is [beside](crate::state::Brief) it
//! is enough.

use super::decide;
use super::decide::gap;
use super::execute::{answer, still_waiting};
use super::run::Run;
use super::settle::settle_slot;
use crate::command::{Command, Farewell, Owner};
use crate::event::Event;
use crate::identity::ClaimId;
use crate::record::Seen;
use crate::refusal::Refusal;
use crate::state::{Resource, Slot, Slots, Standing, State};
use crate::time::Timestamp;

/// The answer to a command that changes nothing for anybody but who sends it. Nothing, and nothing has happened,
/// if it may be another one.
#[inline]
pub(super) fn execute_ahead(
    run: &mut Run<'_>,
    command: &Command,
) -> Option<Result<Standing, Refusal>> {
    let claim = match command {
        Command::Activate(owner)
        | Command::Leave(owner)
        | Command::End(owner, Farewell::Withdraw) => owner.claim,
        Command::Register(_)
        | Command::Renew(..)
        | Command::End(..)
        | Command::Appoint(..)
        | Command::Revoke(_) => return None,
    };
    let here = run.state.recent;
    let is_long = run.state.index.at(here).is_some_and(Resource::is_long);
    if is_long { execute_far_back(run, command, claim, here) } else { None }
}

/// Apart, so that nobody else has to step over it.
#[inline(never)]
fn execute_far_back(
    run: &mut Run<'_>,
    command: &Command,
    claim: ClaimId,
    here: Slot,
) -> Option<Result<Standing, Refusal>> {
    if !is_far_back(run.state, claim, here, run.stamp.at) {
        return None;
    }
    let mut place = None;
    if let Command::Activate(owner) = command {
        let found = run.state.place_at(here, claim);
        if run.state.index[here].is_apart() && note_question(run, owner) {
            return Some(Err(still_waiting(claim, found)));
        }
        place = Some(found);
    }
    // From here on it is waited for the claim.
    let decided = match decide(run.state, command.clone(), run.stamp.at) {
        Ok(decided) => decided,
        Err(refusal) => return Some(Err(refusal)),
    };
    if !matches!(Slots::of(run.state.known(claim)), Slots::One(_)) {
        return None;
    }
    if let Some(event) = decided {
        run.note(event);
    }
    if matches!(command, Command::Leave(_)) {
        run.state.leave(claim);
    }
    let asks = place.is_some();
    let claim = run.state.known(claim);
    let place = place.or_else(|| run.state.place(claim));
    Some(answer(claim, place, asks, run.stamp.at))
}

/// Notes that somebody in line asked, without a look at its claim. False, and nothing has happened, if that is
/// not enough: it is not known by this key, or the claim has to be kept as it was.
fn note_question(run: &mut Run<'_>, &Owner { claim, key }: &Owner) -> bool {
    let now = run.stamp.at;
    let is_present = run.state.present.contains(&claim);
    let brief = run.state.brief_mut(claim).filter(|brief| brief.key == key);
    let Some(brief) = brief else { return false };
    let gap = gap(&brief.seen, is_present, now);
    brief.seen = Seen { at: now, gap };
    run.events.push(Event::Seen { claim, gap });
    true
}

/// Whether a claim stands there, behind somebody who has to wait, as far as can be seen without a look at it.
fn is_far_back(state: &State, claim: ClaimId, here: Slot, now: Timestamp) -> bool {
    let stands_there = state.index[here].has_in_line(claim);
    let mut has_to_wait = None;
    stands_there
        && state.unsettled.is_empty()
        && state.hidden.is_empty()
        && settle_slot(state, here, now, None, &mut has_to_wait).is_none()
        && has_to_wait.is_some_and(|first| first < claim)
}
