//! Bugs kept for ever, one at a time, behind the feature `planted`.
//!
//! A simulator that has never found anything proves nothing. Each bug here is one that a lock
//! system had or nearly had; a test shows that the simulator catches every one. Without the feature
//! [`Planted`] is empty, and the compiler removes each place that asks for it.

/// A bug in the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// A newcomer is served although others were there before.
    Barging,
    /// A waiter that was passed over is not found when it asks again.
    LostQueueEntry,
    /// A lease ends after half its ttl.
    EarlyExpiry,
    /// The same registration again makes a second claim.
    NoIdempotency,
    /// A release by one whose claim is over frees whoever holds now.
    ReleaseFreesWhoeverHolds,
    /// After a restart a lease has the deadline of its activation, whatever was renewed.
    RestartRestoresFirstDeadline,
    /// Every restart gives a lease its whole ttl again.
    GraceForEver,
    /// A waiter becomes a holder although nobody is there to be told.
    GhostGrant,
    /// A claim over several resources looks at the first only.
    FirstResourceOnly,
    /// A semaphore lets one too many in.
    LimitOffByOne,
    /// Claims that hold together get the same fence.
    SharedFence,
    /// A renewal is answered but not written down.
    RenewalNotRecorded,
    /// A called waiter that does not come keeps its turn for ever.
    TurnKeptForEver,
    /// An overdue holder is not expired for those who wait.
    OverdueForEver,
}

impl Bug {
    /// Each of them.
    pub const ALL: &[Self] = &[
        Self::Barging,
        Self::LostQueueEntry,
        Self::EarlyExpiry,
        Self::NoIdempotency,
        Self::ReleaseFreesWhoeverHolds,
        Self::RestartRestoresFirstDeadline,
        Self::GraceForEver,
        Self::GhostGrant,
        Self::FirstResourceOnly,
        Self::LimitOffByOne,
        Self::SharedFence,
        Self::RenewalNotRecorded,
        Self::TurnKeptForEver,
        Self::OverdueForEver,
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
