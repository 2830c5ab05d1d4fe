//! Clocks that drift. There is one true time, which only the invariants look at; every process
//! reads a clock of its own, which starts anywhere and runs a little too fast or too slow.

use std::ops::Add;

use claims::claimant::Moment;
use claims::{Span, Timestamp};

/// A moment by one process's own clock. Two such clocks are never compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Local(u64);

impl Local {
    /// As the claimant reads it.
    pub(crate) fn moment(self) -> Moment {
        Moment::from_micros(self.0)
    }

    pub(crate) fn as_boot(self) -> Span {
        Span::from_micros(self.0)
    }

    pub(crate) fn since(self, earlier: Self) -> Span {
        Span::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// Moved by what a clock on the wall was put forward or back.
    pub(crate) fn shifted(self, micros: i64) -> Self {
        Self(self.0.saturating_add_signed(micros))
    }
}

impl Add<Span> for Local {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.as_micros()))
    }
}

const MILLION: u128 = 1_000_000;

/// A clock that counts true time at a rate near 1.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    /// How fast it runs, in millionths of the true rate.
    rate_ppm: u64,
    /// Where the present rate began.
    since: Timestamp,
    then: Local,
}

impl Clock {
    /// A clock that reads `then` at `since`.
    pub(crate) fn starting(since: Timestamp, then: Span, rate_ppm: u64) -> Self {
        Self { rate_ppm, since, then: Local(then.as_micros()) }
    }

    pub(crate) fn read(&self, now: Timestamp) -> Local {
        let passed = u128::from(now.since(self.since).as_micros());
        self.then + Span::from_micros((passed * u128::from(self.rate_ppm) / MILLION) as u64)
    }

    /// The first true moment at which the clock reads at least `local`.
    pub(crate) fn when(&self, local: Local) -> Timestamp {
        let ahead = u128::from(local.since(self.then).as_micros());
        let passed = (ahead * MILLION).div_ceil(u128::from(self.rate_ppm));
        self.since + Span::from_micros(u64::try_from(passed).unwrap_or(u64::MAX))
    }

    /// From now on it runs at another rate.
    pub(crate) fn drift(&mut self, now: Timestamp, rate_ppm: u64) {
        self.then = self.read(now);
        self.since = now;
        self.rate_ppm = rate_ppm;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_never_rings_early_by_the_clock_that_set_it() {
        for rate in [975_000, 999_999, 1_000_000, 1_000_001, 1_025_000] {
            let clock = Clock::starting(Timestamp::from_micros(17), Span::from_micros(5), rate);
            for after in [0, 1, 999, 1_000_000, 123_456_789] {
                let local = clock.read(Timestamp::from_micros(17)) + Span::from_micros(after);
                let rings = clock.when(local);
                assert!(clock.read(rings) >= local);
                assert!(after == 0 || clock.read(rings - Span::from_micros(2)) < local);
            }
        }
    }

    #[test]
    fn a_change_of_rate_does_not_move_the_present() {
        let mut clock = Clock::starting(Timestamp::ZERO, Span::ZERO, 1_010_000);
        let now = Timestamp::from_micros(5_000_000);
        let before = clock.read(now);
        clock.drift(now, 990_000);
        assert_eq!(clock.read(now), before);
    }
}
