//! Moments that two processes of one machine agree on: microseconds since it started, sleep included.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A moment by the clock that leases are counted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(pub(crate) u64);

impl Moment {
    pub(crate) fn now() -> Self {
        let time = clock_gettime(ClockId::Boottime);
        Self(time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000)
    }

    /// How long it is until then; nothing if it has passed.
    pub(crate) fn left(self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(Self::now().0))
    }

    pub(crate) fn has_passed(self) -> bool {
        self <= Self::now()
    }

    pub(crate) fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(micros(span)))
    }

    pub(crate) fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(micros(span)))
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
