//! What time it is for the store, without asking it for every answer.
//!
//! A claim's `ttl` and durations are shown as of now, on the store's own timeline. An answer to a
//! write says when it happened, but not what time it is when a claim was found as it was before. So
//! the server keeps the distance between its clock and the timeline, and renews it with each look at
//! the store. A timeline that stood still meanwhile is behind the estimate: leases then look shorter
//! than they are, never longer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use claims::{Claim, Phase, Timestamp};

pub(crate) struct Timeline {
    start: Instant,
    /// Where the timeline was at `start`, in wrapping microseconds.
    offset: AtomicU64,
}

impl Timeline {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), offset: AtomicU64::new(0) }
    }

    /// The store said that it is `now`.
    pub(crate) fn set(&self, now: Timestamp) {
        self.offset.store(now.as_micros().wrapping_sub(self.elapsed()), Ordering::Relaxed);
    }

    /// The moment of an answer about this claim: not before anything that it tells.
    pub(crate) fn now(&self, claim: &Claim) -> Timestamp {
        let now = self.elapsed().wrapping_add(self.offset.load(Ordering::Relaxed));
        let told = match &claim.phase {
            Phase::Waiting(waiting) => waiting.seen_at,
            // The moment of the last renewal: a lease must not look longer than it is.
            Phase::Active(active) if active.deadline != Timestamp::NEVER => {
                (active.deadline - active.ttl.span()).max(active.activation.since.at)
            }
            Phase::Active(active) => active.activation.since.at,
            Phase::Ended(ended) => ended.at.at,
        };
        Timestamp::from_micros(now).max(told)
    }

    fn elapsed(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }
}
