//! Bugs of the log and its recovery, kept for ever behind the feature `planted`.
//! See [`claims::planted`].

/// A bug in the embedded store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// The answer leaves, then the batch is synced.
    AnswerBeforeSync,
    /// The answer leaves, and nobody ever syncs.
    NeverSynced,
    /// A failed sync is tried again, and the second try is believed.
    SyncRetried,
    /// After recovery, fences go on from the last snapshot.
    FenceNotDurable,
    /// A snapshot leaves out the last waiter.
    SnapshotDropsWaiter,
    /// A snapshot takes a claim as it is when its turn comes, not as it was at the cut.
    SnapshotNotAtCut,
    /// A snapshot gets its name before its bytes are durable.
    SnapshotNamedTooSoon,
    /// Log that only the newest snapshot covers is removed before that snapshot is in place.
    TruncatedTooSoon,
    /// A record is believed without its checksum.
    TornTailAccepted,
    /// The tail after a torn record is not cleared, and may be read as log later.
    TailNotCleared,
    /// The timeline starts at zero after a restart.
    TimeRestarts,
    /// Time in which the store was stuck counts against its clients.
    StallCounts,
}

impl Bug {
    /// Each of them.
    pub const ALL: &[Self] = &[
        Self::AnswerBeforeSync,
        Self::NeverSynced,
        Self::SyncRetried,
        Self::FenceNotDurable,
        Self::SnapshotDropsWaiter,
        Self::SnapshotNotAtCut,
        Self::SnapshotNamedTooSoon,
        Self::TruncatedTooSoon,
        Self::TornTailAccepted,
        Self::TailNotCleared,
        Self::TimeRestarts,
        Self::StallCounts,
    ];
}

/// The bug kept in, if any.
#[derive(Debug, Clone, Copy, Default)]
pub struct Planted {
    #[cfg(feature = "planted")]
    bug: Option<Bug>,
}

impl Planted {
    /// Keeps a bug in.
    #[cfg(feature = "planted")]
    pub fn with(bug: Bug) -> Self {
        Self { bug: Some(bug) }
    }

    /// Whether this is the bug kept in. Always false in a product build.
    #[inline(always)]
    pub(crate) fn is(self, bug: Bug) -> bool {
        #[cfg(feature = "planted")]
        return self.bug == Some(bug);
        #[cfg(not(feature = "planted"))]
        {
            let _ = bug;
            false
        }
    }
}
