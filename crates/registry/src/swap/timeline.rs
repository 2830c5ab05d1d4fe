//! The timeline of one observer: it runs only while this process can look.

use std::sync::{Mutex, PoisonError};

use claims::clock::ServingClock;
use claims::{Span, Stamp, Timestamp};

use crate::desk::{Clocks, MachineClocks};

/// Where the timeline begins: so late that whatever people want to know of lies behind it.
const BEGIN: Timestamp = Timestamp::from_micros(10 * 365 * 86_400 * 1_000_000);

/// Turns the machine's clock into moments, leaving out the time in which this process was stopped:
/// nobody could have renewed here then (rule 11).
pub(crate) struct Timeline(Mutex<ServingClock>);

impl Timeline {
    pub(crate) fn begin() -> Self {
        Self(Mutex::new(ServingClock::resume(BEGIN, MachineClocks.read().boot)))
    }

    pub(crate) fn now(&self) -> Stamp {
        let reading = MachineClocks.read();
        let mut clock = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Stamp { at: clock.read(reading.boot), wall: reading.wall }
    }
}

/// For those who have to wait that long.
pub(crate) fn duration(span: Span) -> std::time::Duration {
    std::time::Duration::from_micros(span.as_micros())
}
