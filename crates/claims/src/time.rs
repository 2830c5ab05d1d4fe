//! Moments and spans. They come in from outside: nothing in this crate reads a clock.

use core::ops::{Add, Sub};

/// A moment on the store's own timeline, in microseconds.
///
/// The timeline belongs to whoever holds the truth (a database clock, the serving clock of the
/// embedded store, a simulator). It never runs backwards, and it is not the time of day.
///
/// ```
/// use claims::{Span, Timestamp};
/// assert_eq!(Timestamp::ZERO + Span::from_secs(2), Timestamp::from_micros(2_000_000));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timestamp(u64);

impl Timestamp {
    /// The start of the timeline.
    pub const ZERO: Self = Self(0);
    /// A moment that never comes: the deadline of an unlimited lease.
    pub const NEVER: Self = Self(u64::MAX);

    /// The moment this many microseconds after the start.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the start.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; nothing if it is not after it.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Timestamp {
    type Output = Self;
    /// Saturates at [`Timestamp::NEVER`].
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Timestamp {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

/// A length of time in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than any lease.
    pub const FOREVER: Self = Self(u64::MAX);

    /// A span of microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// A span of milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// A span of seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// The span in microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Half as long again.
    pub const fn half_again(self) -> Self {
        Self(self.0.saturating_add(self.0 / 2))
    }
}

/// The time of day, in milliseconds since 1970. Shown to people, never looked at by a rule: the
/// engine's decisions take a [`Timestamp`] and cannot see it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WallTime(pub u64);

/// When something happened: `at` for the rules, `wall` for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stamp {
    /// The moment on the store's timeline.
    pub at: Timestamp,
    /// The same moment by the clock on the wall.
    pub wall: WallTime,
}
