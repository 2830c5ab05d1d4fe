//! **The store's time is honest.** It never runs back, also across restarts; it counts no time in
//! which the store could not serve (rule 11); and it does not stand still while it does.

use claims::clock::{STALL, TICK};
use claims::{Span, Timestamp};
use registry::embedded::Batch;

use super::{Checked, Violation};

/// How long it may take until the store notices that there is room again.
const EXCUSED: Span = Span::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// The moment of the last commit that wrote something down.
    committed: Timestamp,
    /// What the timeline may have reached: every reading adds what passed since the one before, but
    /// a stall counts as a tick.
    reached: Timestamp,
    boot: Span,
    /// The disk is or was full: while nothing can be written down, time may stand still until then.
    excused_until: Timestamp,
}

impl Timeline {
    pub(super) fn ticked(&mut self, boot: Span) {
        let passed = Span::from_micros(boot.as_micros().saturating_sub(self.boot.as_micros()));
        self.reached = self.reached + if passed > STALL { TICK } else { passed };
        self.boot = boot;
    }

    pub(super) fn check(&mut self, batch: &Batch, full: bool, may_be_stuck: bool) -> Checked {
        let at = batch.stamp.at;
        if full {
            self.excused_until = at + EXCUSED;
        }
        if at < self.committed {
            return violated("it ran backwards".to_owned());
        }
        if at > self.reached {
            let more = at.since(self.reached).as_micros() as f64 / 1e6;
            return violated(format!("it counts {more:.6} s in which nobody was served"));
        }
        if at < self.reached && !may_be_stuck && at > self.excused_until {
            let less = self.reached.since(at).as_micros() as f64 / 1e6;
            return violated(format!("it misses {less:.6} s in which it served"));
        }
        if !batch.events.is_empty() {
            self.committed = at;
        }
        self.reached = at;
        Ok(())
    }

    pub(super) fn recovered(&mut self, now: Timestamp, boot: Span) -> Checked {
        if now < self.committed {
            let back = self.committed.since(now).as_micros() as f64 / 1e6;
            return violated(format!("after a restart it is {back:.6} s earlier"));
        }
        if now > self.reached {
            return violated("it counts time in which it was not running".to_owned());
        }
        self.committed = now;
        self.reached = now;
        self.boot = boot;
        // It may have started on a full disk.
        self.excused_until = now + EXCUSED;
        Ok(())
    }
}

fn violated(what: String) -> Checked {
    Err(Violation::of("the store's time is honest", what))
}
