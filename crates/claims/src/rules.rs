//! The figures in the rules, each with its default.

use crate::planted::Planted;
use crate::time::Span;

/// The adjustable figures of the rules. The defaults are safe and need no configuration.
#[derive(Debug, Clone)]
pub struct Rules {
    /// How long an overdue lease that nobody wants may still be renewed or released (rule 5).
    pub linger: Span,
    /// The longest a turn is kept for a waiter that was called (rule 6).
    pub turn_max: Span,
    /// How many waiters of one resource may be called at once: what a decision looks at is bounded.
    pub called_max: usize,
    /// How long a waiter stays in the queue without being seen (rule 6).
    pub waiter_lapse: Span,
    /// How long an ended claim is remembered (rule 12).
    pub retain: Span,
    /// How many ended claims are remembered at most (rule 12).
    pub ended_max: usize,
    /// How many claims may wait for one resource (rule 13).
    pub queue_max: usize,
    /// The most events one command may cause; what is left is settled right after it.
    pub events_max: usize,
    /// The bug kept in on purpose, in builds that can have one.
    pub planted: Planted,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            linger: Span::from_secs(60),
            turn_max: Span::from_secs(120),
            called_max: 64,
            waiter_lapse: Span::from_secs(2 * 3600),
            retain: Span::from_secs(24 * 3600),
            ended_max: 10_000,
            queue_max: 10_000,
            events_max: 1_024,
            planted: Planted::default(),
        }
    }
}
