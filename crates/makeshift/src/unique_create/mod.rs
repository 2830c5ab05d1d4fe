//! A lock from whatever creates a name only once: whoever creates it holds it.
//!
//! The store does the deciding ([`Names`]), so nobody has to wait and look again. What it does not
//! do is queue, and not every store can tell that a holder is dead:
//!
//! * an object ([`Objects`]) and a file ([`Files`]) carry a sign of life that the holder renews. Who
//!   has seen the same sign for a whole lease, by its own clock, takes over, and cannot take over a
//!   fresh one: objects are swapped only if unchanged, files have their generation in the name;
//! * a service in a CloudShell reservation ([`Reservation`]) cannot, so a stuck lock is reported with
//!   owner and age, and a person breaks it.

mod cloudshell;
mod file;
mod held;
mod mutex;
mod object;
mod sign;

pub use self::cloudshell::{Login, Reservation};
pub use self::file::Files;
pub use self::held::{Held, Lost, Unreleased};
pub use self::mutex::{IfNot, Mutex, NotMine, Outcome, Terms};
pub use self::object::Objects;
pub use self::sign::{Sign, Tag};

use async_trait::async_trait;

use crate::Fault;

/// Somewhere names are created once.
#[async_trait]
pub trait Names: Send + Sync {
    /// Creates the name, or says who has it. Success is to be doubted by nobody: the caller reads it
    /// back all the same.
    async fn create(&self, name: &str, tag: &Tag) -> Result<Creation, Fault>;

    /// What is there.
    async fn read(&self, name: &str) -> Result<Option<Sign>, Fault>;

    /// Removes the name, if it is still what was seen. Whether it was.
    async fn remove(&self, name: &str, seen: &Sign) -> Result<bool, Fault>;

    /// Swaps what was seen for something else, if it is still that. Only where [`Names::has_leases`].
    async fn swap(&self, _name: &str, _seen: &Sign, _tag: &Tag) -> Result<Creation, Fault> {
        Err(Fault::Unable("this store cannot swap what it has, so nothing in it can be renewed"))
    }

    /// Whether a holder can show that it is alive, and a dead one can be followed.
    fn has_leases(&self) -> bool;
}

/// What came of creating a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Creation {
    /// It is ours.
    Created(Sign),
    /// Somebody has it. Who, if the store says so.
    Taken(Option<Sign>),
}
