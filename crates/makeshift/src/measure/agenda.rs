//! What is going to happen in the arena, and when.

use std::cmp::Ordering;

use claims::contest::{Heard, Lease};
use claims::{Span, Timestamp};

/// Something that is going to happen.
pub(super) struct Due {
    pub(super) at: Timestamp,
    pub(super) nth: u64,
    pub(super) who: usize,
    pub(super) awaited: u64,
    pub(super) what: What,
}

pub(super) enum What {
    ReadTakesEffect { stale_by: Span, answer_in: Span },
    WriteTakesEffect { lease: Lease, read_at: Timestamp, over: u64, answer_in: Span },
    Hear(Heard),
}

impl Ord for Due {
    /// The earliest first; at one moment, the one that was scheduled first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.nth).cmp(&(self.at, self.nth))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.nth == other.nth
    }
}

impl Eq for Due {}
