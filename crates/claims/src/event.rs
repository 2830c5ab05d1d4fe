//! What happened. Events are the history, the log, the metrics and the event stream.

use alloc::boxed::Box;

use crate::claim::{Ending, Registration};
use crate::identity::{ClaimId, Epoch, Fence, KeyHash};
use crate::terms::Ttl;
use crate::time::{Span, Timestamp};

/// One change of the state. Applying it takes no choice: whatever had to be chosen is in it.
///
/// The log keeps these by position of the variant and of its fields: new variants go to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Event {
    /// A claim joined the queues of its resources.
    Registered {
        /// The new claim.
        claim: ClaimId,
        /// What it registered.
        registration: Box<Registration>,
    },
    /// A waiter became a holder.
    Activated {
        /// The claim.
        claim: ClaimId,
        /// Its fence.
        fence: Fence,
        /// When its lease runs out.
        deadline: Timestamp,
    },
    /// A waiter asked, or was there until now.
    Seen {
        /// The claim.
        claim: ClaimId,
        /// How long it had let pass since it asked before.
        gap: Span,
    },
    /// It is a waiter's turn, but it was not there.
    Called {
        /// The claim.
        claim: ClaimId,
        /// How long its turn is kept.
        until: Timestamp,
    },
    /// A waiter's turn was not yet: an older claim came back and took it. It is in line again.
    CalledOff {
        /// The claim.
        claim: ClaimId,
    },
    /// A waiter did not come when called.
    PassedOver {
        /// The claim.
        claim: ClaimId,
    },
    /// A holder's lease runs longer (or, if it asked so, shorter).
    Renewed {
        /// The claim.
        claim: ClaimId,
        /// The lease from now on.
        ttl: Ttl,
        /// When it runs out.
        deadline: Timestamp,
    },
    /// A claim is over.
    Ended {
        /// The claim.
        claim: ClaimId,
        /// How.
        ending: Ending,
    },
    /// A claim got a keeper.
    Appointed {
        /// The claim.
        claim: ClaimId,
        /// Whose key may renew it.
        keeper: KeyHash,
    },
    /// The oldest ended claims are no longer remembered.
    Forgotten {
        /// How many.
        count: u32,
    },
    /// The store is back after it had not been running: rule 11.
    Resumed,
    /// A new epoch began, after a restore from a backup.
    EpochBegan {
        /// The epoch.
        epoch: Epoch,
    },
}

impl Event {
    /// The claim it is about, if it is about one.
    pub fn claim(&self) -> Option<ClaimId> {
        match self {
            Self::Registered { claim, .. }
            | Self::Activated { claim, .. }
            | Self::Seen { claim, .. }
            | Self::Called { claim, .. }
            | Self::CalledOff { claim }
            | Self::PassedOver { claim }
            | Self::Renewed { claim, .. }
            | Self::Ended { claim, .. }
            | Self::Appointed { claim, .. } => Some(*claim),
            Self::Forgotten { .. } | Self::Resumed | Self::EpochBegan { .. } => None,
        }
    }
}
