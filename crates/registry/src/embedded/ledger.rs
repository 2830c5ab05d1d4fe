//! The state and the log that keeps it, as one machine without threads.
//!
//! The order is always the same: `tick` (a new moment), `execute` any number of commands, `commit`
//! (their events are durable), and only then may the answers leave. Between commits, chores: the
//! next segment, the next part of a snapshot, the removal of what is not needed any more.

use std::collections::VecDeque;
use std::io;

use claims::clock::ServingClock;
use claims::engine::{begin_epoch, execute, resume, sweep};
use claims::{ClaimId, Command, Event, Refusal, Span, Stamp, Standing, State, Timestamp, WallTime};

use super::chore::{Chore, ChoreDone, Outcome, Task};
use super::frame::{FrameBuffer, HEADER, Header, Salt};
use super::identity;
use super::journal::JournalOn;
use super::medium::Medium;
use super::options::{Durability, Options};
use super::recovery::{Recovered, recover};
use super::segment::{SEGMENT_HEADER, prepare_segment, segment_name, segment_number};
use super::snapshot::{snapshot_name, snapshot_sequence};
use super::snapshotting::Snapshotting;
use crate::error::StoreError;
use crate::planted::Bug;

/// An event of a live claim never takes more than this in the log, a registration aside.
const EVENT_BYTES_MAX: u64 = 64;
/// The most a registration can take in the log: sixteen names and the user data.
const COMMAND_BYTES_MAX: u64 =
    (claims::RESOURCES_MAX * (claims::NAME_BYTES_MAX + 4) + claims::DATA_BYTES_MAX + 128) as u64;
/// While leases live on a restart's grace, the passing of time is written down this often, so that
/// a restart storm cannot make it stand still.
const MARK_EVERY: Span = Span::from_secs(1);
/// How long to wait before trying again what a full disk prevented.
const RETRY_AFTER: Span = Span::from_millis(500);

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

/// The chore that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChoreKind {
    Preparing,
    Other,
}

/// See the module.
pub struct Ledger<M: Medium> {
    pub(super) medium: M,
    pub(super) options: Options,
    pub(super) state: State,
    pub(super) journal: JournalOn<M>,
    clock: ServingClock,
    stamp: Stamp,
    /// What happened since the last commit, as events and as bytes.
    pending: Vec<Event>,
    frame: FrameBuffer,
    batch: Batch,
    /// The moment of the last frame, and of the last sync.
    pub(super) written: Stamp,
    synced_at: Timestamp,
    pub(super) snapshots: VecDeque<u64>,
    pub(super) snapshotting: Option<Snapshotting<M>>,
    pub(super) last_snapshot_bytes: u64,
    /// Segments to remove, once the snapshot that covers them is in place.
    obsolete: Vec<String>,
    chore: Option<ChoreKind>,
    /// The disk has no room for another segment.
    full: bool,
    /// By the machine's clock: the store's own stands still while nothing can be written.
    retry_at: Span,
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
        if self.full && self.frame.len() as u64 + self.need(0) > self.journal.room() {
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

    /// Whether nothing should be taken on before the chore under way is finished: it prepares the
    /// segment that the next commands may need.
    pub fn waits_for_chore(&self) -> bool {
        self.chore == Some(ChoreKind::Preparing)
            && self.frame.len() as u64 + self.need(COMMAND_BYTES_MAX) > self.journal.room()
    }

    /// Makes everything since the last commit durable.
    pub fn commit(&mut self) -> Result<&mut Batch, Fatal> {
        std::mem::swap(&mut self.batch.events, &mut self.pending);
        self.pending.clear();
        self.batch.position = self.journal.position;
        self.batch.stamp = self.stamp;
        let marks_time = self.state.tally().graced > 0
            && self.stamp.at.since(self.written.at) >= MARK_EVERY
            && self.frame.len() as u64 <= self.journal.room();
        if !self.batch.events.is_empty() || marks_time {
            let header = Header {
                sequence: 0,
                durable: 0,
                position: 0,
                epoch: self.state.counters().epoch.number(),
                stamp: self.stamp,
            };
            self.journal
                .append(&mut self.frame, header, self.batch.events.len())
                .map_err(|source| Fatal { doing: "writing the log", source })?;
            self.frame.clear();
            self.written = self.stamp;
        }
        self.sync()?;
        Ok(&mut self.batch)
    }

    fn sync(&mut self) -> Result<(), Fatal> {
        let due = match self.options.durability {
            Durability::Sync => !self.options.planted.is(Bug::AnswerBeforeSync),
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
        synced.map_err(|source| Fatal { doing: "syncing the log", source })
    }

    /// Work to be done beside the commit path, if there is some and none is under way. Call it
    /// between a commit and the next command.
    pub fn next_chore(&mut self) -> Option<Chore<M>> {
        if self.chore.is_some() || !self.pending.is_empty() {
            return None;
        }
        let task = self.next_task()?;
        self.chore = Some(match task {
            Task::PrepareSegment { .. } => ChoreKind::Preparing,
            Task::WriteSnapshot(_) | Task::Remove { .. } => ChoreKind::Other,
        });
        Some(Chore(task))
    }

    fn next_task(&mut self) -> Option<Task<M>> {
        let medium = self.medium.clone();
        if !self.obsolete.is_empty() {
            return Some(Task::Remove { medium, names: std::mem::take(&mut self.obsolete) });
        }
        if self.clock.raw().as_micros() < self.retry_at.as_micros() {
            return None;
        }
        if self.journal.spare.is_none() {
            let number = self.journal.next_number();
            let (salt, bytes) = (self.journal.salt, self.options.segment_bytes);
            return Some(Task::PrepareSegment { medium, number, salt, bytes });
        }
        self.next_snapshot_part().map(Task::WriteSnapshot)
    }

    /// Takes back a chore that was run.
    pub fn finish(&mut self, done: ChoreDone<M>) -> Result<(), Fatal> {
        self.chore = None;
        match done.0 {
            Outcome::Prepared(Ok(segment)) => {
                self.full = false;
                self.journal.spare = Some(segment);
            }
            Outcome::Prepared(Err(error)) => {
                if !self.full {
                    tracing::error!(%error, "no new log segment: registrations are refused");
                }
                self.full = true;
                self.try_later(error, "preparing a log segment")?;
            }
            Outcome::Written { file: Ok(file), sealed } => self.snapshot_written(file, sealed),
            Outcome::Written { file: Err(error), .. } => {
                self.give_snapshot_up();
                self.try_later(error, "writing a snapshot")?;
            }
            Outcome::Removed(Ok(())) => {}
            Outcome::Removed(Err(error)) => {
                tracing::warn!(%error, "files that are not needed any more were not removed");
            }
        }
        Ok(())
    }

    /// A disk that is full may have room again later. Any other error is not to be trusted.
    fn try_later(&mut self, source: io::Error, doing: &'static str) -> Result<(), Fatal> {
        if !is_full(&source) {
            return Err(Fatal { doing, source });
        }
        self.retry_at = Span::from_micros(self.clock.raw().as_micros() + RETRY_AFTER.as_micros());
        Ok(())
    }

    pub(super) fn obsolete(&mut self, names: Vec<String>) {
        self.obsolete.extend(names);
    }

    /// Makes sure that whatever `command` causes can be written down.
    fn make_room(&mut self, command: &Command) -> Result<(), StoreError> {
        let registration = match command {
            Command::Register(registration) => {
                let names = registration.resources.as_slice().iter();
                let names: usize = names.map(|name| name.as_str().len() + 4).sum();
                let data = registration.data.as_ref().map_or(0, |data| data.as_str().len() + 4);
                Some((names + data) as u64 + EVENT_BYTES_MAX)
            }
            _ => None,
        };
        let need = self.frame.len() as u64 + self.need(registration.unwrap_or(0));
        let fits = need <= self.journal.room();
        if registration.is_some() && self.full {
            return Err(disk_full());
        }
        if fits {
            return Ok(());
        }
        if self.journal.spare.is_some() {
            return Err(StoreError::Unavailable(
                "this does not fit into one segment of the log: use larger segments".into(),
            ));
        }
        if self.full || self.chore == Some(ChoreKind::Preparing) {
            return Err(disk_full());
        }
        self.prepare_spare().map_err(|error| {
            self.full = true;
            tracing::error!(%error, "no new log segment: registrations are refused");
            disk_full()
        })?;
        if need <= self.journal.room() { Ok(()) } else { Err(disk_full()) }
    }

    /// The most a command can add to the log, `extra` aside.
    fn need(&self, extra: u64) -> u64 {
        (self.options.rules.events_max as u64 + 2) * EVENT_BYTES_MAX + extra
    }

    fn prepare_spare(&mut self) -> io::Result<()> {
        let (number, salt) = (self.journal.next_number(), self.journal.salt);
        let bytes = self.options.segment_bytes;
        self.journal.spare = Some(prepare_segment(&self.medium, number, &salt, bytes)?);
        Ok(())
    }

    fn encode_from(&mut self, first: usize) {
        for event in &self.pending[first..] {
            self.frame.push(event);
        }
    }
}

/// Begins a new store on an empty medium. The identity is written last: without it, whatever is
/// there was never used.
fn begin<M: Medium>(medium: &M, options: &Options) -> Result<Salt, StoreError> {
    let failed = |error: io::Error| StoreError::Unavailable(format!("a new store: {error}"));
    for name in medium.list().map_err(failed)? {
        let ours = segment_number(&name).is_some() || snapshot_sequence(&name).is_some();
        let used = || {
            let bytes = medium.read(&name).map_err(failed)?;
            Ok(bytes.iter().skip(SEGMENT_HEADER as usize).any(|&byte| byte != 0))
        };
        if ours && used()? {
            return Err(StoreError::Corrupt(format!(
                "there is {name}, but no identity file: restore the directory from a backup"
            )));
        }
    }
    let need = 2 * ((options.rules.events_max as u64 + 4) * EVENT_BYTES_MAX + HEADER as u64);
    if options.segment_bytes < need {
        return Err(StoreError::Unavailable(format!("segments must have at least {need} bytes")));
    }
    prepare_segment(medium, 1, &options.salt, options.segment_bytes).map_err(failed)?;
    identity::write(medium, &options.salt).map_err(failed)?;
    Ok(options.salt)
}

fn restored() -> StoreError {
    StoreError::Corrupt(
        "this directory is a copy: if it was restored from a backup, open it with a new epoch, so \
         that no fence is given twice; if it was moved, move it as it is (mv), not file by file"
            .into(),
    )
}

fn disk_full() -> StoreError {
    StoreError::Unavailable(
        "the disk is full: nothing new is taken on until there is room again".into(),
    )
}

/// Whether an error only means that there is no room now.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// The names of segments and snapshots that are not needed any more.
pub(super) fn names_of(segments: &[u64], snapshots: &[u64]) -> Vec<String> {
    let segments = segments.iter().map(|&number| segment_name(number));
    segments.chain(snapshots.iter().map(|&sequence| snapshot_name(sequence))).collect()
}
