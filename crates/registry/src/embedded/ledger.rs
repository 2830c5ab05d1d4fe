//! The state and the log that keeps it, as one machine without threads.
//!
//! The order is always the same: `tick` (a new moment), `execute` any number of commands, `commit`
//! (their events are durable), and only then may the answers leave. Between commits, chores: the
//! next segment, the next part of a snapshot, the removal of what is not needed any more.

use std::collections::VecDeque;
use std::io;

use claims::clock::{ServingClock, TICK};
use claims::engine::{begin_epoch, execute, resume, sweep};
use claims::{ClaimId, Command, Event, Refusal, Span, Stamp, Standing, State, Timestamp, WallTime};

use super::begin::{begin, restored};
use super::chore::ChoreKind;
use super::frame::{FrameBuffer, Header};
use super::identity;
use super::journal::{JournalOn, Sync};
use super::medium::Medium;
use super::options::{Durability, Options};
use super::recovery::{Recovered, recover};
use super::snapshotting::Snapshotting;
use crate::error::StoreError;
use crate::planted::Bug;

/// While leases live on a restart's grace, the passing of time is written down this often, and more
/// often right after a start, so that a restart storm cannot make it stand still.
const MARK_EVERY: Span = Span::from_secs(1);
/// A look at the clocks of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Time since boot, suspend included: what the rules go by.
    pub boot: Span,
    /// Time of day: what people are shown.
    pub wall: WallTime,
}

/// What one commit made durable.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The position of the first event: how many there were before it in the life of this store.
    pub position: u64,
    /// When they happened.
    pub stamp: Stamp,
    /// What happened.
    pub events: Vec<Event>,
    /// How long the sync took, if there was one and the medium has a clock.
    pub sync_took: Option<Span>,
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

/// See the module.
pub struct Ledger<M: Medium> {
    pub(super) medium: M,
    pub(super) options: Options,
    pub(super) state: State,
    pub(super) journal: JournalOn<M>,
    pub(super) clock: ServingClock,
    stamp: Stamp,
    /// What happened since the last commit, as events and as bytes.
    pub(super) pending: Vec<Event>,
    pub(super) frame: FrameBuffer,
    batch: Batch,
    /// A write or sync failed: nothing may be kept any more, least of all by trying again.
    failed: bool,
    /// The moment this began, that of the last frame, and of the last sync.
    opened_at: Timestamp,
    pub(super) written: Stamp,
    synced_at: Timestamp,
    pub(super) snapshots: VecDeque<u64>,
    pub(super) snapshotting: Option<Snapshotting<M>>,
    pub(super) last_snapshot_bytes: u64,
    /// Segments to remove, once the snapshot that covers them is in place.
    pub(super) obsolete: Vec<String>,
    pub(super) chore: Option<ChoreKind>,
    /// The disk has no room for another segment.
    pub(super) full: bool,
    /// By the machine's clock: the store's own stands still while nothing can be written.
    pub(super) retry_at: Span,
}

impl<M: Medium> Ledger<M> {
    /// Recovers what the medium has, or begins a new store on an empty one. Leases get their ttl
    /// again (rule 11), and that is durable when this returns.
    pub fn open(medium: M, options: Options, reading: Reading) -> Result<Self, StoreError> {
        let salt = match identity::read(&medium)? {
            Some(identity) if identity.original || options.new_epoch => identity.salt,
            Some(_) => return Err(restored()),
            None => begin(&medium, &options)?,
        };
        let Recovered { state, journal, stamp, snapshots } = recover(&medium, &options, &salt)?;
        let at = if options.planted.is(Bug::TimeRestarts) { Timestamp::ZERO } else { stamp.at };
        let mut ledger = Self {
            medium,
            state,
            journal,
            clock: ServingClock::resume(at, reading.boot),
            stamp: Stamp { at, wall: reading.wall },
            pending: Vec::new(),
            frame: FrameBuffer::default(),
            batch: Batch::default(),
            failed: false,
            opened_at: at,
            written: Stamp { at, wall: reading.wall },
            synced_at: at,
            snapshots,
            snapshotting: None,
            last_snapshot_bytes: 0,
            obsolete: Vec::new(),
            chore: None,
            full: false,
            retry_at: Span::ZERO,
            options,
        };
        ledger.frame.clear();
        ledger.resume()?;
        Ok(ledger)
    }

    fn resume(&mut self) -> Result<(), StoreError> {
        if self.options.new_epoch && !begin_epoch(&mut self.state, self.stamp, &mut self.pending) {
            return Err(StoreError::Corrupt("all 8,192 epochs of this store are used up".into()));
        }
        let tally = self.state.tally();
        if tally.active + tally.waiting > 0 {
            resume(&mut self.state, self.stamp, &mut self.pending);
        }
        self.encode_from(0);
        // The log may end so close to the end of its segment that not even this fits.
        if self.frame.len() as u64 > self.journal.room() {
            self.prepare_spare().map_err(|error| {
                StoreError::Unavailable(format!("there is no room to begin: {error}"))
            })?;
        }
        let unavailable = |fatal: Fatal| StoreError::Unavailable(fatal.to_string());
        self.commit().map_err(unavailable)?;
        if self.options.new_epoch {
            let salt = self.journal.salt;
            identity::write(&self.medium, &salt)
                .map_err(|error| StoreError::Unavailable(format!("identity: {error}")))?;
        }
        Ok(())
    }

    /// What is known now, durable or not.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The present moment on the store's timeline.
    pub fn now(&self) -> Timestamp {
        self.stamp.at
    }

    /// How many events were kept in the life of this store.
    pub fn position(&self) -> u64 {
        self.journal.position
    }

    /// A new moment begins: commands run from here on happen at it.
    pub fn tick(&mut self, reading: Reading) {
        if self.options.planted.is(Bug::AnswerBeforeSync) {
            let _ = self.journal.sync();
        }
        if self.options.planted.is(Bug::StallCounts) {
            self.clock = ServingClock::resume(self.stalled_clock(reading), reading.boot);
        }
        // While nothing can be written down nobody can be served, so no time passes either.
        if self.frame.len() as u64 + self.need(0) > self.journal.room() {
            self.clock.skip_to(reading.boot);
        }
        self.stamp = Stamp { at: self.clock.read(reading.boot), wall: reading.wall };
    }

    /// For [`Bug::StallCounts`].
    fn stalled_clock(&self, reading: Reading) -> Timestamp {
        self.clock.now() + Timestamp::from_micros(reading.boot.as_micros()).since(self.clock.raw())
    }

    /// Runs a command. **Its answer must not leave before [`Ledger::commit`] has returned.**
    pub fn execute(&mut self, command: Command) -> Result<Result<Standing, Refusal>, StoreError> {
        if let Err(full) = self.make_room(&command) {
            // Being there is not written down, so not being there needs no room.
            if let Command::Leave(owner) = command
                && self.state.claim(owner.claim).is_some_and(|claim| claim.key == owner.key)
            {
                self.state.leave(owner.claim);
            }
            return Err(full);
        }
        let before = self.pending.len();
        let answer = execute(&mut self.state, command, self.stamp, &mut self.pending);
        self.encode_from(before);
        Ok(answer)
    }

    /// The claimant of a waiter is there until it is granted or leaves (`Command::Leave`).
    pub fn attend(&mut self, claim: ClaimId) {
        self.state.attend(claim);
    }

    /// Does what is due by itself.
    pub fn sweep(&mut self) {
        if self.frame.len() as u64 + self.need(0) > self.journal.room() {
            return;
        }
        let before = self.pending.len();
        sweep(&mut self.state, self.stamp, &mut self.pending);
        self.encode_from(before);
    }

    /// Whether so much is pending that it should be committed before more is taken on.
    pub fn wants_commit(&self) -> bool {
        self.frame.len() as u64 > (self.options.segment_bytes / 4).min(1 << 20)
    }

    /// Makes everything since the last commit durable.
    pub fn commit(&mut self) -> Result<&mut Batch, Fatal> {
        if self.failed {
            let source = io::Error::other("an earlier write or sync failed");
            return Err(Fatal { doing: "going on", source });
        }
        // Whatever goes wrong from here on leaves the disk in a state that nobody knows.
        self.failed = true;
        self.keep()?;
        self.failed = false;
        Ok(&mut self.batch)
    }

    fn keep(&mut self) -> Result<(), Fatal> {
        std::mem::swap(&mut self.batch.events, &mut self.pending);
        self.pending.clear();
        self.batch.position = self.journal.position;
        self.batch.stamp = self.stamp;
        self.batch.sync_took = None;
        let marks_time = self.owes_a_mark() && self.frame.len() as u64 <= self.journal.room();
        if !self.batch.events.is_empty() || marks_time {
            let header = Header {
                sequence: 0,
                durable: 0,
                position: 0,
                epoch: self.state.counters().epoch.number(),
                stamp: self.stamp,
            };
            let then = self.when_to_sync();
            self.journal
                .append(&mut self.frame, header, self.batch.events.len(), then)
                .map_err(|source| Fatal { doing: "writing the log", source })?;
            self.frame.clear();
            self.written = self.stamp;
        }
        self.sync()
    }

    /// Whether time must be written down although nothing happened. However short the lives of a
    /// storm are, at least half of each counts that is longer than two ticks.
    fn owes_a_mark(&self) -> bool {
        let every = self.written.at.since(self.opened_at).max(TICK).min(MARK_EVERY);
        self.state.tally().graced > 0 && self.stamp.at.since(self.written.at) >= every
    }

    /// What happened since the last commit.
    pub fn pending(&self) -> &[Event] {
        &self.pending
    }

    /// How long a sync may wait, if one is owed.
    pub fn sync_within(&self) -> Option<Span> {
        match self.options.durability {
            Durability::Interval(every) if self.journal.durable < self.journal.sequence => {
                Some(Span::from_micros(u64::try_from(every.as_micros()).unwrap_or(u64::MAX)))
            }
            Durability::Sync | Durability::Interval(_) | Durability::None => None,
        }
    }

    /// Makes everything durable, whatever the durability: the store is being closed.
    pub fn close(mut self) -> Result<(), Fatal> {
        self.commit()?;
        self.sync_now()
    }

    /// What is not synced at once may stay in the system's cache, where a planted bug can lose it.
    fn when_to_sync(&self) -> Sync {
        let planted = self.options.planted;
        let careless = planted.is(Bug::AnswerBeforeSync) || planted.is(Bug::NeverSynced);
        match self.options.durability {
            Durability::Sync if !careless => Sync::AtOnce,
            Durability::Sync | Durability::Interval(_) | Durability::None => Sync::Later,
        }
    }

    fn sync(&mut self) -> Result<(), Fatal> {
        let due = match self.options.durability {
            Durability::Sync => self.when_to_sync() == Sync::AtOnce,
            Durability::Interval(every) => {
                self.stamp.at.since(self.synced_at).as_micros() >= every.as_micros() as u64
            }
            Durability::None => false,
        };
        // A snapshot is never ahead of the log.
        if due || (self.snapshot_due() && self.options.durability != Durability::Sync) {
            self.sync_now()?;
        }
        Ok(())
    }

    fn sync_now(&mut self) -> Result<(), Fatal> {
        let mut synced = self.journal.sync();
        if synced.is_err() && self.options.planted.is(Bug::SyncRetried) {
            synced = self.journal.sync();
        }
        self.synced_at = self.stamp.at;
        self.batch.sync_took = self.journal.sync_took.take();
        synced.map_err(|source| Fatal { doing: "syncing the log", source })
    }

    fn encode_from(&mut self, first: usize) {
        for event in &self.pending[first..] {
            self.frame.push(event);
        }
    }
}
