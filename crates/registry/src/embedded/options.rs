//! How an embedded store is kept.

use std::time::Duration;

use claims::Rules;

use crate::planted::Planted;

/// When an answer may leave. Only the first is a promise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// After its bytes are on disk. Nothing that was answered is lost when the power fails.
    #[default]
    Sync,
    /// At once; the disk follows at this interval. A power failure **loses** what was answered
    /// since: locks that were granted may be granted again, under the same fences.
    Interval(Duration),
    /// At once; the disk follows when the kernel pleases. As above, with no bound. A crash of the
    /// process alone loses nothing.
    None,
}

/// How an embedded store is kept. The defaults are safe.
#[derive(Debug, Clone)]
pub struct Options {
    /// The figures in the rules.
    pub rules: Rules,
    /// When an answer may leave.
    pub durability: Durability,
    /// The size of a log segment. Two are kept ready at all times.
    pub segment_bytes: u64,
    /// How much log may grow beyond the live state before a snapshot is taken.
    pub snapshot_after: u64,
    /// How many claims one step of a snapshot writes down: what bounds its pauses.
    pub snapshot_slice: usize,
    /// Random bytes for a new store: nobody who sends data to it may know them.
    pub salt: [u8; 16],
    /// This directory was restored from a backup: put every later fence above any given before.
    pub new_epoch: bool,
    /// The bug kept in on purpose, in builds that can have one.
    pub planted: Planted,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            durability: Durability::Sync,
            segment_bytes: 16 << 20,
            snapshot_after: 64 << 20,
            snapshot_slice: 1_000,
            salt: [0; 16],
            new_epoch: false,
            planted: Planted::default(),
        }
    }
}
