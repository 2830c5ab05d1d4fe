//! Answers that are not yes: what stands in the way, and what to do about it.

use alloc::vec::Vec;

use crate::claim::{Ending, Status};
use crate::identity::ClaimId;
use crate::terms::{DATA_BYTES_MAX, NAME_BYTES_MAX, Name, RESOURCES_MAX};
use crate::time::Span;

/// An answer that is not yes. Nothing that was asked for has changed; its [`code`](Refusal::code)
/// is stable, its text is for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is not this waiter's turn.
    #[error("claim {claim} is still waiting, at place {position} in the queue: ask again, or wait")]
    StillWaiting {
        /// The waiter.
        claim: ClaimId,
        /// Its place in the longest of its queues, 1 being next.
        position: usize,
        /// Who holds what it wants (the first few).
        holders: Vec<ClaimId>,
    },
    /// No claim with this id and this key. One answer for both, so that ids cannot be probed.
    #[error("there is no claim {claim} with this key: check the key, or register again")]
    Unknown {
        /// The id asked for.
        claim: ClaimId,
    },
    /// Only a holder can do that.
    #[error("claim {claim} is {status}, not active: it has no lease to renew")]
    NotActive {
        /// The claim.
        claim: ClaimId,
        /// What it is instead.
        status: Status,
    },
    /// The claim is over and cannot be taken up again.
    #[error("claim {claim} is {status}: register a new claim")]
    Over {
        /// The claim.
        claim: ClaimId,
        /// How it ended.
        status: Status,
    },
    /// A claim ends once.
    #[error("claim {claim} is {status} and cannot become {}", Status::from(*.asked))]
    CannotEnd {
        /// The claim.
        claim: ClaimId,
        /// What it is.
        status: Status,
        /// What was asked.
        asked: Ending,
    },
    /// The key belongs to a claim that was registered with other terms.
    #[error("this key belongs to claim {claim}, registered with other terms: use a new key")]
    KeyInUse {
        /// The claim that has the key.
        claim: ClaimId,
    },
    /// A keeper may renew and nothing else.
    #[error("this key may only renew claim {claim}: ask its owner")]
    KeeperMayOnlyRenew {
        /// The claim.
        claim: ClaimId,
    },
    /// No room for another keeper.
    #[error("claim {claim} has {max} keepers already")]
    TooManyKeepers {
        /// The claim.
        claim: ClaimId,
        /// The bound.
        max: usize,
    },
    /// The queue of a resource is at its bound.
    #[error("{waiting} claims wait for {resource:?} already, the most allowed: try again later")]
    QueueFull {
        /// Which resource.
        resource: Name,
        /// How many wait.
        waiting: usize,
    },
    /// A name must have at least one character.
    #[error("the resource name is empty: give it at least one character")]
    NameEmpty,
    /// A name is too long.
    #[error("the resource name has {bytes} bytes: use at most {NAME_BYTES_MAX}")]
    NameTooLong {
        /// Its length.
        bytes: usize,
    },
    /// A name has a character that would break logs and terminals.
    #[error("the resource name has the control character {control:?} at byte {at}: leave it out")]
    NameHasControl {
        /// Where.
        at: usize,
        /// Which.
        control: char,
    },
    /// A claim is for something.
    #[error("no resource is named: name at least one")]
    NoResource,
    /// A claim covers too much.
    #[error("{count} resources are named: a claim may cover at most {RESOURCES_MAX}")]
    TooManyResources {
        /// How many.
        count: usize,
    },
    /// This store cannot change several records at one moment.
    #[error(
        "{count} resources are named: this store keeps one resource per claim; claim them one by \
         one, or use a server, a database or etcd"
    )]
    OneResourceOnly {
        /// How many.
        count: usize,
    },
    /// A claim names something twice.
    #[error("resource {resource:?} is named twice: name each once")]
    ResourceTwice {
        /// Which.
        resource: Name,
    },
    /// Nobody could ever hold.
    #[error("the limit is 0: use 1 for exclusive, more for a semaphore, none for shared")]
    LimitZero,
    /// The ttl is NaN.
    #[error("the ttl is not a number: give seconds, such as 60")]
    TtlNotANumber,
    /// The ttl is below zero.
    #[error("the ttl is negative: give seconds, such as 60")]
    TtlNegative,
    /// The ttl is out of reach.
    #[error("the ttl is too long: at most {} seconds", max.as_micros() / 1_000_000)]
    TtlTooLong {
        /// The bound.
        max: Span,
    },
    /// The user data is too much.
    #[error("the user data has {bytes} bytes: use at most {DATA_BYTES_MAX}")]
    DataTooLarge {
        /// Its size.
        bytes: usize,
    },
}

impl Refusal {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::StillWaiting { .. } => "still-waiting",
            Self::Unknown { .. } => "unknown",
            Self::NotActive { .. } => "not-active",
            Self::Over { .. } => "over",
            Self::CannotEnd { .. } => "cannot-end",
            Self::KeyInUse { .. } => "key-in-use",
            Self::KeeperMayOnlyRenew { .. } => "keeper-may-only-renew",
            Self::TooManyKeepers { .. } => "too-many-keepers",
            Self::QueueFull { .. } => "queue-full",
            Self::NameEmpty => "name-empty",
            Self::NameTooLong { .. } => "name-too-long",
            Self::NameHasControl { .. } => "name-has-control",
            Self::NoResource => "no-resource",
            Self::TooManyResources { .. } => "too-many-resources",
            Self::OneResourceOnly { .. } => "one-resource-only",
            Self::ResourceTwice { .. } => "resource-twice",
            Self::LimitZero => "limit-zero",
            Self::TtlNotANumber => "ttl-not-a-number",
            Self::TtlNegative => "ttl-negative",
            Self::TtlTooLong { .. } => "ttl-too-long",
            Self::DataTooLarge { .. } => "data-too-large",
        }
    }
}
