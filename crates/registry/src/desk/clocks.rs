//! The clocks of the machine.

use std::time::{SystemTime, UNIX_EPOCH};

use claims::{Span, WallTime};
use rustix::time::{ClockId, clock_gettime};

use crate::embedded::Reading;

/// Where a desk reads the time.
pub(crate) trait Clocks: Send {
    fn read(&self) -> Reading;
}

/// Boot time, because it goes on while the machine is suspended: a lease that ran out in that time
/// has run out. Rust's `Instant` stands still then.
pub(crate) struct MachineClocks;

impl Clocks for MachineClocks {
    fn read(&self) -> Reading {
        let boot = clock_gettime(ClockId::Boottime);
        let micros = boot.tv_sec as u64 * 1_000_000 + boot.tv_nsec as u64 / 1_000;
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Reading { boot: Span::from_micros(micros), wall: WallTime(wall.as_millis() as u64) }
    }
}
