//! The next thing that must happen on a resource: rules 1, 2, 3, 5, 6 and 7.
//!
//! Waiters are served strictly in turn. A waiter whose turn has come is a holder at once if its
//! claimant is there, and otherwise *called*: its room is kept for a while, and whoever fits beside
//! it need not wait for it. So a waiter may go ahead only of those who have been passed over, and
//! beside those who have been called.
//!
//! An overdue holder ends only here, when it stands in the way of somebody whose turn it is, or
//! when it has lingered too long.

use super::fit::{Fit, Room, fits, is_kept, turn};
use crate::claim::{Claim, Ending, Turn};
use crate::event::Event;
use crate::identity::ClaimId;
use crate::planted::Bug;
use crate::record::{Record, Seen};
use crate::state::{Resource, Slot, Slots, State};
use crate::terms::{Limit, Name};
use crate::time::{Span, Timestamp};

/// The next event on the resource `name`, or nothing if it is settled. `asking` is the claim whose
/// claimant waits for the answer to this very command.
pub fn settle(
    state: &State,
    name: &Name,
    now: Timestamp,
    asking: Option<ClaimId>,
) -> Option<Event> {
    settle_slot(state, *state.index.names.get(name)?, now, asking, &mut None)
}

/// As [`settle`], for a resource that has been looked up already. If nothing is to be done because somebody
/// `has_to_wait`, nobody looked further than that.
pub(super) fn settle_slot(
    state: &State,
    here: Slot,
    now: Timestamp,
    asking: Option<ClaimId>,
    has_to_wait: &mut Option<ClaimId>,
) -> Option<Event> {
    let resource = &state.index[here];
    if let Some(claim) = lingered(state, resource, now) {
        return Some(expired(claim));
    }
    let mut room = Room::beside(resource);
    for id in resource.waiting() {
        let Record { claim, seen } = state.known_record(id);
        let turn = turn(claim);
        let there = asking == Some(id) || state.present.contains(&id);
        if lapsed(state, id, &seen, now) {
            return Some(expired(id));
        }
        match fits(state, claim, (here, room), now) {
            Fit::Yes => {}
            // Nobody's lease is over in the very answer that gives it, however short it is.
            Fit::OverdueInTheWay(holder) if asking != Some(holder) => return Some(expired(holder)),
            Fit::TurnIsOver(ahead) => return Some(Event::PassedOver { claim: ahead }),
            Fit::No if state.rules.planted.is(Bug::Barging) => continue,
            Fit::No | Fit::OverdueInTheWay(_) => {
                return called_too_early(resource, id, has_to_wait);
            }
        }
        if there || state.rules.planted.is(Bug::GhostGrant) {
            return Some(activated(state, claim, now));
        }
        match turn {
            Turn::Called { until } if is_kept(state, until, now) => {
                room = room.with(claim.limit);
            }
            Turn::Called { .. } => return Some(Event::PassedOver { claim: id }),
            // As many as may be called at once are called already, here or elsewhere. That bounds
            // this walk, and is the same whichever of its resources is settled first. Of those who
            // are called, the ones behind it have to wait for it.
            Turn::InLine | Turn::PassedOver if !may_be_called(state, claim) => {
                return called_too_early(resource, id, has_to_wait);
            }
            Turn::InLine | Turn::PassedOver => {
                let until = now + turn_kept_for(state, claim, &seen);
                return Some(Event::Called { claim: id, until });
            }
        }
    }
    None
}

fn may_be_called(state: &State, claim: &Claim) -> bool {
    let slots = Slots::of(claim);
    let mut resources = slots.as_slice().iter().map(|&slot| &state.index[slot]);
    resources.all(|resource| resource.called() < state.rules.called_max)
}

/// Rule 6: how long a turn is kept.
fn turn_kept_for(state: &State, claim: &Claim, seen: &Seen) -> Span {
    claim.ttl.span().max(seen.gap.half_again()).min(state.rules.turn_max)
}

/// A holder that is overdue for so long that even nobody's wish does not keep it (rule 5).
fn lingered(state: &State, resource: &Resource, now: Timestamp) -> Option<ClaimId> {
    let since_start = Span::from_micros(now.as_micros());
    (since_start >= state.rules.linger)
        .then(|| resource.holders.overdue(now - state.rules.linger))
        .flatten()
        .map(|(_, claim)| claim)
}

/// A waiter that nobody has seen for so long that nobody will (rule 6).
fn lapsed(state: &State, claim: ClaimId, seen: &Seen, now: Timestamp) -> bool {
    seen.at + state.rules.waiter_lapse <= now && !state.present.contains(&claim)
}

/// When somebody with an older claim came back and took the room, those called in its absence are
/// only in line again: their turn must not run out while it is not theirs.
fn called_too_early(
    resource: &Resource,
    blocked: ClaimId,
    has_to_wait: &mut Option<ClaimId>,
) -> Option<Event> {
    let last = resource.last_called().filter(|&last| last >= blocked);
    *has_to_wait = Some(blocked);
    last.map(|claim| Event::CalledOff { claim })
}

fn activated(state: &State, claim: &Claim, now: Timestamp) -> Event {
    let mut fence = state.counters.next_fence;
    let mut ttl = claim.ttl.span();
    if state.rules.planted.is(Bug::SharedFence) && claim.limit != Limit::EXCLUSIVE {
        fence.0 = fence.0.saturating_sub(1);
    }
    if state.rules.planted.is(Bug::EarlyExpiry) {
        ttl = Span::from_micros(ttl.as_micros() / 2);
    }
    Event::Activated { claim: claim.id, fence, deadline: now + ttl }
}

fn expired(claim: ClaimId) -> Event {
    Event::Ended { claim, ending: Ending::Expired }
}
