//! Making one event true. Chooses nothing: the same events give the same state, anywhere.

use alloc::boxed::Box;

use crate::claim::{Activation, Active, Claim, Ended, Phase, Turn};
use crate::event::Event;
use crate::identity::{ClaimId, Fence};
use crate::planted::Bug;
use crate::record::{Record, Seen};
use crate::state::State;
use crate::terms::Ttl;
use crate::time::{Span, Stamp, Timestamp};

/// Makes `event`, which happened at `stamp`, part of the state.
///
/// # Panics
/// If the event cannot follow from this state: a store that is unsure must stop.
pub fn apply(state: &mut State, event: &Event, stamp: Stamp) {
    match event {
        Event::Registered { claim, registration } => {
            let claim = Claim::registered(*claim, (**registration).clone(), stamp);
            state.counters.next_claim = ClaimId(claim.id.0 + 1);
            state.insert(Record { claim, seen: Seen { at: stamp.at, gap: Span::ZERO } });
        }
        Event::Activated { claim, fence, deadline } => {
            state.counters.next_fence = state.counters.next_fence.max(Fence(fence.0 + 1));
            state.present.remove(claim);
            let activation = Activation { fence: *fence, since: stamp };
            state.change(*claim, stamp.at, |claim| {
                let ttl = claim.ttl;
                Phase::Active(Active { activation, ttl, deadline: *deadline, graced: false })
            });
        }
        Event::Seen { claim, gap } => {
            let turn = state.see(*claim, Seen { at: stamp.at, gap: *gap });
            let lost = state.rules.planted.is(Bug::LostQueueEntry);
            if turn == Turn::PassedOver && !lost {
                change_turn(state, *claim, stamp.at, Turn::InLine);
            }
        }
        Event::Called { claim, until } => {
            change_turn(state, *claim, stamp.at, Turn::Called { until: *until });
        }
        Event::CalledOff { claim } => change_turn(state, *claim, stamp.at, Turn::InLine),
        Event::PassedOver { claim } => change_turn(state, *claim, stamp.at, Turn::PassedOver),
        Event::Renewed { claim, ttl, deadline } => {
            renewed(state, *claim, stamp.at, (*ttl, *deadline))
        }
        Event::Ended { claim, ending } => {
            state.present.remove(claim);
            let ending = *ending;
            state.change(*claim, stamp.at, |claim| {
                let activation = claim.activation();
                Phase::Ended(Box::new(Ended { ending, at: stamp, activation }))
            });
        }
        Event::Appointed { claim, keeper } => state.add_keeper(*claim, *keeper),
        Event::Forgotten { count } => {
            for _ in 0..*count {
                state.forget_oldest();
            }
        }
        Event::Resumed => resumed(state, stamp.at),
        Event::EpochBegan { epoch } => state.counters.enter(*epoch),
    }
}

fn renewed(state: &mut State, claim: ClaimId, now: Timestamp, lease: (Ttl, Timestamp)) {
    if state.rules.planted.is(Bug::RenewalNotRecorded) {
        return;
    }
    state.change(claim, now, |claim| match &claim.phase {
        Phase::Active(active) => {
            let (activation, (ttl, deadline)) = (active.activation, lease);
            Phase::Active(Active { activation, ttl, deadline, graced: false })
        }
        Phase::Waiting(_) | Phase::Ended(_) => unreachable!("only a lease can be renewed"),
    });
}

/// Rule 11. Each lease has its full ttl again, once; waiters count as seen, and a turn that was
/// kept for one of them begins anew when it is called again.
fn resumed(state: &mut State, now: Timestamp) {
    let planted = state.rules.planted;
    state.change_live(|claim, seen| match &mut claim.phase {
        Phase::Waiting(turn) => {
            seen.at = now;
            if matches!(turn, Turn::Called { .. }) {
                *turn = Turn::InLine;
            }
        }
        Phase::Active(active) if planted.is(Bug::RestartRestoresFirstDeadline) => {
            active.deadline = active.activation.since.at + active.ttl.span();
        }
        Phase::Active(active) if !active.graced || planted.is(Bug::GraceForEver) => {
            active.deadline = active.deadline.max(now + active.ttl.span());
            active.graced = true;
        }
        Phase::Active(_) | Phase::Ended(_) => {}
    });
    state.present.clear();
}

fn change_turn(state: &mut State, id: ClaimId, now: Timestamp, turn: Turn) {
    state.change(id, now, |claim| match &claim.phase {
        Phase::Waiting(_) => Phase::Waiting(turn),
        Phase::Active(_) | Phase::Ended(_) => unreachable!("only a waiter has a turn"),
    });
}
