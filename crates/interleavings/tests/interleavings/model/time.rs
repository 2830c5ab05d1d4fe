//! A clock that stands still, except when a nap ends by itself.

use std::cell::Cell;
use std::ops::Add;

pub(crate) use std::time::Duration;

thread_local! {
    /// All threads of a schedule are this one thread.
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant(Duration);

impl Instant {
    pub(crate) fn now() -> Self {
        Self(now())
    }

    pub(crate) fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0 + span)
    }
}

pub(crate) fn now() -> Duration {
    NOW.get()
}

pub(crate) fn pass_to(moment: Duration) {
    NOW.set(now().max(moment));
}

/// A new schedule begins.
pub(crate) fn begin() {
    NOW.set(Duration::ZERO);
}
