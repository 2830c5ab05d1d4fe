//! Running a command on a part of the state.
//!
//! **Problem.** A database keeps more claims than one decision should have to read: long queues, long
//! histories.
//!
//! **Why the obvious fails.** A rule of its own for each store would sooner or later be another rule.
//!
//! **Idea.** What a decision looks at is small: the holders, everybody who was called, and the queue up to
//! the first waiter whose turn it is not. So the store loads the head of each queue and runs the same
//! engine on it. Before the run it is told which other resources the claims it loaded reach; after
//! it, whether the head was too short. Then it loads more and runs again. Nothing that was found out
//! on too small a part is ever kept.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::execute::{catch_up, execute};
use crate::claim::{Claim, Phase, Turn};
use crate::command::Command;
use crate::engine::decide::Subject;
use crate::event::Event;
use crate::identity::ClaimId;
use crate::record::Record;
use crate::refusal::Refusal;
use crate::rules::Rules;
use crate::state::{Counters, Standing, State};
use crate::terms::Name;
use crate::time::{Stamp, Timestamp};

/// A part of what a store keeps.
#[derive(Debug, Clone)]
pub struct Part {
    /// The numbers that come next. The next fence must be greater than any that one of these resources
    /// ever had.
    pub counters: Counters,
    /// The claim that is asked about, if it is known, and of each resource below its holders, those
    /// who were called, and the first in line. Each once.
    pub claims: Vec<Record>,
    /// The resources that were looked into.
    pub resources: Vec<Shelf>,
}

/// What is known of a resource that was looked into.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// Its name.
    pub name: Name,
    /// How many wait for it, whether loaded or not. Only a place in the queue and its bound depend on it,
    /// so whoever has lapsed may still be counted until somebody sweeps.
    pub waiting: usize,
    /// How many of them wait ahead of the claim that is asked about, if that waits.
    pub ahead: Option<usize>,
    /// The last of those in line who were loaded, if there may be more behind it.
    pub last: Option<ClaimId>,
}

/// What is missing before the command can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needs {
    /// These resources must be looked into, too.
    Resources(BTreeSet<Name>),
    /// More of those who stand in line must be loaded.
    MoreInLine,
}

/// What came of a command.
#[derive(Debug, Clone)]
pub struct Done<T> {
    /// The answer.
    pub answer: T,
    /// What happened. It must be kept before the answer leaves.
    pub events: Vec<Event>,
    /// The part as it is now.
    pub state: State,
}

/// Runs one command at one moment on a part of the state. The answer and the events are those that
/// the whole would give.
pub fn execute_part(
    rules: &Rules,
    part: Part,
    command: Command,
    stamp: Stamp,
) -> Result<Done<Result<Standing, Refusal>>, Needs> {
    let subject = match Subject::of(&command) {
        Subject::Claim(id) => part.claims.iter().find(|record| record.claim.id == id),
        Subject::Key(key) => part.claims.iter().find(|record| record.claim.key == key),
    };
    let subject = subject.map(|record| record.claim.id);
    let mut reached = reached(&part.claims, subject, stamp.at);
    if let (Command::Register(registration), None) = (&command, subject) {
        reached.extend(registration.resources.as_slice().iter().cloned());
    }
    run(rules, part, reached, subject, |state, events| execute(state, command, stamp, events))
}

/// Does what is due by itself on a part of the state.
pub fn sweep_part(rules: &Rules, part: Part, stamp: Stamp) -> Result<Done<()>, Needs> {
    let reached = reached(&part.claims, None, stamp.at);
    run(rules, part, reached, None, |state, events| catch_up(state, stamp, events))
}

/// The resources that the run may look into: those of all who wait, and of all holders that may end.
fn reached(records: &[Record], subject: Option<ClaimId>, now: Timestamp) -> BTreeSet<Name> {
    let reaches = |claim: &&Claim| match &claim.phase {
        Phase::Waiting(_) => true,
        Phase::Active(active) => active.deadline <= now || subject == Some(claim.id),
        Phase::Ended(_) => false,
    };
    let claims = records.iter().map(|record| &record.claim);
    let names = claims.filter(reaches).flat_map(|claim| claim.resources.as_slice());
    names.cloned().collect()
}

fn run<T>(
    rules: &Rules,
    Part { counters, claims, resources }: Part,
    mut reached: BTreeSet<Name>,
    subject: Option<ClaimId>,
    act: impl FnOnce(&mut State, &mut Vec<Event>) -> T,
) -> Result<Done<T>, Needs> {
    for shelf in &resources {
        reached.remove(&shelf.name);
    }
    if !reached.is_empty() {
        return Err(Needs::Resources(reached));
    }
    // What was loaded bounds what can happen; nothing may be left for a later command to find.
    let rules = Rules { events_max: usize::MAX / 4, ..rules.clone() };
    let mut state = State::restore(rules, counters, claims);
    for Shelf { name, waiting, ahead, .. } in &resources {
        let seen = state.queue_len(name);
        let seen_ahead = |id| state.index.named(name).map_or(0, |here| here.before(id));
        let hidden = waiting.saturating_sub(seen);
        let hidden_ahead = match (subject, *ahead) {
            (Some(id), Some(ahead)) => ahead.saturating_sub(seen_ahead(id)),
            // A newcomer stands behind everybody.
            _ => hidden,
        };
        state.hidden.note(name.clone(), hidden, hidden_ahead);
    }
    let mut events = Vec::new();
    let answer = act(&mut state, &mut events);
    match resources.iter().all(|shelf| reaches_far_enough(&state, shelf)) {
        true => Ok(Done { answer, events, state }),
        false => Err(Needs::MoreInLine),
    }
}

/// Every look at a queue ends at the first who is in line, at the latest. So if one of those who were
/// loaded still is, nobody looked further.
fn reaches_far_enough(state: &State, shelf: &Shelf) -> bool {
    let in_line = |claim: &Claim| claim.phase == Phase::Waiting(Turn::InLine);
    shelf.last.is_none_or(|last| {
        let mut head = state.queue(&shelf.name).take_while(|claim| claim.id <= last);
        head.any(in_line)
    })
}
