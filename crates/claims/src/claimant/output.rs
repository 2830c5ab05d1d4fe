//! What goes out: requests, notices, and when to be woken.

use super::input::Moment;
use super::state::State;
use crate::claim::Status;
use crate::identity::{ClaimId, Fence};
use crate::terms::Ttl;
use crate::time::Span;

/// Something a claimant wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Send this; [`Input::Answered`](super::Input::Answered) tells what came of it.
    Send(Request),
    /// Nobody waits for the answer to the request with this number any more: close it.
    Abandon(u32),
    /// Tell the program.
    Notify(Notice),
}

/// A request to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Its number, never given twice by one claimant.
    pub number: u32,
    /// What to ask.
    pub verb: Verb,
    /// Which claim; a registration does not know it yet, and names its key instead.
    pub claim: Option<ClaimId>,
    /// How long the server may hold the request until it is the claim's turn.
    pub wait: Option<Span>,
    /// An answer that comes later is of no use.
    pub patience: Span,
}

/// What to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// `POST`
    Register,
    /// `PATCH status=active`
    Activate,
    /// `PATCH ttl=…`
    Renew(Ttl),
    /// `PATCH status=released`
    Release,
    /// `PATCH status=withdrawn`
    Withdraw,
    /// `PATCH status=aborted`
    Abort,
}

impl Verb {
    /// As a word, for a person.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Activate => "activate",
            Self::Renew(_) => "renew",
            Self::Release => "release",
            Self::Withdraw => "withdraw",
            Self::Abort => "abort",
        }
    }
}

/// Why a claimant wants to be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Timer {
    /// The lease is over then, unless it is renewed before.
    Deadline,
    /// It takes too long then.
    Timeout,
    /// The answer to the request under way is of no use any more then.
    Answer,
    /// To try again.
    Retry,
    /// To ask for its turn.
    Activate,
    /// To renew.
    Renew,
}

impl Timer {
    /// All of them. Of two that ring at one moment the first comes first.
    pub const ALL: [Self; 6] =
        [Self::Deadline, Self::Timeout, Self::Answer, Self::Retry, Self::Activate, Self::Renew];
}

/// What the program is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// It is in the queue.
    Waiting {
        /// Its place, if the server said so; 1 is next.
        position: Option<u64>,
    },
    /// It holds, and believes so until [`Lease::deadline`].
    Acquired {
        /// Its fence, if the server gives fences.
        fence: Option<Fence>,
    },
    /// The lease goes on.
    Renewed,
    /// A renewal is not confirmed. The old deadline counts; until then it goes on trying.
    Unknown,
    /// It held, and does not any more.
    Lost(Cause),
    /// It never came to hold.
    Missed(Missed),
    /// It has come to a final state.
    Ended(State),
}

/// Why a claim is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The deadline passed without a renewal that was confirmed.
    Unconfirmed,
    /// The server says that it is over, and perhaps how it ended.
    Refused(Option<Status>),
    /// The program is being stopped.
    Stopped,
}

/// Why a claim was never held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Missed {
    /// It took longer than its terms allow.
    TimedOut,
    /// Somebody else holds it, and nobody wanted to wait.
    Busy,
    /// The server refused, and perhaps said how the claim ended.
    Refused(Option<Status>),
    /// The ttl is too short for the way to the server and back: no renewal came in time.
    NeverSure,
    /// The program does not want it any more.
    Stopped,
}

/// What a claimant believes to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Which claim.
    pub claim: ClaimId,
    /// Its fence, if the server gives fences.
    pub fence: Option<Fence>,
    /// It stops believing then.
    pub deadline: Moment,
    /// The last renewal was confirmed; if not, nobody knows until the deadline.
    pub confirmed: bool,
}
