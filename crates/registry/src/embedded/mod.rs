//! The embedded store: live state in memory, every event in a log of our own.
//!
//! From the top: [`open`] gives a [`Store`](crate::Store) that everybody can use; behind it one
//! thread drives a [`Ledger`], which is the state, the log and the snapshots as one machine without
//! threads; below it is a [`Medium`], five verbs on files. `docs/log-format.md` describes what is on
//! disk, and what recovery makes of it.
//!
//! It is written by hand, because it must decide itself what a damaged log means: two popular
//! embedded databases open without a word after one flipped bit, and acknowledged records are gone.
//! A lock that is forgotten is a lock with two holders.

mod begin;
mod chore;
mod chores;
mod damage;
mod direct;
mod directory;
mod frame;
mod identity;
mod journal;
mod ledger;
mod medium;
mod open;
mod options;
mod recovery;
mod reopening;
mod segment;
mod snapshot;
mod snapshotting;
mod space;
pub use self::chore::{Chore, ChoreDone};
pub use self::directory::{Directory, DirectoryFile};
pub use self::ledger::{Batch, Fatal, Ledger, Reading};
pub use self::medium::{Medium, MediumFile};
pub use self::open::{EXIT_DISK_FAILED, open};
pub use self::options::{Durability, Options};
