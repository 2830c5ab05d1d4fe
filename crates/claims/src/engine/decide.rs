//! What a command means now: rules 4, 9, 10 and 13. Reads, never changes.
//!
//! A command causes at most one event of its own. Who becomes a holder because of it is
//! [`settle`](super::settle)'s to say.

use alloc::boxed::Box;

use crate::claim::{Claim, Ending, Phase, Registration, Status};
use crate::command::{Command, Owner};
use crate::event::Event;
use crate::identity::{ClaimId, KeyHash};
use crate::planted::Bug;
use crate::record::Seen;
use crate::refusal::Refusal;
use crate::state::State;
use crate::terms::Ttl;
use crate::time::{Span, Timestamp};

/// How many keepers a claim may have.
const KEEPERS_MAX: usize = 8;

/// The event that `command` causes by itself, if it causes one.
pub fn decide(state: &State, command: Command, now: Timestamp) -> Result<Option<Event>, Refusal> {
    match command {
        Command::Register(registration) => register(state, registration, now),
        Command::Activate(owner) => activate(state, owned(state, owner)?, now),
        Command::Leave(owner) => Ok(seen_until(state, owned(state, owner)?)),
        Command::Renew(owner, ttl) => renew(kept(state, owner)?, ttl, now),
        Command::End(owner, farewell) => end(state, owned(state, owner)?, farewell.into()),
        Command::Appoint(owner, keeper) => appoint(owned(state, owner)?, keeper),
        Command::Revoke(claim) => {
            let claim = state.claim(claim).ok_or(Refusal::Unknown { claim })?;
            end(state, claim, Ending::Revoked)
        }
    }
}

fn register(
    state: &State,
    registration: Registration,
    now: Timestamp,
) -> Result<Option<Event>, Refusal> {
    if let Some(claim) = state.by_key(&registration.key)
        && !state.rules.planted.is(Bug::NoIdempotency)
    {
        return match claim.is_registered_as(&registration) {
            true => Ok(seen_again(state, claim, now)),
            false => Err(Refusal::KeyInUse { claim: claim.id }),
        };
    }
    for name in registration.resources.as_slice() {
        let waiting = state.queue_len(name);
        if waiting >= state.rules.queue_max {
            return Err(Refusal::QueueFull { resource: name.clone(), waiting });
        }
    }
    let registration = Box::new(registration);
    Ok(Some(Event::Registered { claim: state.counters.next_claim, registration }))
}

fn activate(state: &State, claim: &Claim, now: Timestamp) -> Result<Option<Event>, Refusal> {
    match &claim.phase {
        Phase::Waiting(_) => Ok(seen_again(state, claim, now)),
        Phase::Active(_) => Ok(None),
        Phase::Ended(_) => Err(Refusal::Over { claim: claim.id, status: claim.status() }),
    }
}

/// A waiter asked again.
fn seen_again(state: &State, claim: &Claim, now: Timestamp) -> Option<Event> {
    let is_present = || state.present.contains(&claim.id);
    let gap = || gap(&state.brief(claim.id).seen, is_present(), now);
    waits(claim).then(|| Event::Seen { claim: claim.id, gap: gap() })
}

/// How long a waiter who asks now let pass since it asked before: its polling gap. If it was there all the time
/// that says nothing about how often it asks.
pub(super) fn gap(seen: &Seen, is_present: bool, now: Timestamp) -> Span {
    if is_present { seen.gap } else { now.since(seen.at) }
}

/// A waiter was there until now.
fn seen_until(state: &State, claim: &Claim) -> Option<Event> {
    waits(claim).then(|| Event::Seen { claim: claim.id, gap: state.brief(claim.id).seen.gap })
}

fn waits(claim: &Claim) -> bool {
    matches!(claim.phase, Phase::Waiting(_))
}

fn renew(claim: &Claim, ttl: Option<Ttl>, now: Timestamp) -> Result<Option<Event>, Refusal> {
    match &claim.phase {
        Phase::Active(active) => {
            let ttl = ttl.unwrap_or(active.ttl);
            Ok(Some(Event::Renewed { claim: claim.id, ttl, deadline: now + ttl.span() }))
        }
        Phase::Waiting(_) | Phase::Ended(_) => {
            Err(Refusal::NotActive { claim: claim.id, status: claim.status() })
        }
    }
}

fn end(state: &State, claim: &Claim, asked: Ending) -> Result<Option<Event>, Refusal> {
    let status = claim.status();
    let may_end = match &claim.phase {
        Phase::Waiting(_) => asked != Ending::Released,
        Phase::Active(_) => true,
        // The answer to an ending may be lost: asked again, it is the same answer.
        Phase::Ended(_) if status == Status::from(asked) => return Ok(None),
        Phase::Ended(_) => {
            if state.rules.planted.is(Bug::ReleaseFreesWhoeverHolds)
                && let Some(holder) = state.holders(&claim.resources.as_slice()[0]).next()
            {
                return Ok(Some(Event::Ended { claim: holder.id, ending: asked }));
            }
            false
        }
    };
    match may_end {
        true => Ok(Some(Event::Ended { claim: claim.id, ending: asked })),
        false => Err(Refusal::CannotEnd { claim: claim.id, status, asked }),
    }
}

fn appoint(claim: &Claim, keeper: KeyHash) -> Result<Option<Event>, Refusal> {
    if matches!(claim.phase, Phase::Ended(_)) {
        return Err(Refusal::Over { claim: claim.id, status: claim.status() });
    }
    if claim.keepers().contains(&keeper) {
        return Ok(None);
    }
    if claim.keepers().len() == KEEPERS_MAX {
        return Err(Refusal::TooManyKeepers { claim: claim.id, max: KEEPERS_MAX });
    }
    Ok(Some(Event::Appointed { claim: claim.id, keeper }))
}

/// The claim, if the asker knows its key (rule 9).
fn owned(state: &State, owner: Owner) -> Result<&Claim, Refusal> {
    let claim = kept(state, owner)?;
    match claim.key == owner.key {
        true => Ok(claim),
        false => Err(Refusal::KeeperMayOnlyRenew { claim: claim.id }),
    }
}

/// The claim, if the asker knows its key or is one of its keepers.
fn kept(state: &State, Owner { claim, key }: Owner) -> Result<&Claim, Refusal> {
    let known =
        state.claim(claim).filter(|known| known.key == key || known.keepers().contains(&key));
    known.ok_or(Refusal::Unknown { claim })
}

/// What a command names its claim by.
pub(super) enum Subject {
    Claim(ClaimId),
    Key(KeyHash),
}

impl Subject {
    pub(super) fn of(command: &Command) -> Self {
        match command {
            Command::Register(registration) => Self::Key(registration.key),
            Command::Activate(owner)
            | Command::Leave(owner)
            | Command::Renew(owner, _)
            | Command::End(owner, _)
            | Command::Appoint(owner, _) => Self::Claim(owner.claim),
            Command::Revoke(claim) => Self::Claim(*claim),
        }
    }

    /// The claim, once the command is decided and not refused: it exists, or is about to.
    pub(super) fn claim(self, state: &State, decided: Option<&Event>) -> ClaimId {
        match (self, decided.and_then(Event::claim)) {
            (Self::Claim(claim), _) | (Self::Key(_), Some(claim)) => claim,
            (Self::Key(key), None) => {
                state.by_key(&key).expect("a registration that changes nothing is known").id
            }
        }
    }
}
