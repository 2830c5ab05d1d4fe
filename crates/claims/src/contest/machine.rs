//! What the three machines have in common: they hear, and they say what to do next.

use super::record::{Lease, Seen, Wall, WriterId};
use crate::time::Timestamp;

/// The two clocks of a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// For waits and deadlines: its own clock, which never jumps and counts suspended time.
    pub at: Timestamp,
    /// For the stamps in the record, which other machines compare with their own.
    pub wall: Wall,
}

/// Something that wants the store read and written, a step at a time.
pub trait Machine {
    /// What it comes to in the end.
    type Outcome;

    /// Takes note of what was heard, and says what to do next.
    fn step(&mut self, heard: Heard, now: Now) -> Step<Self::Outcome>;
}

/// What came of the last step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Nothing yet, or the wait is over.
    Go,
    /// The read was answered.
    Saw(Seen),
    /// The read was not answered, or not in time.
    Blind,
    /// The write was acknowledged.
    Wrote,
    /// The write did not and will not land: it was too late to send, or the store refused it because
    /// the record had changed since it was read.
    NotWritten,
    /// The write may have landed, or may land yet.
    Unsure,
    /// The caller has had enough. Heard in a wait only.
    Stop,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<Outcome> {
    /// Read the record; not answered `by` then is [`Heard::Blind`].
    Read {
        /// When to give up.
        by: Timestamp,
    },
    /// Replace the record, in one attempt. If it cannot be sent before `by` it must not be sent; if
    /// it is not acknowledged `by` then, it is [`Heard::Unsure`].
    Write {
        /// What to write.
        lease: Lease,
        /// When to give up.
        by: Timestamp,
    },
    /// Wait; tell [`Heard::Go`] then, or [`Heard::Stop`] before.
    Wait {
        /// Until when.
        until: Timestamp,
        /// For whom it may concern.
        why: Why,
    },
    /// It is over.
    Done(Outcome),
}

/// What a wait is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Our name is written; whoever looked before that gets the time to write theirs.
    Settling,
    /// Somebody else has it.
    HeldBy(Option<WriterId>),
    /// Somebody wrote after us. The pause grows and is random, so that not everybody comes back at
    /// once for ever.
    Outwritten,
    /// There is a record that nobody can read. It may be a lease: it is left alone.
    Unreadable,
    /// The store did not answer.
    NoAnswer,
    /// All is well until the next refresh.
    Holding,
}
