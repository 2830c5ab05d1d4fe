//! **Bounds on memory, queue and disk.** Ended claims are forgotten, queues refuse to grow beyond
//! their bound, and the disk holds what is live, not what was (rules 12 and 13).

use claims::State;
use registry::embedded::Options;

use super::{Checked, Violation};
use crate::disk::Disk;

/// Ended claims are forgotten so many at a time.
const FORGOTTEN_TOGETHER: usize = 64;
/// The disk is looked at every so many commits.
const LOOK_EVERY: u32 = 16;

#[derive(Debug)]
pub(super) struct Bounds {
    ended_max: usize,
    queue_max: usize,
    segment_bytes: u64,
    snapshot_after: u64,
    /// The most that was ever live at once, as bytes in a snapshot, roughly.
    live_bytes: u64,
    commits: u32,
}

impl Bounds {
    pub(super) fn new(options: &Options) -> Self {
        let rules = &options.rules;
        Self {
            ended_max: rules.ended_max + FORGOTTEN_TOGETHER + 2 * rules.events_max,
            queue_max: rules.queue_max,
            segment_bytes: options.segment_bytes,
            snapshot_after: options.snapshot_after,
            live_bytes: 0,
            commits: 0,
        }
    }

    pub(super) fn check(&mut self, mirror: &State, disk: &Disk, full: bool) -> Checked {
        let ended = mirror.tally().ended;
        if ended > self.ended_max && !full {
            return violated(format!("{ended} ended claims are remembered"));
        }
        for name in mirror.names_after(None) {
            let waiting = mirror.queue_len(name);
            if waiting > self.queue_max {
                return violated(format!("{waiting} claims wait for {name}"));
            }
        }
        self.commits += 1;
        match self.commits.is_multiple_of(LOOK_EVERY) {
            true => self.check_disk(mirror, disk),
            false => Ok(()),
        }
    }

    /// Two snapshots and one under way, the log back to the older of them, and what does not fill
    /// its segment.
    fn check_disk(&mut self, mirror: &State, disk: &Disk) -> Checked {
        let data = mirror.claims_after(None).filter_map(|claim| claim.data());
        let data: usize = data.map(|data| data.as_str().len()).sum();
        let tally = mirror.tally();
        let claims = tally.waiting + tally.active + tally.ended;
        self.live_bytes = self.live_bytes.max((claims * 160 + data) as u64);
        let (files, bytes) = disk.usage();
        let log = 4 * self.snapshot_after.max(self.live_bytes) + 6 * self.segment_bytes;
        let bound = log + 3 * self.live_bytes + 1_024;
        if bytes > bound {
            return violated(format!("{bytes} bytes in {files} files, more than {bound}"));
        }
        Ok(())
    }
}

fn violated(what: String) -> Checked {
    Err(Violation::of("bounds", what))
}
