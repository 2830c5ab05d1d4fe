//! Claims where no store keeps the time.
//!
//! **Problem.** etcd and buckets swap records, but nobody there says what time it is, and the clocks of
//! two machines must not be compared.
//!
//! **Why the obvious fails.** A deadline by the writer's clock is early or late for every reader, and
//! a clock that is an hour off expires everybody.
//!
//! **Idea.** Write down how long, not until when, with a [`Beat`] that is new each time something
//! begins to run. Whoever reads counts from the moment it *first saw* that beat, on its own timeline.
//! It can only be late: the claimant began to count before it asked. And who comes new, or comes
//! back, has seen nothing yet, so everybody has a full ttl again (rule 11).

use alloc::collections::{BTreeMap, BTreeSet};

use crate::claim::{Claim, Phase, Turn};
use crate::event::Event;
use crate::identity::{ClaimId, Fence, NUMBERS_MAX};
use crate::record::Record;
use crate::time::{Span, Stamp, Timestamp, WallTime};

/// A mark drawn at random whenever something is written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Beat(pub u64);

/// A claim as it is written down: with spans where it has moments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Written {
    /// Its moments are counted from the beats below. Those that only people look at are left out:
    /// they have the time of day.
    claim: Record,
    /// When its lease began to run, or its turn, or its being over.
    runs: Beat,
    /// When its claimant was last seen waiting.
    seen: Beat,
}

/// What began anew in some claims: told by the events, since two moments may be the same one.
#[derive(Debug, Default)]
pub struct Beginnings(BTreeMap<ClaimId, Begins>);

#[derive(Debug, Default, Clone, Copy)]
struct Begins {
    /// The lease, the turn, or being over.
    runs: bool,
    /// Not having been seen.
    seen: bool,
}

impl Beginnings {
    /// Those of these events.
    pub fn of(events: &[Event]) -> Self {
        let mut all = Self::default();
        for event in events {
            let Some(claim) = event.claim() else { continue };
            let begins = all.0.entry(claim).or_default();
            match event {
                Event::Registered { .. } => (begins.runs, begins.seen) = (true, true),
                Event::Seen { .. } => begins.seen = true,
                Event::Activated { .. }
                | Event::Called { .. }
                | Event::CalledOff { .. }
                | Event::PassedOver { .. }
                | Event::Renewed { .. }
                | Event::Ended { .. } => begins.runs = true,
                Event::Appointed { .. }
                | Event::Forgotten { .. }
                | Event::Resumed
                | Event::EpochBegan { .. } => {}
            }
        }
        all
    }
}

impl Written {
    /// The claim as it is at `now`, after what began; whatever else was written before goes on.
    pub fn new(
        record: Record<&Claim>,
        now: Timestamp,
        beat: Beat,
        beginnings: &Beginnings,
        before: Option<&Self>,
    ) -> Self {
        let begins = beginnings.0.get(&record.claim.id);
        if let (None, Some(before)) = (begins, before) {
            return before.clone();
        }
        let begins = begins.copied().unwrap_or_default();
        let goes_on = before.filter(|_| !begins.runs);
        let seen = before.filter(|_| !begins.seen).map_or(beat, |before| before.seen);
        let runs = goes_on.map_or(beat, |before| before.runs);
        let mut written = Self { claim: record.cloned(), runs, seen };
        written.leave_moments_out(now, goes_on.map(|before| &before.claim().phase));
        written
    }

    fn leave_moments_out(&mut self, now: Timestamp, goes_on: Option<&Phase>) {
        self.claim.seen.at = Timestamp::ZERO;
        let claim = &mut self.claim.claim;
        claim.created.at = Timestamp::ZERO;
        match &mut claim.phase {
            Phase::Waiting(turn) => {
                *turn = match (*turn, goes_on) {
                    (Turn::Called { .. }, Some(Phase::Waiting(was))) => *was,
                    (Turn::Called { until }, _) => Turn::Called { until: span(until, now) },
                    (turn @ (Turn::InLine | Turn::PassedOver), _) => turn,
                };
            }
            Phase::Active(active) => {
                active.activation.since.at = Timestamp::ZERO;
                active.deadline = match goes_on {
                    Some(Phase::Active(was)) => was.deadline,
                    _ => span(active.deadline, now),
                };
            }
            Phase::Ended(ended) => {
                ended.at.at = Timestamp::ZERO;
                if let Some(activation) = &mut ended.activation {
                    activation.since.at = Timestamp::ZERO;
                }
            }
        }
    }

    /// The claim. Its moments mean nothing before they are [read](Sightings::read).
    pub fn claim(&self) -> &Claim {
        &self.claim.claim
    }

    /// Whether it holds or waits.
    pub fn is_live(&self) -> bool {
        !matches!(self.claim().phase, Phase::Ended(_))
    }
}

/// Whether a record can have kept these claims: each with numbers that were given out before these
/// next ones, and neither a number nor a key twice. Whoever reads what was written elsewhere asks
/// before it [restores](crate::State::restore) anything from it.
pub fn can_be(claims: &[Written], next_claim: ClaimId, next_fence: Fence) -> bool {
    let (mut ids, mut keys) = (BTreeSet::new(), BTreeSet::new());
    next_claim.0.max(next_fence.0) <= NUMBERS_MAX
        && claims.iter().map(Written::claim).all(|claim| {
            claim.id < next_claim
                && claim.activation().is_none_or(|activation| activation.fence < next_fence)
                && ids.insert(claim.id)
                && keys.insert(claim.key.0)
        })
}

/// The moment `span` after `from`, written as what it is counted from the start of a timeline.
fn span(until: Timestamp, from: Timestamp) -> Timestamp {
    match until {
        Timestamp::NEVER => Timestamp::NEVER,
        until => Timestamp::from_micros(until.since(from).as_micros()),
    }
}

/// The same on the timeline of whoever saw it begin at `from`.
fn after(from: Timestamp, span: Timestamp) -> Timestamp {
    match span {
        Timestamp::NEVER => Timestamp::NEVER,
        span => from + Span::from_micros(span.as_micros()),
    }
}

/// What one observer has seen, and since when: one of these for each record.
#[derive(Debug, Clone, Default)]
pub struct Sightings(BTreeMap<ClaimId, Sighting>);

#[derive(Debug, Clone, Copy)]
struct Sighting {
    runs: (Beat, Timestamp),
    seen: (Beat, Timestamp),
}

impl Sightings {
    /// The record has these claims at `now`. What is not there any more is forgotten.
    pub fn note<'a>(&mut self, there: impl IntoIterator<Item = &'a Written>, now: Timestamp) {
        let before = core::mem::take(&mut self.0);
        for written in there {
            let was = before.get(&written.claim().id);
            let since = |is: Beat, was: Option<(Beat, Timestamp)>| match was {
                Some((beat, since)) if beat == is => (is, since),
                _ => (is, now),
            };
            let runs = since(written.runs, was.map(|was| was.runs));
            let seen = since(written.seen, was.map(|was| was.seen));
            self.0.insert(written.claim().id, Sighting { runs, seen });
        }
    }

    /// A claim as it is on this observer's timeline. What only people look at is placed by the time
    /// of day, which no rule asks for.
    pub fn read(&self, written: &Written, now: Stamp) -> Record {
        let (runs, seen) = self.since(written, now.at);
        let placed = |wall: WallTime| now.at - Span::from_millis(now.wall.0.saturating_sub(wall.0));
        let mut record = written.claim.clone();
        let claim = &mut record.claim;
        claim.created.at = placed(claim.created.wall);
        match &mut claim.phase {
            Phase::Waiting(turn) => {
                record.seen.at = seen;
                if let Turn::Called { until } = turn {
                    *until = after(runs, *until);
                }
            }
            Phase::Active(active) => {
                let since = &mut active.activation.since;
                since.at = placed(since.wall);
                active.deadline = after(runs, active.deadline);
            }
            Phase::Ended(ended) => {
                ended.at.at = placed(ended.at.wall);
                if let Some(activation) = &mut ended.activation {
                    activation.since.at = placed(activation.since.wall);
                }
            }
        }
        record
    }

    /// How long this observer has seen a claim as it is.
    pub fn unchanged_for(&self, written: &Written, now: Timestamp) -> Span {
        now.since(self.since(written, now).0)
    }

    fn since(&self, written: &Written, now: Timestamp) -> (Timestamp, Timestamp) {
        let sighting = self.0.get(&written.claim().id);
        let since = |is: Beat, was: Option<(Beat, Timestamp)>| match was {
            Some((beat, since)) if beat == is => since,
            _ => now,
        };
        let runs = since(written.runs, sighting.map(|sighting| sighting.runs));
        (runs, since(written.seen, sighting.map(|sighting| sighting.seen)))
    }
}

/// An event that happened at `then` on its writer's timeline, told at `now` on the reader's.
pub fn told(mut event: Event, then: Timestamp, now: Timestamp) -> Event {
    match &mut event {
        Event::Activated { deadline: moment, .. }
        | Event::Renewed { deadline: moment, .. }
        | Event::Called { until: moment, .. } => *moment = after(now, span(*moment, then)),
        Event::Registered { .. }
        | Event::Seen { .. }
        | Event::CalledOff { .. }
        | Event::PassedOver { .. }
        | Event::Ended { .. }
        | Event::Appointed { .. }
        | Event::Forgotten { .. }
        | Event::Resumed
        | Event::EpochBegan { .. } => {}
    }
    event
}
