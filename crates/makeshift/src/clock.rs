//! The two clocks, and waiting by them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use claims::contest::{Now, Wall};
use claims::{Span, Timestamp};
use rustix::time::{ClockId, clock_gettime};

/// What time it is: by the boot-time clock, which counts suspended time, and by the one on the wall.
pub fn now() -> Now {
    Now { at: at(), wall: wall() }
}

/// By the boot-time clock.
pub fn at() -> Timestamp {
    let time = clock_gettime(ClockId::Boottime);
    Timestamp::from_micros(time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000)
}

/// By the clock on the wall.
pub fn wall() -> Wall {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Wall(since.as_micros() as u64)
}

/// How long until then.
pub fn until(then: Timestamp) -> Duration {
    duration(then.since(at()))
}

/// A span as the standard library has it.
pub fn duration(span: Span) -> Duration {
    Duration::from_micros(span.as_micros())
}

/// A duration as the rules have it.
pub fn span(duration: Duration) -> Span {
    Span::from_micros(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}

/// Waits until then.
pub(crate) async fn sleep_until(then: Timestamp) {
    // The timer stops while the machine sleeps, and may fire a little early: look at the clock.
    while at() < then {
        tokio::time::sleep(until(then).min(Duration::from_secs(60))).await;
    }
}
