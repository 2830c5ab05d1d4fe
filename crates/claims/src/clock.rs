//! The timeline of a store that keeps its own time: it runs only while the store can serve.
//!
//! **Problem.** A server that was stopped, suspended or stuck in a slow disk wakes up, sees that
//! every lease is overdue and expires them all, although no client could have renewed (rule 11).
//!
//! **Why the obvious fails.** Moving every deadline by the lost time costs work per claim, and must
//! be done before the first decision after the pause; the pause is only noticed afterwards.
//!
//! **Idea.** Move the clock instead. The store reads its clock at least every [`TICK`] while leases
//! run. A gap longer than [`STALL`] is time in which it did not serve: it counts as one tick,
//! however long it was, so that a renewal that waited outside comes before the end of its lease;
//! not as nothing, or a disk that is always slow would keep the dead alive for ever. Restarts are
//! the same thing: the timeline goes on from the last moment that was written down. Clients count
//! from before they asked on their own clocks, so a slower server is always safe.

use crate::time::{Span, Timestamp};

/// How often the owner of a [`ServingClock`] must read it while leases run.
pub const TICK: Span = Span::from_millis(250);

/// The longest gap between two readings that counts as served time; a longer one counts as a
/// [`TICK`].
pub const STALL: Span = Span::from_millis(1_000);

/// Turns readings of a clock that counts suspend (boot time) into moments of the store's timeline.
///
/// ```
/// use claims::{Span, Timestamp, clock::ServingClock};
/// let mut clock = ServingClock::resume(Timestamp::from_micros(500), Span::from_secs(9));
/// assert_eq!(clock.read(Span::from_secs(9)), Timestamp::from_micros(500));
/// let stopped_for_an_hour = Span::from_secs(9 + 3600);
/// assert_eq!(clock.read(stopped_for_an_hour), Timestamp::from_micros(250_500));
/// ```
#[derive(Debug, Clone)]
pub struct ServingClock {
    now: Timestamp,
    raw: Span,
}

impl ServingClock {
    /// Goes on from `now`, the last moment written down, when the raw clock reads `raw`.
    pub fn resume(now: Timestamp, raw: Span) -> Self {
        Self { now, raw }
    }

    /// The present moment, given a fresh reading of the raw clock.
    pub fn read(&mut self, raw: Span) -> Timestamp {
        let passed = Timestamp::from_micros(raw.as_micros())
            .since(Timestamp::from_micros(self.raw.as_micros()));
        self.raw = self.raw.max(raw);
        self.now = self.now + if passed > STALL { TICK } else { passed };
        self.now
    }

    /// The raw clock now reads `raw`, and the time since the last reading does not count: the
    /// store could not have served.
    pub fn skip_to(&mut self, raw: Span) {
        self.raw = self.raw.max(raw);
    }

    /// The last reading of the raw clock, as a moment of its own timeline.
    pub fn raw(&self) -> Timestamp {
        Timestamp::from_micros(self.raw.as_micros())
    }

    /// The moment of the last reading.
    pub fn now(&self) -> Timestamp {
        self.now
    }
}
