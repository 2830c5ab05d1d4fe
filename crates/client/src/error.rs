//! What can go wrong, and what to do about it.

use crate::driver::{Loss, Miss, Problem};
use crate::wish::NotJson;

/// Why a claim is not held. Nothing is left of it on the server, or will be soon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// Somebody else holds it. Only for those who try.
    #[error("{what} is held by somebody else: wait for it with claim(), or try again later")]
    Busy {
        /// What was wanted.
        what: String,
        /// How many would have been served before and with it, if the server said so.
        position: Option<u64>,
    },
    /// It was not its turn in time.
    #[error("{what} was not free in time: give it a longer timeout, or ask who holds it")]
    TimedOut {
        /// What was wanted.
        what: String,
    },
    /// The server could not be asked in time.
    #[error("{what} could not be claimed in time: {problem}")]
    Unavailable {
        /// What was wanted.
        what: String,
        /// The last thing that went wrong.
        problem: Problem,
    },
    /// The server refused.
    #[error("{what} cannot be claimed: {problem}")]
    Refused {
        /// What was wanted.
        what: String,
        /// What the server said.
        problem: Problem,
    },
    /// The place cannot do what is asked for: see
    /// [`LockManager::capabilities`](crate::LockManager::capabilities).
    #[error("{what} cannot be claimed like that: {problem}")]
    Unable {
        /// What was wanted.
        what: String,
        /// What cannot be done.
        problem: Problem,
    },
    /// What was asked for is out of bounds.
    #[error(transparent)]
    Terms(#[from] claims::Refusal),
    /// The data cannot be sent.
    #[error(transparent)]
    Data(#[from] NotJson),
    /// The lease is shorter than the way to the server and back.
    #[error("{what} was granted, but its ttl is over before an answer comes: give a longer ttl")]
    TtlTooShort {
        /// What was wanted.
        what: String,
    },
    /// The manager was closed meanwhile, or belongs to another process.
    #[error("{what} was given up: the manager was closed, or this process is a fork of its own")]
    Closed {
        /// What was wanted.
        what: String,
    },
}

impl ClaimError {
    pub(crate) fn missed(what: String, miss: Miss) -> Self {
        match miss {
            Miss::Busy { position } => Self::Busy { what, position },
            Miss::TimedOut { problem: None } => Self::TimedOut { what },
            Miss::TimedOut { problem: Some(problem) } => Self::Unavailable { what, problem },
            Miss::Refused(problem) => Self::Refused { what, problem },
            Miss::Unable(problem) => Self::Unable { what, problem },
            Miss::NeverSure => Self::TtlTooShort { what },
            Miss::GivenUp => Self::Closed { what },
        }
    }
}

/// Why it is not certain that a claim was given back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// It was lost before: what it protected may have been somebody else's for a while.
    #[error("the claim was lost before it was released: {0}")]
    Lost(Loss),
    /// Nobody knows. It is tried further for a while; at the latest its lease ends.
    #[error("the server did not confirm the release ({0}): it ends with its ttl at the latest")]
    Unknown(Problem),
}

/// Why a lease was not renewed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RefreshError {
    /// The claim is lost.
    #[error(transparent)]
    Lost(#[from] Loss),
    /// Nobody knows: the old deadline counts, and renewing goes on.
    #[error("the renewal is not confirmed ({0}): the old deadline counts, and it is tried again")]
    Unknown(Problem),
    /// The server refused.
    #[error("the server refuses: {0}")]
    Refused(Problem),
}
