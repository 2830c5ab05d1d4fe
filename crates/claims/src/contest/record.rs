//! The record that the contenders write their names into.

use alloc::boxed::Box;
use alloc::format;
use core::fmt;

use crate::time::Span;

/// The time of day in microseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wall(pub u64);

impl Wall {
    /// This much later.
    #[must_use]
    pub const fn plus(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.as_micros()))
    }

    /// How long after `earlier` this is; nothing if it is not after it.
    pub const fn since(self, earlier: Self) -> Span {
        Span::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// The identity of one attempt to take the lease. Opaque to everybody else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriterId(Box<str>);

impl WriterId {
    /// An id from outside. Not empty, and without a slash: others use it as the name of a file.
    pub fn new(text: &str) -> Option<Self> {
        (!text.is_empty() && !text.contains('/')).then(|| Self(text.into()))
    }

    /// The id of the nth attempt under this one. Each attempt has its own, so that a late write of an
    /// earlier one is never taken for a success of this one.
    pub(super) fn attempt(&self, nth: u32) -> Self {
        Self(format!("{}.{nth}", self.0).into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WriterId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A record as we write it: complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Whose it is.
    pub writer: WriterId,
    /// When it was written.
    pub written_at: Wall,
    /// How long it lasts from then.
    pub expire: Span,
    /// Which write of this writer it is, from 1.
    pub writes: u32,
    /// When this writer wrote first.
    pub first_written_at: Wall,
    /// When the winner found itself to be it; not yet, before.
    pub first_acquired_at: Option<Wall>,
    /// When it was given back.
    pub released_at: Option<Wall>,
    /// Whether the second owner wrote it.
    pub by_remote: bool,
}

/// What a read found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// No record, or one that says nothing.
    Absent,
    /// Something that cannot be understood: held by somebody unknown.
    Unreadable,
    /// A record. Others may have written it, and left things out.
    Record(Sighting),
}

/// A record as it was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sighting {
    /// Whose it is.
    pub writer: Option<WriterId>,
    /// When it was written, by the writer's clock.
    pub written_at: Option<Wall>,
    /// How long its writer means it to last.
    pub expire: Option<Span>,
    /// When its writer had won.
    pub first_acquired_at: Option<Wall>,
    /// Whether it was given back.
    pub released: bool,
}

/// What a record means to somebody, in the order in which every contender must judge it: another
/// order lets two of them come to different answers about one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    Free,
    Mine,
    HeldBy(Option<WriterId>),
    Unreadable,
}

impl Seen {
    /// Whether it is free, mine, or somebody's. `expire` is the judge's own: a lease lasts for the
    /// longer of the two, so that neither side can be surprised by the other's shorter one.
    pub(super) fn standing(&self, mine: Option<&WriterId>, expire: Span, wall: Wall) -> Standing {
        let record = match self {
            Self::Absent => return Standing::Free,
            Self::Unreadable => return Standing::Unreadable,
            Self::Record(record) => record,
        };
        if record.released || !record.is_fresh(expire, wall) {
            return Standing::Free;
        }
        match (&record.writer, record.expire) {
            // Alive, and not understood: wait until it is not alive any more.
            (None, _) | (_, None) => Standing::Unreadable,
            (Some(writer), _) if Some(writer) == mine => Standing::Mine,
            (Some(writer), _) => Standing::HeldBy(Some(writer.clone())),
        }
    }
}

impl Sighting {
    /// Whether it was written recently enough. A record without a stamp never is.
    pub fn is_fresh(&self, expire: Span, wall: Wall) -> bool {
        let expire = self.expire.map_or(expire, |its| its.max(expire));
        self.written_at.is_some_and(|at| at.plus(expire) >= wall)
    }
}
