//! Bugs of a claimant kept for ever, one at a time, behind the feature `planted`. See
//! [`crate::planted`] for the reason.

/// A bug in a claimant: most failures of lock systems were on this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// The lease is counted from when the answer came, not from before the request left.
    TtlFromReceipt,
    /// The lease is counted from the retry that was answered; the first request was the one.
    TtlFromRetry,
    /// The whole ttl is believed in, though clocks differ.
    NoMargin,
    /// It goes on believing until somebody tells it otherwise.
    BelievesPastDeadline,
    /// A renewal whose answer was lost counts as one.
    LostAnswerIsYes,
    /// It asks for the release and stops only when that is confirmed.
    ReleasesThenStops,
    /// A shorter ttl counts from when it is confirmed, not from when it was asked for.
    ShorterWhenConfirmed,
    /// A registration that went unanswered is forgotten, with the claim that it may have made.
    LeavesGhosts,
    /// A farewell that fails is not tried again.
    LeavesWithoutGoodbye,
    /// A failed request is never tried again: it waits for an answer that cannot come.
    HangsOnSilence,
}

impl Bug {
    /// Each of them.
    pub const ALL: &[Self] = &[
        Self::TtlFromReceipt,
        Self::TtlFromRetry,
        Self::NoMargin,
        Self::BelievesPastDeadline,
        Self::LostAnswerIsYes,
        Self::ReleasesThenStops,
        Self::ShorterWhenConfirmed,
        Self::LeavesGhosts,
        Self::LeavesWithoutGoodbye,
        Self::HangsOnSilence,
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
    pub(super) fn is(self, bug: Bug) -> bool {
        #[cfg(feature = "planted")]
        return self.bug == Some(bug);
        #[cfg(not(feature = "planted"))]
        {
            let _ = bug;
            false
        }
    }
}
