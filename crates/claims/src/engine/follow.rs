//! Whether an event can be true at all.

use crate::claim::Phase;
use crate::event::Event;
use crate::identity::{ClaimId, Epoch, NUMBERS_MAX};
use crate::state::State;

/// Whether `event` can be the next one. [`apply`](super::apply) stops the program if it cannot be:
/// whoever reads events that were written elsewhere asks before.
///
/// ```
/// use claims::{ClaimId, Event, Rules, State, engine::can_follow};
/// let state = State::new(Rules::default());
/// assert!(!can_follow(&state, &Event::PassedOver { claim: ClaimId(7) }));
/// ```
pub fn can_follow(state: &State, event: &Event) -> bool {
    let phase = |claim: &ClaimId| state.claim(*claim).map(|claim| &claim.phase);
    let waits = |claim: &ClaimId| matches!(phase(claim), Some(Phase::Waiting(_)));
    let holds = |claim: &ClaimId| matches!(phase(claim), Some(Phase::Active(_)));
    match event {
        Event::Registered { claim, registration } => {
            (state.counters.next_claim.0..NUMBERS_MAX).contains(&claim.0)
                && state.by_key(&registration.key).is_none()
        }
        Event::Activated { claim, fence, .. } => waits(claim) && fence.0 < NUMBERS_MAX,
        Event::Seen { claim, .. }
        | Event::Called { claim, .. }
        | Event::CalledOff { claim }
        | Event::PassedOver { claim } => waits(claim),
        Event::Renewed { claim, .. } => holds(claim),
        Event::Ended { claim, .. } | Event::Appointed { claim, .. } => waits(claim) || holds(claim),
        Event::Forgotten { count } => *count as usize <= state.tally().ended,
        Event::Resumed => true,
        Event::EpochBegan { epoch } => {
            *epoch > state.counters.epoch && Epoch::from_number(epoch.number()).is_some()
        }
    }
}
