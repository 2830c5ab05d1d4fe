//! One party's wish to hold one or several resources, and how far it got.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::identity::{ClaimId, Fence, KeyHash};
use crate::state::Seat;
use crate::terms::{Data, Limit, Resources, Ttl};
use crate::time::{Stamp, Timestamp};

/// The status of a claim, in the order of its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// In the queue.
    Waiting,
    /// Holding its resources.
    Active,
    /// Given back by its holder.
    Released,
    /// Its lease ran out, or nobody had seen it waiting for too long.
    Expired,
    /// Given up by a client that is failing.
    Aborted,
    /// Taken away by an administrator.
    Revoked,
    /// Given up while waiting.
    Withdrawn,
}

/// How a claim ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Ending {
    /// See [`Status::Released`].
    Released,
    /// See [`Status::Expired`].
    Expired,
    /// See [`Status::Aborted`].
    Aborted,
    /// See [`Status::Revoked`].
    Revoked,
    /// See [`Status::Withdrawn`].
    Withdrawn,
}

impl From<Ending> for Status {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Released => Self::Released,
            Ending::Expired => Self::Expired,
            Ending::Aborted => Self::Aborted,
            Ending::Revoked => Self::Revoked,
            Ending::Withdrawn => Self::Withdrawn,
        }
    }
}

impl Status {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 7] = [
        Self::Waiting,
        Self::Active,
        Self::Released,
        Self::Expired,
        Self::Aborted,
        Self::Revoked,
        Self::Withdrawn,
    ];

    /// The name every face uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Active => "active",
            Self::Released => "released",
            Self::Expired => "expired",
            Self::Aborted => "aborted",
            Self::Revoked => "revoked",
            Self::Withdrawn => "withdrawn",
        }
    }
}

impl core::fmt::Display for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a claimant registers. Equal registrations under one key are the same claim: rule 10.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Registration {
    /// Proves that the claim is yours.
    pub key: KeyHash,
    /// What is wanted, all or nothing.
    pub resources: Resources,
    /// How many may hold together.
    pub limit: Limit,
    /// How long the lease lasts without renewal.
    pub ttl: Ttl,
    /// What others may see.
    pub data: Option<Data>,
}

/// A claim as the store knows it. It is written down as a [`Record`](crate::Record).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its number, and its place in every queue it stands in.
    pub id: ClaimId,
    /// The hash of its key.
    pub key: KeyHash,
    /// What it is for.
    pub resources: Resources,
    /// How many may hold together.
    pub limit: Limit,
    /// The ttl it was registered with.
    pub ttl: Ttl,
    /// When it was registered.
    pub created: Stamp,
    /// How far it got.
    pub phase: Phase,
    /// Seldom there, so kept apart: a million held claims must stay small.
    pub(crate) extras: Option<Box<Extras>>,
    /// Where its resources are, while it is live and in a state. Not a part of what it is.
    pub(crate) seat: Seat,
}

/// What only some claims have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Extras {
    pub(crate) data: Option<Data>,
    pub(crate) keepers: Vec<KeyHash>,
}

/// The life of a claim, with what is known in each part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// In the queue of each of its resources.
    Waiting(Turn),
    /// Holding each of its resources.
    Active(Active),
    /// Over; kept for its history, apart: what is live should be small.
    Ended(Box<Ended>),
}

/// Whose turn it is: rule 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Turn {
    /// Not yet.
    InLine,
    /// Its resources are free for it, and are kept for it until then.
    Called {
        /// When the next one may go ahead.
        until: Timestamp,
    },
    /// It did not come when called. Later waiters may go ahead; it keeps its place, and is in line
    /// again as soon as it asks.
    PassedOver,
}

/// What is known of a holder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Active {
    /// When and under which fence it became a holder.
    pub activation: Activation,
    /// The lease as last renewed.
    pub ttl: Ttl,
    /// When the lease runs out.
    pub deadline: Timestamp,
    /// Whether a restart gave it its ttl again and it has not renewed since. That is given once.
    pub graced: bool,
}

/// The moment a claim became a holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Activation {
    /// Its fence.
    pub fence: Fence,
    /// When.
    pub since: Stamp,
}

/// What is kept of a claim that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ended {
    /// How it ended.
    pub ending: Ending,
    /// When it ended.
    pub at: Stamp,
    /// Its time as a holder, if it ever was one.
    pub activation: Option<Activation>,
}

impl Claim {
    /// A claim that has just joined its queues.
    pub(crate) fn registered(id: ClaimId, registration: Registration, created: Stamp) -> Self {
        let Registration { key, resources, limit, ttl, data } = registration;
        let phase = Phase::Waiting(Turn::InLine);
        let extras = data.map(|data| Box::new(Extras { data: Some(data), keepers: Vec::new() }));
        let seat = Seat::NONE;
        Self { id, key, resources, limit, ttl, created, phase, extras, seat }
    }

    /// Its status.
    pub fn status(&self) -> Status {
        match &self.phase {
            Phase::Waiting(_) => Status::Waiting,
            Phase::Active(_) => Status::Active,
            Phase::Ended(ended) => ended.ending.into(),
        }
    }

    /// When and under which fence it became a holder, if it did.
    pub fn activation(&self) -> Option<Activation> {
        match &self.phase {
            Phase::Waiting(_) => None,
            Phase::Active(active) => Some(active.activation),
            Phase::Ended(ended) => ended.activation,
        }
    }

    /// The user data it was registered with.
    pub fn data(&self) -> Option<&Data> {
        self.extras.as_ref()?.data.as_ref()
    }

    /// The keys that may renew it and nothing else.
    pub fn keepers(&self) -> &[KeyHash] {
        self.extras.as_ref().map_or(&[], |extras| &extras.keepers)
    }

    /// Whether this is the claim that `registration` would make: rule 10.
    pub(crate) fn is_registered_as(&self, registration: &Registration) -> bool {
        self.key == registration.key
            && self.resources == registration.resources
            && self.limit == registration.limit
            && self.ttl == registration.ttl
            && self.data() == registration.data.as_ref()
    }
}
