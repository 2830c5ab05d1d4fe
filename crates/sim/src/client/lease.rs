//! How long a client believes that it holds.

use claims::{Span, Timestamp, Ttl};

use super::{Client, Stage};
use crate::clock::Local;
use crate::message::Wish;
use crate::planted::Bug;

/// Of a hundred parts of the ttl, how many a client believes in: clock rates may differ by the rest.
const BELIEVED: u64 = 95;

#[derive(Debug, Clone)]
pub(super) struct Lease {
    /// The lease cannot have begun before this.
    pub(super) since: Local,
    /// Believed in until then; nothing before the first confirmation that is recent enough.
    pub(super) deadline: Option<Local>,
    /// The shortest that was ever asked for: an old request may still arrive.
    shortest: Span,
}

impl Lease {
    pub(super) fn asked_for(ttl: Ttl, at: Local) -> Self {
        Self { since: at, deadline: None, shortest: ttl.span() }
    }

    pub(super) fn is_over(&self, now: Local) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// The nth part of the lease.
    pub(super) fn part(&self, nth: u64) -> Span {
        Span::from_micros(self.shortest.as_micros() / nth)
    }

    /// A renewal leaves, perhaps with another ttl: from now on the server may go by that.
    pub(super) fn asked(&mut self, ttl: Option<Ttl>, at: Local) {
        let Some(ttl) = ttl else { return };
        self.shortest = self.shortest.min(ttl.span());
        let sooner = at + self.believed(None);
        self.deadline = self.deadline.map(|deadline| deadline.min(sooner));
    }

    /// A lease that began at `from` or later is confirmed, as the client learns at `now`. True if it
    /// is believed in.
    pub(super) fn confirmed(&mut self, from: Local, now: Local, bug: Option<Bug>) -> bool {
        let from = match bug {
            Some(Bug::TtlFromReceipt) => now,
            _ => from,
        };
        let deadline = from + self.believed(bug);
        if deadline > now && self.deadline.is_none_or(|old| old < deadline) {
            self.deadline = Some(deadline);
        }
        self.deadline.is_some()
    }

    fn believed(&self, bug: Option<Bug>) -> Span {
        match bug {
            Some(Bug::NoMargin) => self.shortest,
            _ => Span::from_micros(self.shortest.as_micros() / 100 * BELIEVED),
        }
    }
}

impl Client {
    /// The clock the lease is counted on: boot time, unless a bug is planted.
    pub(super) fn lease_now(&self, now: Timestamp) -> Local {
        let boot = self.clock.read(now);
        match self.bug {
            Some(Bug::WallClockDeadline) => boot.shifted(self.wall_shift),
            Some(Bug::ClockWithoutSuspend) => {
                let asleep = self.paused_at.map_or(Span::ZERO, |since| now.since(since));
                boot.shifted(-((self.slept.as_micros() + asleep.as_micros()) as i64))
            }
            Some(_) | None => boot,
        }
    }

    /// What it believes to hold at this moment of true time, if it believes so.
    pub(crate) fn belief(&self, now: Timestamp) -> Option<(&Wish, claims::ClaimId)> {
        let pursuit = self.pursuit.as_ref().filter(|_| self.alive)?;
        let works = match pursuit.stage {
            Stage::Asking => false,
            Stage::Holding => true,
            Stage::Ending(_) => self.bug == Some(Bug::ReleasesThenStops),
        };
        let past = self.bug == Some(Bug::BelievesPastDeadline);
        let deadline = pursuit.lease.deadline.filter(|_| works)?;
        let believes = self.lease_now(now) < deadline || past;
        believes.then_some((&*pursuit.wish, pursuit.owner?.claim))
    }

    pub(crate) fn pause(&mut self, now: Timestamp) {
        self.paused_at = Some(now);
    }

    pub(crate) fn resume(&mut self, now: Timestamp) {
        if let Some(since) = self.paused_at.take() {
            self.slept = Span::from_micros(self.slept.as_micros() + now.since(since).as_micros());
        }
    }

    /// Somebody sets the clock on its wall. An honest client does not look at it.
    pub(crate) fn jump_wall(&mut self, micros: i64) {
        self.wall_shift += micros;
    }
}
