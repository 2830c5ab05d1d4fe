//! What must hold, one file each. They look at committed events, at answers that left, and at what
//! clients believe; never at why the store did something.
//!
//! Most of them compare against the *mirror*: a second state, made only of the events that were
//! committed. After a crash the mirror is what the store must have again.

mod acknowledged;
mod belief;
mod bounds;
mod fences;
mod freed;
mod leases;
mod left_behind;
mod legal;
mod one_claim;
mod replay;
mod served;
mod timeline;
mod turns;

use claims::{ClaimId, Ending, Event, KeyHash, Span, Stamp, State, Timestamp};
use registry::embedded::{Batch, Options};

use self::acknowledged::Acknowledged;
use self::belief::Belief;
use self::bounds::Bounds;
use self::fences::Fences;
use self::freed::Freed;
use self::leases::Leases;
pub(crate) use self::left_behind::check_left_behind;
use self::one_claim::OneClaim;
use self::replay::Replay;
pub(crate) use self::served::check_rest;
use self::timeline::Timeline;
use crate::client::Client;
use crate::disk::Disk;
use crate::message::Says;

/// Something that must hold does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which invariant.
    pub invariant: &'static str,
    /// What was seen.
    pub what: String,
}

impl Violation {
    pub(crate) fn of(invariant: &'static str, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { invariant, what }
    }
}

/// Nothing, or what does not hold.
pub(crate) type Checked = Result<(), Violation>;

/// What the server was asked in one batch, and who was there.
#[derive(Debug, Default)]
pub(crate) struct Occasion {
    /// The moment before: whatever is decided now happened after it.
    pub(crate) since: Timestamp,
    /// A chore was under way. It may be what the log waits for, and nobody can be served meanwhile.
    pub(crate) may_be_stuck: bool,
    /// Claims whose claimant asked for its turn.
    pub(crate) asked: Vec<ClaimId>,
    /// Claims that had a wait open when the batch began.
    pub(crate) open: Vec<ClaimId>,
    /// Claims whose last open wait ended in it.
    pub(crate) left: Vec<ClaimId>,
    /// Endings that were asked for.
    pub(crate) farewells: Vec<(ClaimId, Ending)>,
    /// Registrations, and the wish each is for.
    pub(crate) wishes: Vec<(KeyHash, u64)>,
}

/// One event, just before it becomes part of the mirror.
pub(crate) struct Moment<'a> {
    pub(crate) mirror: &'a State,
    pub(crate) event: &'a Event,
    pub(crate) stamp: Stamp,
    pub(crate) occasion: &'a Occasion,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Checks {
    replay: Replay,
    acknowledged: Acknowledged,
    belief: Belief,
    bounds: Bounds,
    fences: Fences,
    freed: Freed,
    leases: Leases,
    one_claim: OneClaim,
    timeline: Timeline,
}

impl Checks {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            replay: Replay::new(options.rules.clone()),
            acknowledged: Acknowledged::default(),
            belief: Belief::default(),
            bounds: Bounds::new(options),
            fences: Fences::default(),
            freed: Freed::default(),
            leases: Leases::default(),
            one_claim: OneClaim::default(),
            timeline: Timeline::default(),
        }
    }

    /// The server looked at its clock.
    pub(crate) fn ticked(&mut self, boot: Span) {
        self.timeline.ticked(boot);
    }

    /// A batch is durable.
    pub(crate) fn committed(&mut self, batch: &Batch, occasion: &Occasion, disk: &Disk) -> Checked {
        let full = disk.is_or_was_full();
        self.timeline.check(batch, full, occasion.may_be_stuck)?;
        self.one_claim.asked(&occasion.wishes);
        for event in &batch.events {
            let moment =
                Moment { mirror: self.replay.mirror(), event, stamp: batch.stamp, occasion };
            turns::check(&moment)?;
            self.fences.check(&moment)?;
            self.one_claim.check(&moment)?;
            self.acknowledged.check(&moment)?;
            self.leases.check(&moment)?;
            self.belief.note(event);
            self.replay.apply(event, batch.stamp);
            legal::check(self.replay.mirror(), event)?;
        }
        self.replay.committed(batch)?;
        let mirror = self.replay.mirror();
        self.freed.check(mirror, &self.leases, batch.stamp.at, full)?;
        self.bounds.check(mirror, disk, full)
    }

    /// The store has `state` after that commit.
    pub(crate) fn compare(&mut self, state: &State) -> Checked {
        self.replay.compare(state)
    }

    /// An answer leaves the server.
    pub(crate) fn answered(&mut self, says: Says) -> Checked {
        self.fences.answered(says)?;
        self.acknowledged.answered(says)
    }

    /// The server was asked to end a claim.
    pub(crate) fn asked_to_end(&mut self, claim: ClaimId) {
        self.acknowledged.asked_to_end(claim);
    }

    /// The server stopped; `in_flight` is what it knew if it was in the middle of a commit.
    pub(crate) fn stopped(&mut self, in_flight: Option<State>) {
        self.replay.stopped(in_flight);
    }

    /// The server is back with `state`, at `now` of its own time, when its clock reads `boot`.
    pub(crate) fn recovered(&mut self, state: &State, now: Timestamp, boot: Span) -> Checked {
        self.acknowledged.recovered(state, self.replay.in_flight())?;
        self.timeline.recovered(now, boot)?;
        self.belief.recovered(state);
        let begun = self.replay.recovered(state, now)?;
        legal::check_all(state)?;
        self.fences.recovered(state)?;
        self.one_claim.recovered(state)?;
        self.leases.recovered(state, now, &begun)
    }

    /// A client may believe in more than before.
    pub(crate) fn believed(&self, now: Timestamp, clients: &[Client], nth: usize) -> Checked {
        self.belief.check(now, clients, nth)
    }
}
