//! Locks on stores that were not made for locking.
//!
//! [`last_writer`] makes one from get and put alone: collisions are rare, not impossible, and
//! [`measure`] says how rare. [`unique_create`] makes one from whatever creates a name only once: a
//! file, an object, a service in a reservation. [`fenced`] keeps late writers out of an object.
//! [`Makeshift`] is all of them behind one address.
#![forbid(unsafe_code)]

pub mod clock;
mod fault;
mod place;

pub mod fenced;
pub mod last_writer;
pub mod measure;
pub mod unique_create;

mod claimed;
mod face;

pub use self::claimed::{Claimed, Ended, say_loss};
pub use self::face::{Capabilities, Guarantee, Makeshift, NotClaimed, Wish};
pub use self::fault::Fault;
pub use self::place::Place;
