//! A lease in a plain blob: the last writer wins.
//!
//! Works together with processes of mops that share a directory or a container: the same path, the
//! same JSON, the same order of decisions. The rules are in [`claims::contest`]; here is the store.
//!
//! Where the store can refuse a put because the object has changed (every bucket can, a directory
//! cannot), every write of ours is such a put. Nobody notices, and a delayed write of ours does not
//! land at all.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use claims::Span;
//! use claims::contest::{Ending, Terms};
//! use makeshift::Place;
//! use makeshift::last_writer::LastWriter;
//!
//! let terms = Terms::new(Span::from_secs(30), Span::from_millis(300))?;
//! let lock = LastWriter::new(Place::open("memory:///")?, "nightly/lock", terms)?;
//! let lease = lock.acquire().await?;
//! // Hand `lease.writer()` to a remote, and work.
//! assert_eq!(lease.release().await, Ending::Released);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blob;
mod directory;
mod lease_file;
mod status;

mod acquire;
mod lease;

pub use self::acquire::{LastWriter, NotHeld, Unless};
pub(crate) use self::blob::measured_put;
pub use self::lease::Lease;
pub(crate) use self::lease_file::host_name;
#[doc(hidden)]
pub use self::lease_file::{read as read_lease, write as write_lease};
pub use self::status::{LeaseReport, LeaseState, list, look, wipe};

/// The name of the lease file in its directory.
pub const LEASE_FILE: &str = "lock.json";
/// The directory of the lease under what it protects.
pub const LEASE_DIRECTORY: &str = "lock";
