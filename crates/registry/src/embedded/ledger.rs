//! The state and the log that keeps it, as one single-threaded machine.
use super::medium::Medium;
use super::options::Options;
use crate::error::StoreError;
use claims::{Command, Event, Refusal, Span, Stamp, Standing, State, WallTime};
use std::io;

/// A look at the clocks of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Time since boot, suspend included: what the rules go by.
    pub boot: Span,
    /// Time of day: what people are shown.
    pub wall: WallTime,
}

/// What one commit made durable.
#[derive(Debug, Default)]
pub struct Batch {
    /// The position of the first event: how many there were before it in the life of this store.
    pub position: u64,
    /// When they happened.
    pub stamp: Stamp,
    /// What happened.
    pub events: Vec<Event>,
}

/// The disk failed in a way after which nothing can be believed: the process must stop.
#[derive(Debug, thiserror::Error)]
#[error("{doing} failed: {source}; stopping, because what is on disk is not known any more")]
pub struct Fatal {
    /// What was being done.
    pub doing: &'static str,
    /// What the system said.
    pub source: io::Error,
}

/// Work beside the commit path. Runs anywhere, then goes back with [`Ledger::finish`].
pub struct Chore<M: Medium> { _m: M }
/// How a chore went.
pub struct ChoreDone<M: Medium> { _m: M }
impl<M: Medium> Chore<M> {
    /// Does the work.
    pub fn run(self) -> ChoreDone<M> { todo!() }
}

/// See the module.
pub struct Ledger<M: Medium> { _m: M }

impl<M: Medium> Ledger<M> {
    /// Recovers what the medium has and begins to serve: leases get their ttl again (rule 11), and
    /// that is durable when this returns.
    pub fn open(medium: M, options: Options, reading: Reading) -> Result<Self, StoreError> { let _ = (medium, options, reading); todo!() }
    /// What is known now, durable or not.
    pub fn state(&self) -> &State { todo!() }
    /// A new moment begins: commands run from here on happen at it.
    pub fn tick(&mut self, reading: Reading) { let _ = reading; todo!() }
    /// Runs a command. **Its answer must not leave before [`Ledger::commit`] has returned.**
    pub fn execute(&mut self, command: Command) -> Result<Result<Standing, Refusal>, StoreError> { let _ = command; todo!() }
    /// The claimant of a waiter is there until it is granted or leaves (`Command::Leave`).
    pub fn attend(&mut self, claim: claims::ClaimId) { let _ = claim; todo!() }
    /// Does what is due by itself.
    pub fn sweep(&mut self) { todo!() }
    /// Makes everything since the last commit durable.
    pub fn commit(&mut self) -> Result<&Batch, Fatal> { todo!() }
    /// Work to be done beside the commit path, if there is some and none is under way.
    pub fn next_chore(&mut self) -> Option<Chore<M>> { todo!() }
    /// Takes back a chore that was run.
    pub fn finish(&mut self, done: ChoreDone<M>) -> Result<(), Fatal> { let _ = done; todo!() }
}
