//! Keeping the lease, giving it back, and noticing that it is gone.

use super::machine::{Heard, Machine, Now, Step, Why};
use super::pause::Dice;
use super::record::{Lease, Seen, Wall, WriterId};
use super::terms::Terms;
use crate::time::{Span, Timestamp};

/// How often a release is written again because a refresh of the other owner landed after it.
const RELEASES_MAX: u32 = 5;

/// Which of the two owners this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Acquired the lease, and alone gives it back.
    Owner,
    /// Was handed the lease: keeps it alive for as long as it runs, whatever happens to the owner,
    /// and never gives it back.
    Remote,
}

/// How holding ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The owner gave it back.
    Released,
    /// The owner could not tell the store; the lease ends by itself.
    Unreleased,
    /// The remote stopped keeping it. It lives for as long as somebody else keeps it, or runs out.
    Left,
    /// It is not ours any more.
    Lost(Loss),
}

/// How a lease was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// The record has somebody else's name.
    TakenBy(Option<WriterId>),
    /// The record says that it was given back.
    Released,
    /// The record is not there any more.
    Gone,
    /// It could not be refreshed until it ended.
    Expired,
}

/// A lease that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    terms: Terms,
    lease: Lease,
    role: Role,
    /// Until when it may be believed in.
    deadline: Timestamp,
    refresh_at: Timestamp,
    wish: Wish,
    phase: Phase,
    wrote_at: Timestamp,
    retries: u32,
    releases: u32,
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Keep,
    Release,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Resting,
    Looking,
    Writing,
}

type Next = Step<Ending>;

impl Holding {
    pub(super) fn new(
        terms: Terms,
        lease: Lease,
        role: Role,
        deadline: Timestamp,
        seed: u64,
        now: Now,
    ) -> Self {
        let refresh_at = match role {
            Role::Owner => now.at + terms.refresh_every(),
            // Nobody knows when the other one refreshed it last.
            Role::Remote => now.at,
        };
        Self {
            terms,
            lease,
            role,
            deadline,
            refresh_at,
            wish: Wish::Keep,
            phase: Phase::Resting,
            wrote_at: now.at,
            retries: 0,
            releases: 0,
            seed,
        }
    }

    /// The name to hand to a remote.
    pub fn writer(&self) -> &WriterId {
        &self.lease.writer
    }

    /// Until when it may be believed in, if nothing more is heard.
    pub const fn deadline(&self) -> Timestamp {
        self.deadline
    }

    /// What was written last.
    pub const fn lease(&self) -> &Lease {
        &self.lease
    }
}

impl Machine for Holding {
    type Outcome = Ending;

    fn step(&mut self, heard: Heard, now: Now) -> Next {
        if heard == Heard::Stop {
            match self.role {
                Role::Owner => self.wish = Wish::Release,
                Role::Remote => return Step::Done(Ending::Left),
            }
        }
        // Whatever was heard comes too late now. Nothing is touched: it may be somebody else's.
        if now.at >= self.deadline && !self.only_looks(&heard) {
            return Step::Done(self.too_late());
        }
        match (self.phase, heard) {
            (Phase::Resting, Heard::Go) if now.at < self.refresh_at => self.rest(self.refresh_at),
            (_, Heard::Go | Heard::Stop) => self.look(now),
            (_, Heard::Saw(seen)) => self.judge(&seen, now),
            (Phase::Writing, Heard::Wrote) => self.written(now),
            (_, Heard::Blind | Heard::Unsure | Heard::NotWritten | Heard::Wrote) => self.retry(now),
        }
    }
}

impl Holding {
    fn look(&mut self, now: Now) -> Next {
        self.phase = Phase::Looking;
        // A read that hangs must leave time for another.
        let within = Span::from_micros(self.deadline.since(now.at).as_micros() / 2 + 1);
        let at_least = if self.releases > 0 { self.terms.margin() } else { Span::ZERO };
        Step::Read { by: now.at + within.max(at_least) }
    }

    fn judge(&mut self, seen: &Seen, now: Now) -> Next {
        let (writer, released) = match seen {
            Seen::Absent => return self.gone(Loss::Gone),
            // It may be ours, half written by a store that is not atomic. Look again.
            Seen::Unreadable => return self.retry(now),
            Seen::Record(record) => (record.writer.as_ref(), record.released),
        };
        if writer != Some(&self.lease.writer) {
            return self.gone(Loss::TakenBy(writer.cloned()));
        }
        match (released, self.releases) {
            (true, _) => self.gone(Loss::Released),
            (false, RELEASES_MAX..) => Step::Done(Ending::Unreleased),
            (false, _) if now.at >= self.deadline => Step::Done(Ending::Unreleased),
            (false, _) => self.write(now),
        }
    }

    /// It is not ours any more: that is what we wanted, if we wrote so ourselves.
    fn gone(&self, loss: Loss) -> Next {
        Step::Done(if self.releases > 0 { Ending::Released } else { Ending::Lost(loss) })
    }

    fn write(&mut self, now: Now) -> Next {
        self.phase = Phase::Writing;
        self.wrote_at = now.at;
        self.lease.writes += 1;
        self.lease.written_at = now.wall;
        if self.lease.first_written_at == Wall::default() {
            self.lease.first_written_at = now.wall;
        }
        if self.wish == Wish::Release {
            self.releases += 1;
            self.lease.released_at = Some(now.wall);
        }
        let by = (now.at + self.terms.write_within()).min(self.deadline);
        Step::Write { lease: self.lease.clone(), by }
    }

    fn written(&mut self, now: Now) -> Next {
        if self.wish == Wish::Release {
            // The remote may have read just before, and have until the margin is over to write. Others
            // need not wait for that: to them it is released.
            self.phase = Phase::Looking;
            return Step::Wait { until: now.at + self.terms.margin(), why: Why::Holding };
        }
        self.retries = 0;
        self.deadline = self.wrote_at + self.terms.believe_for();
        self.refresh_at = self.wrote_at + self.terms.refresh_every();
        self.rest(self.refresh_at)
    }

    fn rest(&mut self, until: Timestamp) -> Next {
        self.phase = Phase::Resting;
        Step::Wait { until: until.min(self.deadline), why: Why::Holding }
    }

    fn retry(&mut self, now: Now) -> Next {
        self.phase = Phase::Looking;
        let mut dice = Dice::new(self.seed ^ u64::from(self.lease.writes) ^ now.at.as_micros());
        let first = Span::from_micros(self.terms.expire().as_micros() / 128);
        let pause = dice.backing_off(first, self.retries, 8);
        self.retries += 1;
        Step::Wait { until: (now.at + pause).min(self.deadline), why: Why::NoAnswer }
    }

    fn too_late(&self) -> Ending {
        match self.wish {
            Wish::Keep => Ending::Lost(Loss::Expired),
            Wish::Release => Ending::Unreleased,
        }
    }

    /// Whether it is out to see what became of its release: that touches nothing, whatever the time.
    fn only_looks(&self, heard: &Heard) -> bool {
        self.releases > 0 && matches!(heard, Heard::Go | Heard::Saw(_))
    }
}
