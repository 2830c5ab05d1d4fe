//! Whether a waiter may hold all it wants: rules 1, 2 and 7.

use crate::claim::{Claim, Phase, Turn};
use crate::identity::ClaimId;
use crate::planted::Bug;
use crate::state::{Resource, Slot, Slots, State};
use crate::terms::Limit;
use crate::time::Timestamp;

/// The answer.
pub(super) enum Fit {
    Yes,
    No,
    OverdueInTheWay(ClaimId),
    /// Somebody ahead of it, elsewhere, was called and did not come.
    TurnIsOver(ClaimId),
}

/// Whether `claim` may hold all its resources now (rules 1, 2 and 7). `here` is the resource being
/// settled, and what those who come before the claim leave of it. Every resource is looked at, so
/// that the answer does not depend on the order in which they were named.
pub(super) fn fits(state: &State, claim: &Claim, here: (Slot, Room), now: Timestamp) -> Fit {
    let mut fit = Fit::Yes;
    let mut overdue = None;
    for &slot in Slots::of(claim).as_slice() {
        if slot != here.0 && state.rules.planted.is(Bug::FirstResourceOnly) {
            continue;
        }
        let resource = &state.index[slot];
        let room = match slot == here.0 {
            true => Ok(here.1),
            false => room_before(state, resource, claim.id, now),
        };
        match room {
            Ok(room) if room.admits(claim.limit) => {}
            Ok(room)
                if state.rules.planted.is(Bug::LimitOffByOne)
                    && room.limit != Limit::EXCLUSIVE
                    && room.without_one().admits(claim.limit) => {}
            Ok(_) => {
                fit = Fit::No;
                let first = resource.holders.overdue(now);
                overdue = [overdue, first].into_iter().flatten().min();
            }
            Err(Fit::TurnIsOver(ahead)) => return Fit::TurnIsOver(ahead),
            Err(_) => fit = Fit::No,
        }
    }
    match overdue {
        Some((_, holder)) if !state.rules.planted.is(Bug::OverdueForEver) => {
            Fit::OverdueInTheWay(holder)
        }
        _ => fit,
    }
}

/// What is left of a resource for `claim` by those in front of it, unless one of them has not been
/// called yet, or did not come.
fn room_before(
    state: &State,
    resource: &Resource,
    claim: ClaimId,
    now: Timestamp,
) -> Result<Room, Fit> {
    let mut room = Room::beside(resource);
    for id in resource.waiting().take_while(|&id| id < claim) {
        let ahead = state.known(id);
        match turn(ahead) {
            Turn::Called { until } if is_kept(state, until, now) => room = room.with(ahead.limit),
            Turn::Called { .. } => return Err(Fit::TurnIsOver(id)),
            Turn::InLine | Turn::PassedOver => return Err(Fit::No),
        }
    }
    Ok(room)
}

/// What is left of a resource beside some holders, real or called.
#[derive(Clone, Copy)]
pub(super) struct Room {
    taken: usize,
    limit: Limit,
}

impl Room {
    pub(super) fn beside(resource: &Resource) -> Self {
        Self { taken: resource.holders.len(), limit: resource.holders.limit() }
    }

    pub(super) fn with(self, limit: Limit) -> Self {
        Self { taken: self.taken + 1, limit: self.limit.min(limit) }
    }

    /// Rule 1: a set of holders is legal if its size is at most the smallest limit among them.
    fn admits(self, limit: Limit) -> bool {
        self.limit.min(limit).allows(self.taken + 1)
    }

    /// For [`Bug::LimitOffByOne`].
    fn without_one(self) -> Self {
        Self { taken: self.taken.saturating_sub(1), ..self }
    }
}

/// Whether a turn that is kept until then is kept now.
pub(super) fn is_kept(state: &State, until: Timestamp, now: Timestamp) -> bool {
    now < until || state.rules.planted.is(Bug::TurnKeptForEver)
}

/// The turn of somebody who stands in a queue.
pub(super) fn turn(claim: &Claim) -> Turn {
    match claim.phase {
        Phase::Waiting(turn) => turn,
        Phase::Active(_) | Phase::Ended(_) => unreachable!("only waiters stand in a queue"),
    }
}
