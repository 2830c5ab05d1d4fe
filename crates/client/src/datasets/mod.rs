//! Locks on sets of datasets, shared or exclusive, and the queue of what is done with them in the
//! background: what a data server needs.
//!
//! ```
//! use tenure::datasets::{LockManager, LockType};
//!
//! let locks = LockManager::new();
//! let reader = locks.lock([1, 2], LockType::Shared).reason("getData").get()?;
//! let putter = locks.lock([2], LockType::Shared).get()?;
//!
//! // Nobody waits unless told to. Whoever is refused is told by what.
//! let refused = locks.lock([3, 2], LockType::Exclusive).get().unwrap_err();
//! assert!(refused.to_string().contains("dataset 2 is locked SHARED by 2"));
//! assert!(locks.lock([3], LockType::Exclusive).get().is_ok()); // all or nothing
//!
//! reader.release();
//! reader.release(); // once more does nothing
//! drop(putter);
//! assert!(locks.locks().is_empty());
//! # Ok::<(), tenure::datasets::LockError>(())
//! ```
//!
//! With [`within`](Locking::within) it waits, in turn: who waits for an exclusive lock is not overtaken
//! by readers who come later. `.await` does the same as [`get`](Locking::get), without a thread asleep.
//!
//! # Several data servers
//!
//! [`LockManager::new`] keeps the locks in this process, without any I/O. With
//! [`LockManager::sharing`] they are claims on `dataset/<id>` at a lock server, and all data servers
//! that use it share them:
//!
//! ```
//! # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/house/mod.rs")); }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let house = house::House::open();
//! # let url = house.url();
//! use tenure::datasets::{LockManager, LockType};
//!
//! let (here, there) = (tenure::LockManager::connect(&url)?, tenure::LockManager::connect(&url)?);
//! let (here, there) = (LockManager::sharing(here), LockManager::sharing(there));
//! let lock = here.lock([7], LockType::Exclusive).owner("ids-1").reason("archive").get()?;
//! assert!(there.lock([7], LockType::Shared).get().unwrap_err().is_busy());
//! lock.check()?; // it is a lease there: ask before each effect
//! # Ok(())
//! # }
//! ```
//!
//! # Other programs
//!
//! A [`Storage`] is asked for each dataset when it is locked first, and told when it was released last.
//! [`FileLocks`] takes file locks that other programs see, too.
//!
//! # Which call takes which lock
//!
//! [`Call`] is the table; [`Operations`] is the queue of what is written, archived, restored and deleted
//! in the background, each under its lock.

mod distant;
mod error;
mod files;
mod held;
mod local;
mod manager;
mod operations;
mod shelf;
mod storage;
mod timer;

pub use self::error::LockError;
pub use self::files::FileLocks;
pub use self::held::Lock;
pub use self::manager::{LockManager, Locking};
pub use self::operations::{Job, Operations, Worker};
pub use self::storage::{Storage, StorageError, StorageLock};
pub use claims::Stamp;
pub use claims::datasets::{
    AlreadyLocked, Call, DatasetId, Delays, HeldFor, Holder, Item, LockLine, LockType, NotPossible,
    Note, Operation, Requested, ServiceStatus,
};

/// The present moment, as the queue of operations wants it: by the clock that leases are counted on,
/// and by the one on the wall.
pub fn now() -> Stamp {
    let at = claims::Timestamp::from_micros(crate::clock::now().as_micros());
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let wall = u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX);
    Stamp { at, wall: claims::WallTime(wall) }
}
