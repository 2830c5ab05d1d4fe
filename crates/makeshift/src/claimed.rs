//! A lock that is ours, of whichever kind.

use std::time::Duration;

use claims::Timestamp;
use claims::contest::{Ending, Loss};

use crate::last_writer::Lease;
use crate::unique_create::{Held, Lost, Unreleased};

/// A lock that is ours.
#[derive(Debug)]
pub enum Claimed {
    /// A lease in a blob.
    Lease(Lease),
    /// A name.
    Held(Held),
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// We gave it back.
    Released,
    /// The store did not say so. Where there are leases it ends by itself.
    Unreleased,
    /// It was not ours any more. Why, for people.
    Lost(String),
}

impl Claimed {
    /// A number greater than that of every holder before, where the store can give one.
    pub fn fence(&self) -> Option<u64> {
        match self {
            Self::Lease(_) => None,
            Self::Held(held) => held.fence(),
        }
    }

    /// Until when it may be believed in, by the boot-time clock, if nothing more is heard.
    pub fn deadline(&self) -> Timestamp {
        match self {
            Self::Lease(lease) => lease.deadline(),
            Self::Held(held) => held.deadline(),
        }
    }

    /// For how long it may still be believed in.
    pub fn valid_for(&self) -> Duration {
        match self {
            Self::Lease(lease) => lease.valid_for(),
            Self::Held(held) => held.valid_for(),
        }
    }

    /// Waits until it is lost, and says how, for people. Never returns while all is well.
    pub async fn lost(&self) -> String {
        match self {
            Self::Lease(lease) => say_loss(&lease.lost().await),
            Self::Held(held) => say_lost(&held.lost().await),
        }
    }

    /// Gives it back if it is still ours, and says how it ended.
    pub async fn release(self) -> Ended {
        match self {
            Self::Lease(lease) => match lease.release().await {
                Ending::Released | Ending::Left => Ended::Released,
                Ending::Unreleased => Ended::Unreleased,
                Ending::Lost(loss) => Ended::Lost(say_loss(&loss)),
            },
            Self::Held(held) => match held.release().await {
                Ok(()) => Ended::Released,
                Err(Unreleased::NoAnswer) => Ended::Unreleased,
                Err(Unreleased::Lost(lost)) => Ended::Lost(say_lost(&lost)),
            },
        }
    }
}

/// How a lease was lost, for people.
pub fn say_loss(loss: &Loss) -> String {
    match loss {
        Loss::TakenBy(Some(writer)) => format!("it was taken by {writer}"),
        Loss::TakenBy(None) => "it was taken by somebody unknown".into(),
        Loss::Released => "it was released by somebody else".into(),
        Loss::Gone => "the lease file is gone".into(),
        Loss::Expired => "it could not be refreshed in time".into(),
    }
}

fn say_lost(lost: &Lost) -> String {
    match lost {
        Lost::Taken(Some(owner)) => format!("it was taken by {owner}"),
        Lost::Taken(None) => "it was removed by somebody else".into(),
        Lost::Expired => "it could not be renewed in time".into(),
    }
}
