//! The server process: the real store, driven as its writer thread drives it.
//!
//! Take what was asked, look at the clock, run the commands, sweep, commit; only when the commit is
//! durable let the answers go, those of open waits included. Chores run between batches. Whatever
//! the store calls fatal stops the process, and nothing of that batch is answered.

mod batch;
mod life;
mod waits;

use claims::clock::TICK;
use claims::{Span, Timestamp, WallTime};
use registry::embedded::{Chore, ChoreDone, Ledger, Options, Reading};

use self::waits::Waits;
use crate::clock::Clock;
use crate::disk::Disk;
use crate::message::{Answer, ClientId, Request, RequestId};
use crate::rng::Rng;

pub(crate) use self::life::Restart;

/// The machine the server runs on, and the process if it runs.
pub(crate) struct Server {
    pub(crate) clock: Clock,
    /// How far the clock on the wall is from the truth, in milliseconds.
    wall_shift: i64,
    /// Counts the processes: what was planned for one does not happen to the next.
    pub(crate) life: u32,
    pub(crate) paused: bool,
    /// Only the tick with this number counts.
    pub(crate) tick: u32,
    /// The next answers that leave are the last.
    pub(crate) stops_after_answer: bool,
    /// A chore is over, and waits to be given back.
    pub(crate) chore_is_over: bool,
    process: Option<Process>,
    disk: Disk,
    options: Options,
    rng: Rng,
}

/// A running server process.
struct Process {
    ledger: Ledger<Disk>,
    queue: Vec<Request>,
    closed: Vec<RequestId>,
    waits: Waits,
    /// Everything that was due by then has happened.
    settled_until: Timestamp,
    /// A commit is under way: what arrives waits for the next one.
    busy: bool,
    /// What may leave when the commit is durable.
    answers: Vec<(ClientId, Answer)>,
    chore: Slot,
}

/// The one chore that may be under way.
enum Slot {
    Empty,
    Waiting(Chore<Disk>),
    Done(ChoreDone<Disk>),
}

/// What the world must do after the server worked.
pub(crate) enum Next {
    Nothing,
    /// The batch is durable after this.
    Durable(Span),
    /// The process is gone.
    Stopped(&'static str),
}

impl Server {
    pub(crate) fn new(clock: Clock, disk: Disk, options: Options, rng: Rng) -> Self {
        Self {
            clock,
            wall_shift: 0,
            life: 0,
            paused: false,
            tick: 0,
            stops_after_answer: false,
            chore_is_over: false,
            process: None,
            disk,
            options,
            rng,
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.process.is_some()
    }

    /// What the store knows, if it runs.
    pub(crate) fn state(&self) -> Option<&claims::State> {
        self.process.as_ref().map(|process| process.ledger.state())
    }

    /// Whether nothing is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        let quiet = |process: &Process| !process.busy && process.queue.is_empty();
        self.process.as_ref().is_some_and(quiet)
    }

    /// When to look at the clock again if nothing happens before: every tick while leases run, and
    /// whenever something is due.
    pub(crate) fn next_look(&self, now: Timestamp) -> Option<Timestamp> {
        let process = self.process.as_ref()?;
        let state = process.ledger.state();
        let tally = state.tally();
        let tick = (tally.active + tally.waiting > 0).then_some(TICK);
        let due = state.next_due().map(|due| due.since(process.ledger.now()));
        let pause = tick.into_iter().chain(due).min();
        let pause = pause.unwrap_or(Span::from_secs(60));
        let at = self.clock.when(self.clock.read(now) + pause);
        let wait_ends = process.waits.next_end().unwrap_or(Timestamp::NEVER);
        Some(at.min(wait_ends).max(now + Span::from_micros(10)))
    }

    /// A request arrives. True if it can be worked on at once.
    pub(crate) fn receive(&mut self, request: Request) -> bool {
        let Some(process) = &mut self.process else {
            return false;
        };
        process.queue.push(request);
        !process.busy
    }

    /// It turns out that nobody waits for the answer to this request. True if that can be worked on
    /// at once.
    pub(crate) fn notice_closed(&mut self, request: RequestId) -> bool {
        let Some(process) = &mut self.process else {
            return false;
        };
        for queued in process.queue.iter_mut().filter(|queued| queued.id == request) {
            queued.ask.stop_waiting();
        }
        let waits = process.waits.has(request);
        if waits {
            process.closed.push(request);
        }
        waits && !process.busy
    }

    /// The batch is durable: its answers.
    pub(crate) fn release_answers(&mut self) -> Vec<(ClientId, Answer)> {
        let Some(process) = &mut self.process else {
            return Vec::new();
        };
        process.busy = false;
        std::mem::take(&mut process.answers)
    }

    /// Whether there is something to do before the next tick.
    pub(crate) fn has_work(&self) -> bool {
        self.process.as_ref().is_some_and(|process| {
            let asked = !process.queue.is_empty() && !process.ledger.waits_for_chore();
            !process.busy && (asked || !process.closed.is_empty())
        })
    }

    /// Takes up a chore if there is one. True if there is.
    pub(crate) fn take_chore(&mut self) -> bool {
        let Some(process) = &mut self.process else {
            return false;
        };
        if process.busy || !matches!(process.chore, Slot::Empty) {
            return false;
        }
        match process.ledger.next_chore() {
            Some(chore) => process.chore = Slot::Waiting(chore),
            None => return false,
        }
        true
    }

    /// Runs the chore, and says how long it takes.
    pub(crate) fn run_chore(&mut self) -> Span {
        let Some(process) = &mut self.process else {
            return Span::ZERO;
        };
        let before = self.disk.take_latency();
        process.chore = match std::mem::replace(&mut process.chore, Slot::Empty) {
            Slot::Waiting(chore) => Slot::Done(chore.run()),
            slot @ (Slot::Empty | Slot::Done(_)) => slot,
        };
        let took = self.disk.take_latency();
        self.disk.add_latency(before);
        took
    }

    /// Whether a chore was run and can be given back. Not in the middle of a batch: the writer is
    /// one thread.
    pub(crate) fn has_chore_done(&self) -> bool {
        let done = |process: &Process| !process.busy && matches!(process.chore, Slot::Done(_));
        self.process.as_ref().is_some_and(done)
    }

    /// Gives the chore back.
    pub(crate) fn finish_chore(&mut self) -> Next {
        let Some(process) = &mut self.process else {
            return Next::Nothing;
        };
        match std::mem::replace(&mut process.chore, Slot::Empty) {
            Slot::Done(done) => match process.ledger.finish(done) {
                Ok(()) => Next::Nothing,
                Err(fatal) => Next::Stopped(fatal.doing),
            },
            slot @ (Slot::Empty | Slot::Waiting(_)) => {
                process.chore = slot;
                Next::Nothing
            }
        }
    }

    /// Somebody sets the clock on its wall.
    pub(crate) fn jump_wall(&mut self, millis: i64) {
        self.wall_shift += millis;
    }

    fn reading(&self, now: Timestamp) -> Reading {
        let true_wall = 1_790_000_000_000 + now.as_micros() / 1_000;
        Reading {
            boot: self.clock.read(now).as_boot(),
            wall: WallTime(true_wall.saturating_add_signed(self.wall_shift)),
        }
    }
}
