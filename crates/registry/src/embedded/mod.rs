//! The embedded store: live state in memory, every event in a log of our own.
mod ledger;
mod medium;
mod options;
pub use self::ledger::{Batch, Chore, ChoreDone, Fatal, Ledger, Reading};
pub use self::medium::{Medium, MediumFile};
pub use self::options::{Durability, Options};
