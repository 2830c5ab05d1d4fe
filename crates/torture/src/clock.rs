//! The one clock of a run: it counts suspension, and every process of the machine reads the same.

use rustix::time::{ClockId, clock_gettime};
use torture::history::Nanos;

pub(crate) const MILLI: Nanos = 1_000_000;
pub(crate) const SECOND: Nanos = 1_000 * MILLI;

pub(crate) fn now() -> Nanos {
    let time = clock_gettime(ClockId::Boottime);
    let (secs, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    secs.expect("it counts from boot") * SECOND + nanos.expect("a fraction of a second")
}
