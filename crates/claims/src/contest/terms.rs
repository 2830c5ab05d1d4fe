//! What a contender brings along: how long a lease lasts, and how long to wait for the others.

use thiserror::Error;

use crate::time::Span;

/// A margin below this is not one: reading and writing a local file can take as long.
pub const MARGIN_MIN: Span = Span::from_millis(50);

/// The terms of a contest. All contenders should have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    expire: Span,
    margin: Span,
    patience: Option<Span>,
    poll: Span,
}

/// Why some terms cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BadTerms {
    /// There would be no time left between acquiring and refreshing.
    #[error(
        "twice the margin is longer than the lease: make the margin shorter, or the lease longer"
    )]
    MarginTooLong,
    /// Nobody reads and writes that fast.
    #[error("the margin is below 50 milliseconds: others need time to read and write")]
    MarginTooShort,
}

impl Terms {
    /// A lease that lasts `expire` unless it is refreshed, taken with this margin.
    pub fn new(expire: Span, margin: Span) -> Result<Self, BadTerms> {
        if margin < MARGIN_MIN {
            return Err(BadTerms::MarginTooShort);
        }
        if margin.as_micros().saturating_mul(2) > expire.as_micros() {
            return Err(BadTerms::MarginTooLong);
        }
        Ok(Self { expire, margin, patience: None, poll: Span::from_millis(200) })
    }

    /// How long to try for: nothing means one look, `None` for ever.
    #[must_use]
    pub const fn patience(self, patience: Option<Span>) -> Self {
        Self { patience, ..self }
    }

    /// How often to look at somebody else's lease, at first; it becomes ten times that.
    #[must_use]
    pub const fn poll(self, poll: Span) -> Self {
        Self { poll, ..self }
    }

    /// How long a lease lasts.
    pub const fn expire(&self) -> Span {
        self.expire
    }

    /// How long the others may take between looking and writing.
    pub const fn margin(&self) -> Span {
        self.margin
    }

    pub(super) const fn patience_is(&self) -> Option<Span> {
        self.patience
    }

    pub(super) const fn poll_every(&self) -> Span {
        self.poll
    }

    /// How long after a read a write may still be sent or awaited: less than the margin, which the
    /// others count from their own writes.
    pub(super) const fn write_within(&self) -> Span {
        Span::from_micros(self.margin.as_micros() / 4 * 3)
    }

    /// How often a lease is refreshed. Half of the lease would do for a reader with a good clock; a
    /// third leaves room for a failed refresh and for clocks two thirds of a lease apart.
    pub(super) const fn refresh_every(&self) -> Span {
        Span::from_micros(self.expire.as_micros() / 3)
    }

    /// How long a holder may believe in what it wrote, from before it was sent.
    pub(super) const fn believe_for(&self) -> Span {
        Span::from_micros(self.expire.as_micros() - self.margin.as_micros())
    }
}

impl Default for Terms {
    /// Thirty seconds, as others of this kind have, and a margin of one second.
    fn default() -> Self {
        Self {
            expire: Span::from_secs(30),
            margin: Span::from_secs(1),
            patience: None,
            poll: Span::from_millis(200),
        }
    }
}
