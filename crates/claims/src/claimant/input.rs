//! What comes in: wishes of the program, answers, and the time.

use core::ops::Add;

use super::row::Condition;
use crate::claim::Status;
use crate::identity::{ClaimId, Fence};
use crate::terms::Ttl;
use crate::time::Span;

/// A moment by the claimant's own clock, in microseconds. It must count while the machine sleeps
/// (boot time), and it is never compared with a moment of another clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// The moment at which the clock reads this.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// What the clock reads then.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; nothing if it is not after it.
    pub const fn since(self, earlier: Self) -> Span {
        Span::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Moment {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.as_micros()))
    }
}

/// Something that happens to a claimant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// The program wants it: from here on there is a timeout.
    Begin,
    /// The request with this number is answered.
    Answered(u32, Answer),
    /// It was asked to be woken now.
    Wake,
    /// The program does not want it any more.
    Release,
    /// The program wants the lease renewed now, from now on with this ttl.
    Refresh(Option<Ttl>),
    /// The program is being stopped.
    Signal,
}

/// An answer, as far as a claimant looks into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// What kind of answer it is.
    pub class: Class,
    /// The claim it is about, if it says so.
    pub claim: Option<ClaimId>,
    /// Its fence, if it says so.
    pub fence: Option<Fence>,
    /// Its status, if it says so.
    pub status: Option<Status>,
    /// Its place in the queue, if it says so.
    pub position: Option<u64>,
    /// When the server wants to be asked again, if it says so.
    pub retry_after: Option<Span>,
}

impl Answer {
    /// An answer that says nothing else.
    pub const fn of(class: Class) -> Self {
        Self { class, claim: None, fence: None, status: None, position: None, retry_after: None }
    }
}

/// Kinds of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// 200: yes, and how things are now.
    Ok,
    /// 201: yours.
    Created,
    /// 202: not yet.
    Accepted,
    /// 204: yes.
    NoContent,
    /// 404: nothing there.
    NotFound,
    /// 409: not yet.
    Conflict,
    /// Another 4xx: no.
    Refused,
    /// 5xx, or no answer: what was asked may or may not have been done.
    Unknown,
    /// The request cannot have arrived: nothing was done.
    NotSent,
}

impl Class {
    /// The kind of an HTTP status. What asks for patience is not a no, and what makes no sense here
    /// is as good as no answer.
    pub fn of_status(status: u16) -> Self {
        match status {
            200 => Self::Ok,
            201 => Self::Created,
            202 => Self::Accepted,
            203..=299 => Self::NoContent,
            404 => Self::NotFound,
            409 => Self::Conflict,
            // Too slow, too early, too many: try again.
            408 | 425 | 429 => Self::Unknown,
            400..=499 => Self::Refused,
            _ => Self::Unknown,
        }
    }

    pub(super) fn condition(self) -> Condition {
        match self {
            Self::Ok => Condition::Answer200,
            Self::Created => Condition::Answer201,
            Self::Accepted => Condition::Answer202,
            Self::NoContent => Condition::Answer204,
            Self::NotFound => Condition::Answer404,
            Self::Conflict => Condition::Answer409,
            Self::Refused => Condition::Answer4xx,
            Self::Unknown | Self::NotSent => Condition::Answer5xx,
        }
    }
}
