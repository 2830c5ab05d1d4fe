//! What a driver tells: news of a claim, and what went wrong, in words for people.

use std::fmt;
use std::sync::Arc;

use claims::claimant::{Cause, Missed, State};
use claims::{Fence, Status};

/// News of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// It is in the queue.
    Waiting {
        /// Its place, if the server said so; 1 is next.
        position: Option<u64>,
    },
    /// It is held.
    Acquired {
        /// Its fence, if the server gives fences.
        fence: Option<Fence>,
    },
    /// A renewal that the program asked for is under way: what is told from here on is about it.
    Refreshing,
    /// The lease goes on.
    Renewed,
    /// A renewal is not confirmed. What is believed ends at the old deadline, unless a later try
    /// succeeds before it.
    Unknown {
        /// What happened.
        problem: Problem,
    },
    /// It was held, and is not any more.
    Lost(Loss),
    /// It was never held.
    Missed(Miss),
    /// The end, told once.
    Ended(End),
}

/// Why a claim is lost. Whatever it protected may be somebody else's now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Loss {
    /// The lease ran out, as the server says.
    #[error("the claim expired: it was not renewed in time; claim again")]
    Expired,
    /// An administrator took it away.
    #[error("the claim was revoked by an administrator: ask them before you claim again")]
    Revoked,
    /// The deadline passed, and no renewal was confirmed before it. The server may see it otherwise.
    #[error("the claim could not be renewed before its deadline ({0}): claim again")]
    Unconfirmed(Problem),
    /// The server does not know it any more.
    #[error("the server does not know the claim any more ({0}): claim again")]
    Unknown(Problem),
    /// Somebody else has it now, or took it away: at a place without a lock server.
    #[error("the claim is not ours any more ({0}): claim again")]
    Taken(Problem),
    /// The program gave it up.
    #[error("the claim was given up")]
    GivenUp,
    /// This process is a copy of the one that holds the claim.
    #[error("the claim belongs to the process that made this one: claim in this process, too")]
    Forked,
}

/// Why a claim was never held.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Miss {
    /// Somebody else holds it, and nobody wanted to wait.
    Busy {
        /// The place it had in the queue, if the server said so.
        position: Option<u64>,
    },
    /// It took longer than it was given.
    TimedOut {
        /// The last thing that went wrong; none if it only was not its turn.
        problem: Option<Problem>,
    },
    /// The server refused.
    Refused(Problem),
    /// The place cannot do what is asked for.
    Unable(Problem),
    /// The ttl is shorter than the way to the server and back.
    NeverSure,
    /// The program did not want it any more.
    GivenUp,
}

/// How a claim ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The server confirmed that it is over.
    Confirmed,
    /// The server refused to end it, because it was over already or is unknown.
    Refused(Problem),
    /// Nobody knows: no answer came. The driver goes on trying for a while.
    Unknown(Option<Problem>),
    /// It was never made, as far as is known; what an unanswered request may have made is cleared away.
    Never,
}

/// What went wrong, as the server or the network said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem(Arc<str>);

impl Problem {
    pub(crate) fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    pub(crate) fn nothing() -> Self {
        Self::new("no answer came")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(super) fn lost(cause: Cause, problem: Problem) -> Loss {
    match cause {
        Cause::Unconfirmed => Loss::Unconfirmed(problem),
        Cause::Refused(Some(Status::Expired)) => Loss::Expired,
        Cause::Refused(Some(Status::Revoked)) => Loss::Revoked,
        Cause::Refused(_) => Loss::Unknown(problem),
        Cause::Stopped => Loss::GivenUp,
    }
}

pub(super) fn missed(why: Missed, problem: Option<Problem>, position: Option<u64>) -> Miss {
    match why {
        Missed::TimedOut => Miss::TimedOut { problem },
        Missed::Busy => Miss::Busy { position },
        Missed::Refused(_) => Miss::Refused(problem.unwrap_or_else(Problem::nothing)),
        Missed::NeverSure => Miss::NeverSure,
        Missed::Stopped => Miss::GivenUp,
    }
}

pub(super) fn ended(state: State, made: bool, problem: Option<Problem>) -> End {
    if matches!(state, State::Released | State::Withdrawn | State::Aborted) {
        End::Confirmed
    } else if !made {
        End::Never
    } else if state == State::Fail {
        End::Refused(problem.unwrap_or_else(Problem::nothing))
    } else {
        End::Unknown(problem)
    }
}
