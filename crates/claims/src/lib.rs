//! The rules of a claim.
//!
//! Programs share things. A *claim* is one party's wish to hold one or several *resources*; this
//! crate decides who holds what, in which order, until when, and under which *fence*. It is pure:
//! no clock, no randomness, no I/O. Time, keys and presence come in, events and answers go out, so
//! the same code runs in a server, over a database, in a simulator and in a proof.
//!
//! Read in this order: [`Claim`], [`Command`], [`Event`], then [`engine`]; the client's side
//! of it is [`claimant`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod claim;
mod identity;
mod terms;
mod time;

mod command;
mod event;
mod permission;
mod record;
mod refusal;
mod rules;

mod state;

pub mod claimant;
pub mod clock;
pub mod contest;
pub mod datasets;
pub mod engine;
pub mod observed;
pub mod planted;
#[cfg(feature = "wire")]
pub mod wire;

pub use self::claim::{
    Activation, Active, Claim, Ended, Ending, Phase, Registration, Status, Turn,
};
pub use self::command::{Command, Farewell, Owner};
pub use self::event::Event;
pub use self::identity::{ClaimId, Epoch, Fence, KeyHash};
pub use self::permission::{BadGrant, Grant, Grants, Verb};
pub use self::record::{Record, Seen};
pub use self::refusal::Refusal;
pub use self::rules::Rules;
pub use self::state::{Counters, Place, Standing, State, Tally};
pub use self::terms::{
    DATA_BYTES_MAX, Data, Limit, NAME_BYTES_MAX, Name, RESOURCES_MAX, Resources, TTL_MAX, Ttl,
};
pub use self::time::{Span, Stamp, Timestamp, WallTime};
