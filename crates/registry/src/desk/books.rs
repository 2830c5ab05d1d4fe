//! What a desk keeps: with a log, or only in memory.

use claims::clock::ServingClock;
use claims::engine::{execute, sweep};
use claims::{ClaimId, Command, Event, Rules, Span, Stamp, State, Timestamp};

use crate::embedded::{Batch, Chore, ChoreDone, Fatal, Ledger, Medium, Reading};
use crate::error::StoreError;
use crate::store::Answer;

/// The state behind a desk, and the way it is kept. See [`Ledger`] for the order of calls.
pub(crate) trait Books: Send + 'static {
    /// Work that need not be done in the desk's own thread.
    type Chore: Send + 'static;
    /// How it went.
    type Done: Send + 'static;

    fn state(&self) -> &State;
    fn now(&self) -> Timestamp;
    fn position(&self) -> u64;
    fn tick(&mut self, reading: Reading);
    fn execute(&mut self, command: Command) -> Result<Answer, StoreError>;
    fn attend(&mut self, claim: ClaimId);
    fn sweep(&mut self);
    fn wants_commit(&self) -> bool;
    fn pending(&self) -> &[Event];
    fn waits_for_chore(&self) -> bool;
    fn commit(&mut self) -> Result<&mut Batch, Fatal>;
    fn sync_within(&self) -> Option<Span>;
    fn close(self) -> Result<(), Fatal>;
    fn next_chore(&mut self) -> Option<Self::Chore>;
    fn run(chore: Self::Chore) -> Self::Done;
    fn finish(&mut self, done: Self::Done) -> Result<(), Fatal>;
}

impl<M> Books for Ledger<M>
where
    M: Medium + Send + 'static,
    M::File: Send + 'static,
{
    type Chore = Chore<M>;
    type Done = ChoreDone<M>;

    fn state(&self) -> &State {
        self.state()
    }
    fn now(&self) -> Timestamp {
        self.now()
    }
    fn position(&self) -> u64 {
        self.position()
    }
    fn tick(&mut self, reading: Reading) {
        self.tick(reading);
    }
    fn execute(&mut self, command: Command) -> Result<Answer, StoreError> {
        self.execute(command)
    }
    fn attend(&mut self, claim: ClaimId) {
        self.attend(claim);
    }
    fn sweep(&mut self) {
        self.sweep();
    }
    fn wants_commit(&self) -> bool {
        self.wants_commit()
    }
    fn pending(&self) -> &[Event] {
        self.pending()
    }
    fn waits_for_chore(&self) -> bool {
        self.waits_for_chore()
    }
    fn commit(&mut self) -> Result<&mut Batch, Fatal> {
        self.commit()
    }
    fn sync_within(&self) -> Option<Span> {
        self.sync_within()
    }
    fn close(self) -> Result<(), Fatal> {
        self.close()
    }
    fn next_chore(&mut self) -> Option<Chore<M>> {
        self.next_chore()
    }
    fn run(chore: Chore<M>) -> ChoreDone<M> {
        chore.run()
    }
    fn finish(&mut self, done: ChoreDone<M>) -> Result<(), Fatal> {
        self.finish(done)
    }
}

/// Books in memory only: as fast as the rules, gone with the process.
#[derive(Clone)]
pub(crate) struct Unwritten {
    state: State,
    clock: ServingClock,
    stamp: Stamp,
    position: u64,
    pending: Vec<Event>,
    batch: Batch,
}

impl Unwritten {
    pub(crate) fn new(rules: Rules, reading: Reading) -> Self {
        Self {
            state: State::new(rules),
            clock: ServingClock::resume(Timestamp::ZERO, reading.boot),
            stamp: Stamp { at: Timestamp::ZERO, wall: reading.wall },
            position: 0,
            pending: Vec::new(),
            batch: Batch::default(),
        }
    }
}

/// There is nothing to do beside the work.
pub(crate) enum NoChore {}

impl Books for Unwritten {
    type Chore = NoChore;
    type Done = NoChore;

    fn state(&self) -> &State {
        &self.state
    }
    fn now(&self) -> Timestamp {
        self.stamp.at
    }
    fn position(&self) -> u64 {
        self.position
    }
    fn tick(&mut self, reading: Reading) {
        self.stamp = Stamp { at: self.clock.read(reading.boot), wall: reading.wall };
    }
    fn execute(&mut self, command: Command) -> Result<Answer, StoreError> {
        Ok(execute(&mut self.state, command, self.stamp, &mut self.pending))
    }
    fn attend(&mut self, claim: ClaimId) {
        self.state.attend(claim);
    }
    fn sweep(&mut self) {
        sweep(&mut self.state, self.stamp, &mut self.pending);
    }
    fn wants_commit(&self) -> bool {
        false
    }
    fn pending(&self) -> &[Event] {
        &self.pending
    }
    fn waits_for_chore(&self) -> bool {
        false
    }
    fn commit(&mut self) -> Result<&mut Batch, Fatal> {
        std::mem::swap(&mut self.batch.events, &mut self.pending);
        self.pending.clear();
        self.batch.position = self.position;
        self.batch.stamp = self.stamp;
        self.position += self.batch.events.len() as u64;
        Ok(&mut self.batch)
    }
    fn sync_within(&self) -> Option<Span> {
        None
    }
    fn close(self) -> Result<(), Fatal> {
        Ok(())
    }
    fn next_chore(&mut self) -> Option<NoChore> {
        None
    }
    fn run(chore: NoChore) -> NoChore {
        chore
    }
    fn finish(&mut self, done: NoChore) -> Result<(), Fatal> {
        match done {}
    }
}
