//! The clock leases are counted on: the time since the machine started, sleep included. Nobody can
//! set it, and `std::time::Instant` would stand still while the machine is suspended.

use std::time::Duration;

use claims::Span;
use claims::claimant::Moment;
use rustix::time::{ClockId, clock_gettime};

pub(crate) fn now() -> Moment {
    let time = clock_gettime(ClockId::Boottime);
    let micros = time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000;
    Moment::from_micros(micros)
}

/// How long it is until then; nothing if it has passed.
pub(crate) fn until(moment: Moment) -> Duration {
    duration(moment.since(now()))
}

pub(crate) fn duration(span: Span) -> Duration {
    Duration::from_micros(span.as_micros())
}

pub(crate) fn span(duration: Duration) -> Span {
    Span::from_micros(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}
