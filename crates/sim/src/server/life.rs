//! How the server process begins and ends.

use claims::{Span, State, Timestamp};
use registry::StoreError;
use registry::embedded::Ledger;

use super::{Process, Server, Slot};
use crate::clock::Clock;
use crate::invariants::{Checks, Violation};
use crate::story::{Down, Note, Story};

/// How a start went.
pub(crate) enum Restart {
    Up,
    /// The machine stopped again.
    Crashed,
    /// Not now.
    TryLater,
}

impl Server {
    /// Starts a process on what the disk has.
    pub(crate) fn start(
        &mut self,
        now: Timestamp,
        checks: &mut Checks,
        story: &mut Story,
    ) -> Result<Restart, Violation> {
        let reading = self.reading(now);
        self.disk.begin_commit();
        let opened = Ledger::open(self.disk.clone(), self.options.clone(), reading);
        self.disk.take_latency();
        let (down, restart) = match opened {
            Ok(ledger) => {
                self.disk.end_commit();
                let tally = ledger.state().tally();
                let starts = Note::ServerStarts {
                    at: ledger.now(),
                    waiting: tally.waiting,
                    active: tally.active,
                };
                story.tell(now, starts);
                checks.recovered(ledger.state(), ledger.now(), reading.boot)?;
                self.process = Some(Process::new(ledger));
                return Ok(Restart::Up);
            }
            Err(_) if self.disk.has_crashed() => (Down::Crashed, Restart::Crashed),
            Err(StoreError::Corrupt(why)) => {
                if !self.disk.has_flips() {
                    return Err(Violation::of(
                        "nothing acknowledged is lost",
                        format!("the store refuses to start although nothing was damaged: {why}"),
                    ));
                }
                // Right so. Somebody repairs the disk.
                self.disk.flip_back();
                (Down::Corrupt, Restart::TryLater)
            }
            Err(StoreError::Unavailable(_) | StoreError::Unknown(_)) => {
                (Down::Unavailable, Restart::TryLater)
            }
            Err(StoreError::Conflict) => {
                return Err(Violation::of(
                    "nothing acknowledged is lost",
                    "the store found somebody else's work on its own disk",
                ));
            }
        };
        story.tell(now, Note::ServerStaysDown(down));
        Ok(restart)
    }

    /// The process is gone. Gives what it knew.
    pub(crate) fn stop(&mut self) -> Option<State> {
        self.life += 1;
        self.stops_after_answer = false;
        self.chore_is_over = false;
        self.paused = false;
        let process = self.process.take()?;
        Some(process.ledger.state().clone())
    }

    /// The machine starts anew: its clock counts from its start.
    pub(crate) fn reboot(&mut self, now: Timestamp, rate_ppm: u64) {
        let boot = Span::from_micros(self.rng.between(1_000_000, 30_000_000));
        self.clock = Clock::starting(now, boot, rate_ppm);
    }

    pub(crate) fn restart_delay(&mut self, range: (Span, Span)) -> Span {
        self.rng.span(range)
    }
}

impl Process {
    fn new(ledger: Ledger<crate::disk::Disk>) -> Self {
        Self {
            settled_until: ledger.now(),
            ledger,
            queue: Vec::new(),
            closed: Vec::new(),
            waits: super::Waits::default(),
            busy: false,
            answers: Vec::new(),
            chore: Slot::Empty,
        }
    }
}
