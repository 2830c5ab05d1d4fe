//! Running a command: catch up with the clock, decide, settle what that made possible.

use alloc::vec::Vec;

use super::decide;
use super::decide::Subject;
use super::outlook::execute_ahead;
use super::run::Run;
use crate::claim::Claim;
use crate::command::Command;
use crate::event::Event;
use crate::identity::ClaimId;
use crate::refusal::Refusal;
use crate::state::{Place, Standing, State};
use crate::time::{Stamp, Timestamp};

/// Runs one command at one moment. Whatever happened is appended to `events` and must be kept
/// before the answer leaves, also when the answer is a refusal (rule 5).
///
/// ```
/// use claims::*;
/// let mut state = State::new(Rules::default());
/// let mut events = Vec::new();
/// let registration = Registration {
///     key: KeyHash([7; 16]),
///     resources: Resources::one(Name::new("printer")?),
///     limit: Limit::EXCLUSIVE,
///     ttl: Ttl::from_secs_f64(60.0)?,
///     data: None,
/// };
/// let standing = engine::execute(
///     &mut state,
///     Command::Register(registration),
///     Stamp::default(),
///     &mut events,
/// )?;
/// assert_eq!(standing.claim.status(), Status::Active);
/// assert!(matches!(events[..], [Event::Registered { .. }, Event::Activated { .. }]));
/// # Ok::<(), Refusal>(())
/// ```
pub fn execute(
    state: &mut State,
    command: Command,
    stamp: Stamp,
    events: &mut Vec<Event>,
) -> Result<Standing, Refusal> {
    let mut run = Run::new(state, stamp, events);
    run.catch_up_for_a_command();
    if let Some(answer) = execute_ahead(&mut run, &command) {
        return answer;
    }
    let more_is_due = !run.state.unsettled.is_empty();

    let subject = Subject::of(&command);
    // Only a registration or an activation request is a claimant that can be told "yours" (rule 3).
    let asks = matches!(command, Command::Register(_) | Command::Activate(_));
    let activates = matches!(command, Command::Activate(_));
    let leaves = matches!(command, Command::Leave(_));
    let decided = decide(run.state, command, stamp.at)?;
    let claim = subject.claim(run.state, decided.as_ref());
    if let Some(event) = decided {
        run.record(event);
    }
    if leaves {
        run.state.leave(claim);
    }
    if more_is_due {
        run.settle_first(claim, asks.then_some(claim));
    }
    run.settle(asks.then_some(claim));

    let claim = run.state.known(claim);
    answer(claim, run.state.place(claim), activates, stamp.at)
}

/// What a claimant is told at the end of a command that was not refused before.
pub(super) fn answer(
    claim: &Claim,
    place: Option<Place>,
    activates: bool,
    now: Timestamp,
) -> Result<Standing, Refusal> {
    match place {
        Some(place) if activates => Err(still_waiting(claim.id, place)),
        place => Ok(Standing { claim: claim.clone(), place, now }),
    }
}

/// What a claimant is told who asked too early.
pub(super) fn still_waiting(claim: ClaimId, Place { position, holders }: Place) -> Refusal {
    Refusal::StillWaiting { claim, position, holders }
}

/// Does what is due by itself: leases that ended, turns that are over, memories that fade. Bounded;
/// [`State::next_due`] tells whether there is more.
pub fn sweep(state: &mut State, stamp: Stamp, events: &mut Vec<Event>) {
    let mut run = Run::new(state, stamp, events);
    run.catch_up();
    run.forget();
}

/// As [`sweep`], but forgets nothing: whoever has only a part does not know what is oldest.
pub(super) fn catch_up(state: &mut State, stamp: Stamp, events: &mut Vec<Event>) {
    Run::new(state, stamp, events).catch_up();
}

/// The store is back after it had not been running (rule 11).
pub fn resume(state: &mut State, stamp: Stamp, events: &mut Vec<Event>) {
    let mut run = Run::new(state, stamp, events);
    run.record(Event::Resumed);
    let names = run.state.index.names.values();
    run.state.unsettled =
        names.copied().filter(|&at| run.state.index[at].lines.is_some()).collect();
    run.settle(None);
}

/// Begins a new epoch after a restore from a backup. False if there is none left.
pub fn begin_epoch(state: &mut State, stamp: Stamp, events: &mut Vec<Event>) -> bool {
    let Some(epoch) = state.counters.epoch_reached().next() else {
        return false;
    };
    Run::new(state, stamp, events).record(Event::EpochBegan { epoch });
    true
}
