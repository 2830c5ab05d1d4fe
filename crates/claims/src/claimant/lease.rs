//! How long a claimant believes that it holds.

use super::input::Moment;
use super::patience::Terms;
use super::planted::{Bug, Planted};
use crate::time::Span;

/// Of a hundred parts of the ttl, how many are believed in: clock rates may differ by the rest.
const BELIEVED: u64 = 95;

#[derive(Debug, Clone)]
pub(super) struct Belief {
    /// The ttl asked for last.
    pub(super) ttl: Span,
    /// Believed in until then; nothing before the first confirmation that is recent enough.
    deadline: Option<Moment>,
    /// Whether it ever believed.
    pub(super) ever: bool,
    /// Whether the last renewal was confirmed.
    pub(super) confirmed: bool,
    /// The lease cannot have begun before this.
    since: Option<Moment>,
    /// When the request left that was confirmed last.
    from: Moment,
    /// The shortest ttl of a renewal that went unanswered: it may still arrive.
    doubt: Option<Span>,
    /// Nothing is known of when the lease began.
    adopts: bool,
    planted: Planted,
}

impl Belief {
    pub(super) fn new(terms: &Terms) -> Self {
        Self {
            ttl: terms.ttl.span(),
            deadline: None,
            ever: false,
            confirmed: false,
            since: None,
            from: Moment::default(),
            doubt: None,
            adopts: terms.adopts,
            planted: terms.planted,
        }
    }

    pub(super) fn deadline(&self) -> Option<Moment> {
        self.deadline
    }

    pub(super) fn is_over(&self, now: Moment) -> bool {
        !self.planted.is(Bug::BelievesPastDeadline)
            && self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// A registration leaves: it may be the one that makes the claim active.
    pub(super) fn registering(&mut self, at: Moment) {
        self.since.get_or_insert(at);
    }

    /// It was not active when a request that left at `at` was answered, so its lease begins later.
    pub(super) fn not_yet(&mut self, at: Moment) {
        self.since = self.since.max(Some(at));
    }

    /// It is active, as the answer to a request that left at `at` says. With less than half of the
    /// lease left, it does not believe before it has renewed.
    pub(super) fn granted(&mut self, at: Moment, now: Moment) {
        let from = match self.since {
            Some(since) if !self.planted.is(Bug::TtlFromRetry) => since,
            _ => at,
        };
        let fresh = now.since(from).as_micros() < self.length().as_micros() / 2;
        if (fresh && !self.adopts) || self.planted.is(Bug::TtlFromReceipt) {
            self.confirm(from, self.length(), now);
        } else {
            self.from = from;
        }
    }

    /// A renewal leaves: from now on the server may go by its ttl.
    pub(super) fn renewing(&mut self, at: Moment) {
        if self.planted.is(Bug::LostAnswerIsYes) {
            self.confirm(at, self.length(), at);
        }
        if !self.planted.is(Bug::ShorterWhenConfirmed) {
            let sooner = at + self.length();
            self.deadline = self.deadline.map(|deadline| deadline.min(sooner));
        }
    }

    /// A renewal that left at `at` is confirmed.
    pub(super) fn renewed(&mut self, at: Moment, now: Moment) {
        self.confirm(at, self.length(), now);
    }

    /// A renewal went unanswered.
    pub(super) fn unanswered(&mut self, ttl: Span) {
        self.confirmed = false;
        self.doubt = Some(self.doubt.map_or(ttl, |doubt| doubt.min(ttl)));
    }

    /// Nothing is believed any more.
    pub(super) fn stop(&mut self) {
        self.deadline = None;
    }

    /// When to renew: with two thirds of the lease left for it.
    pub(super) fn renew_at(&self, now: Moment) -> Moment {
        match self.deadline {
            Some(_) => self.from + Span::from_micros(self.length().as_micros() / 3),
            None => now,
        }
    }

    /// How long a try to renew may take, so that several fit before the deadline.
    pub(super) fn try_for(&self) -> Span {
        Span::from_micros(self.length().as_micros() / 8)
    }

    /// How long to pause between two tries at most.
    pub(super) fn pause_for(&self, now: Moment) -> Span {
        let left = self.deadline.map_or(self.length(), |deadline| deadline.since(now));
        Span::from_micros(left.as_micros() / 4)
    }

    fn confirm(&mut self, from: Moment, length: Span, now: Moment) {
        let from = match self.planted.is(Bug::TtlFromReceipt) {
            true => now,
            false => from,
        };
        let deadline = from + length;
        if deadline > now {
            self.deadline = Some(deadline);
            self.from = from;
            self.confirmed = true;
        }
    }

    /// How much of a lease that begins now is believed in.
    fn length(&self) -> Span {
        let ttl = self.doubt.map_or(self.ttl, |doubt| doubt.min(self.ttl));
        match self.planted.is(Bug::NoMargin) {
            true => ttl,
            false => Span::from_micros(ttl.as_micros() / 100 * BELIEVED),
        }
    }
}
