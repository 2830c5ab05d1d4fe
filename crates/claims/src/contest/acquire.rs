//! Taking the lease.

use thiserror::Error;

use super::keep::{Holding, Role};
use super::machine::{Heard, Machine, Now, Step, Why};
use super::pause::Dice;
use super::record::{Lease, Seen, Standing, WriterId};
use super::terms::Terms;
use crate::time::{Span, Timestamp};

/// How long a read may take before it counts as not answered.
const READ_WITHIN: Span = Span::from_secs(10);

/// One contender on its way to the lease.
#[derive(Debug, Clone)]
pub struct Contest {
    terms: Terms,
    name: WriterId,
    dice: Dice,
    phase: Phase,
    /// The record of the attempt that is under way.
    mine: Option<Lease>,
    attempts: u32,
    started_at: Option<Timestamp>,
    read_at: Timestamp,
    wrote_at: Timestamp,
    /// Since when the record could not be read.
    trouble_since: Option<Timestamp>,
    polls: u32,
    losses: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Is it free?
    Looking,
    /// Our name is on its way.
    Taking,
    /// Is it still ours, after the margin? Or has a write that we know nothing of landed?
    Checking { landed: bool },
    /// It is ours, and we write so.
    Confirming,
    /// One last look: who wrote over the confirmation would have seen it otherwise.
    Rereading,
}

/// Why the lease was not acquired.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotAcquired {
    /// Somebody has it, and patience ran out.
    #[error("the lease is held by {}", .0.as_ref().map_or("somebody unknown", WriterId::as_str))]
    Held(Option<WriterId>),
    /// Others kept writing after us until patience ran out.
    #[error("others kept outwriting us")]
    Outwritten,
    /// There is a record that cannot be read, and it stayed so. It is left as it is.
    #[error("the lease file cannot be read, so it may be somebody's: it was left as it is")]
    Unreadable,
    /// The store did not answer for as long as a lease lasts.
    #[error("the store did not answer")]
    NoAnswer,
    /// The caller stopped it.
    #[error("stopped while waiting for the lease")]
    Stopped,
}

type Next = Step<Result<Holding, NotAcquired>>;

impl Contest {
    /// A contender. `name` must be unlike any other ever used; `seed` makes its pauses its own.
    pub const fn new(terms: Terms, name: WriterId, seed: u64) -> Self {
        Self {
            terms,
            name,
            dice: Dice::new(seed),
            phase: Phase::Looking,
            mine: None,
            attempts: 0,
            started_at: None,
            read_at: Timestamp::ZERO,
            wrote_at: Timestamp::ZERO,
            trouble_since: None,
            polls: 0,
            losses: 0,
        }
    }
}

impl Machine for Contest {
    type Outcome = Result<Holding, NotAcquired>;

    fn step(&mut self, heard: Heard, now: Now) -> Next {
        self.started_at.get_or_insert(now.at);
        if matches!(heard, Heard::Saw(Seen::Absent | Seen::Record(_))) {
            self.trouble_since = None;
        }
        match (self.phase, heard) {
            (_, Heard::Stop) => Step::Done(Err(NotAcquired::Stopped)),
            (_, Heard::Go) => self.read(now),
            (phase, Heard::Saw(seen)) => self.judge(phase, &seen, now),
            (_, Heard::Blind) => self.trouble(NotAcquired::NoAnswer, now),
            (Phase::Taking, Heard::Wrote) => self.settle(true, now),
            (Phase::Taking, Heard::Unsure) => self.settle(false, now),
            (Phase::Confirming, Heard::Wrote) => {
                self.phase = Phase::Rereading;
                self.read(now)
            }
            // Whether the confirmation landed, and whose the record is, only the record knows.
            (Phase::Confirming, Heard::Unsure | Heard::NotWritten) => {
                self.phase = Phase::Checking { landed: true };
                self.read(now)
            }
            (_, Heard::Wrote | Heard::NotWritten | Heard::Unsure) => self.outwritten(now),
        }
    }
}

impl Contest {
    fn read(&mut self, now: Now) -> Next {
        self.read_at = now.at;
        Step::Read { by: now.at + READ_WITHIN }
    }

    fn judge(&mut self, phase: Phase, seen: &Seen, now: Now) -> Next {
        let mine = self.mine.as_ref().map(|lease| &lease.writer);
        match (phase, seen.standing(mine, self.terms.expire(), now.wall)) {
            (_, Standing::Unreadable) => self.trouble(NotAcquired::Unreadable, now),
            (Phase::Looking, Standing::Free) => self.take(now),
            (Phase::Looking, Standing::HeldBy(other)) => self.wait_for(other, now),
            // A write we were unsure of has landed. When, nobody knows: from now on it counts.
            (Phase::Checking { landed: false }, Standing::Mine) => self.settle(true, now),
            (Phase::Checking { landed: true }, Standing::Mine) => self.confirm(now),
            (Phase::Rereading, Standing::Mine) => self.hold(now),
            (_, Standing::Free | Standing::Mine | Standing::HeldBy(_)) => self.outwritten(now),
        }
    }

    fn take(&mut self, now: Now) -> Next {
        self.attempts += 1;
        self.phase = Phase::Taking;
        let lease = Lease {
            writer: self.name.attempt(self.attempts),
            written_at: now.wall,
            expire: self.terms.expire(),
            writes: 1,
            first_written_at: now.wall,
            first_acquired_at: None,
            released_at: None,
            by_remote: false,
        };
        self.write(lease, now)
    }

    /// The margin counts from when our name is known to be there.
    fn settle(&mut self, landed: bool, now: Now) -> Next {
        self.phase = Phase::Checking { landed };
        // Twice our own time as well, as the others wait: who is that slow meets slow others.
        let own = Span::from_micros(now.at.since(self.read_at).as_micros().saturating_mul(2));
        Step::Wait { until: now.at + own.max(self.terms.margin()), why: Why::Settling }
    }

    fn confirm(&mut self, now: Now) -> Next {
        self.phase = Phase::Confirming;
        let mine = self.mine.take().expect("a name that was checked was written before");
        let lease = Lease {
            written_at: now.wall,
            writes: mine.writes + 1,
            first_acquired_at: mine.first_acquired_at.or(Some(now.wall)),
            ..mine
        };
        self.write(lease, now)
    }

    fn write(&mut self, lease: Lease, now: Now) -> Next {
        self.mine = Some(lease.clone());
        self.wrote_at = now.at;
        Step::Write { lease, by: self.read_at + self.terms.write_within() }
    }

    fn hold(&mut self, now: Now) -> Next {
        let deadline = self.wrote_at + self.terms.believe_for();
        if now.at >= deadline {
            return self.outwritten(now);
        }
        let lease = self.mine.take().expect("what is held was written");
        let seed = self.dice.below(u64::MAX);
        Step::Done(Ok(Holding::new(self.terms, lease, Role::Owner, deadline, seed, now)))
    }

    /// Somebody else's: look again later, a little more rarely each time.
    fn wait_for(&mut self, other: Option<WriterId>, now: Now) -> Next {
        if self.is_over(now) {
            return Step::Done(Err(NotAcquired::Held(other)));
        }
        let pause = self.dice.backing_off(self.terms.poll_every(), self.polls / 4, 10);
        self.polls += 1;
        Step::Wait { until: now.at + pause, why: Why::HeldBy(other) }
    }

    /// We wrote, and somebody wrote after us or before us: begin anew.
    fn outwritten(&mut self, now: Now) -> Next {
        self.phase = Phase::Looking;
        self.mine = None;
        if self.is_over(now) {
            return Step::Done(Err(NotAcquired::Outwritten));
        }
        let pause = self.dice.backing_off(self.terms.poll_every(), self.losses, 32);
        self.losses += 1;
        Step::Wait { until: now.at + pause, why: Why::Outwritten }
    }

    /// What cannot be read is not touched; it is looked at again for as long as a lease lasts.
    fn trouble(&mut self, trouble: NotAcquired, now: Now) -> Next {
        let since = *self.trouble_since.get_or_insert(now.at);
        if self.is_over(now) || now.at.since(since) > self.terms.expire() {
            return Step::Done(Err(trouble));
        }
        let why = if trouble == NotAcquired::NoAnswer { Why::NoAnswer } else { Why::Unreadable };
        let pause = self.dice.backing_off(self.terms.poll_every(), self.polls / 4, 10);
        self.polls += 1;
        Step::Wait { until: now.at + pause, why }
    }

    fn is_over(&self, now: Now) -> bool {
        let started = self.started_at.unwrap_or(now.at);
        self.terms.patience_is().is_some_and(|patience| now.at.since(started) >= patience)
    }
}
