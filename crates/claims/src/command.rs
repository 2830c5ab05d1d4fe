//! What may be asked of the engine.

use crate::claim::{Ending, Registration};
use crate::identity::{ClaimId, KeyHash};
use crate::terms::Ttl;

/// A request to the engine. Everything it needs to know of the asker is in here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Make a claim; it is active at once if its turn is now. Sent again, it is the same claim.
    Register(Registration),
    /// Become active if it is my turn.
    Activate(Owner),
    /// The claimant is no longer there to be granted anything: its open wait ended.
    Leave(Owner),
    /// Run the lease from now again, with this ttl or the one it has. A keeper may, too.
    Renew(Owner, Option<Ttl>),
    /// Give the claim back or up.
    End(Owner, Farewell),
    /// Let the holder of another key renew, and nothing else.
    Appoint(Owner, KeyHash),
    /// Take a claim away from its owner. The shell has made sure that an administrator asks.
    Revoke(ClaimId),
}

/// A claim and the key that the asker knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// Which claim.
    pub claim: ClaimId,
    /// The hash of the key presented.
    pub key: KeyHash,
}

/// How an owner may end its claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Farewell {
    /// Give back what it holds.
    Release,
    /// Stop, because the client is failing.
    Abort,
    /// Stop wanting it.
    Withdraw,
}

impl From<Farewell> for Ending {
    fn from(farewell: Farewell) -> Self {
        match farewell {
            Farewell::Release => Self::Released,
            Farewell::Abort => Self::Aborted,
            Farewell::Withdraw => Self::Withdrawn,
        }
    }
}
