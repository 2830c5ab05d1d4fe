//! Hold a shared thing safely: across processes, machines and languages.
//!
//! A *claim* is your wish to hold a *resource*, which is only a name. A lock server (`tenure serve`)
//! serves claims strictly in turn. What you get is a *lease*: it is renewed in the background while you
//! hold it, and ends by itself if your program dies.
//!
//! ```
//! # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/house/mod.rs")); }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let house = house::House::open();
//! # let url = house.url();
//! use tenure::LockManager;
//!
//! let manager = LockManager::connect(&url)?; // such as http://127.0.0.1:7117
//! let claim = manager.claim("printer").await?;
//! claim.check()?; // before each effect: is it still ours?
//! println!("printing, fence {:?}", claim.fence());
//! claim.release().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Without async, the same:
//!
//! ```
//! # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/house/mod.rs")); }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let house = house::House::open();
//! # let url = house.url();
//! use tenure::blocking::LockManager;
//!
//! let manager = LockManager::connect(&url)?;
//! let claim = manager.claim("printer").get()?;
//! claim.check()?;
//! claim.release()?;
//! # Ok(())
//! # }
//! ```
//!
//! # What can be said of a claim
//!
//! How long it may take, how long the lease lasts, who may hold with it, and what others may see:
//!
//! ```
//! # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/house/mod.rs")); }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let house = house::House::open();
//! # let manager = tenure::LockManager::connect(&house.url())?;
//! use std::time::Duration;
//! use tenure::ClaimError;
//!
//! let writer = manager
//!     .claim("book")
//!     .ttl(Duration::from_secs(20))
//!     .timeout(Duration::from_secs(5))
//!     .data(r#"{"host": "a", "pid": 17}"#)
//!     .await?;
//! // Somebody who does not want to wait:
//! let error = manager.try_claim("book").await.unwrap_err();
//! assert!(matches!(error, ClaimError::Busy { .. }));
//! drop(writer); // gives it back, without waiting for the server
//!
//! // Any number of readers; three in a room; both shoes or none:
//! let reader = manager.claim("book").shared().await?;
//! let seat = manager.claim("room").limit(3).await?;
//! let shoes = manager.claim_all(["left shoe", "right shoe"]).await?;
//! # drop((reader, seat, shoes));
//! # Ok(())
//! # }
//! ```
//!
//! ```
//! # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/house/mod.rs")); }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let house = house::House::open();
//! # let manager = tenure::blocking::LockManager::connect(&house.url())?;
//! use std::time::Duration;
//!
//! let writer = manager.claim("book").ttl(Duration::from_secs(20)).data("[17]").get()?;
//! assert!(manager.try_claim("book").get().is_err());
//! drop(writer);
//!
//! let reader = manager.claim("book").timeout(Duration::from_secs(5)).shared().get()?;
//! let seat = manager.claim("room").limit(3).get()?;
//! let shoes = manager.claim_all(["left shoe", "right shoe"]).get()?;
//! # drop((reader, seat, shoes));
//! # Ok(())
//! # }
//! ```
//!
//! # While it is held
//!
//! A lease can be lost: an administrator revokes it, or the server cannot be reached for longer than the
//! ttl. [`Claim::lost`] is there to select on, [`Claim::check`] to ask, [`Claim::valid_for`] says how
//! long it is certain. The deadline is counted from before the request was sent, on a clock that counts
//! sleep and that nobody can set, minus a margin: when it passes, the claim is lost here before the
//! server gives it to somebody else. Between a renewal that is not confirmed and that deadline the lease
//! is [`Unknown`](Lease::Unknown).
//!
//! ```
//! # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/house/mod.rs")); }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let house = house::House::open();
//! # let manager = tenure::LockManager::connect(&house.url())?;
//! # async fn work() {}
//! use std::time::Duration;
//! use tenure::Lease;
//!
//! let claim = manager.claim("printer").await?;
//! tokio::select! {
//!     () = work() => {}
//!     loss = claim.lost() => panic!("stop at once: {loss}"),
//! }
//! claim.refresh(Duration::from_secs(600)).await?; // a long breath before a long step
//! match claim.lease() {
//!     Lease::Held(left) => assert!(left > Duration::from_secs(300)),
//!     Lease::Unknown(left) => println!("the server is silent; still ours for {left:?}"),
//!     Lease::Lost(loss) => panic!("{loss}"),
//! }
//!
//! // Somebody else may renew it, and nothing else:
//! let token = claim.keeper().await?;
//! manager.keeper(&token).renew(Duration::from_secs(600)).await?;
//! # Ok(())
//! # }
//! ```
//!
//! ```
//! # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/house/mod.rs")); }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let house = house::House::open();
//! # let manager = tenure::blocking::LockManager::connect(&house.url())?;
//! use std::time::Duration;
//!
//! let claim = manager.claim("printer").get()?;
//! claim.refresh(Duration::from_secs(600))?;
//! assert!(claim.valid_for() > Duration::from_secs(300));
//! let token = claim.keeper()?;
//! manager.renew_as_keeper(&token, Duration::from_secs(600))?;
//! # Ok(())
//! # }
//! ```
//!
//! # Without a lock server
//!
//! With the features `sqlite`, `postgres` and `mysql` (on by default) the address may be that of a database:
//! `sqlite:/path/claims.db`, `postgres://…` or `mysql://…`. Claims there can do everything, and whoever
//! comes through a server over the same database contends with them.
//!
//! ```
//! # #[cfg(feature = "sqlite")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let url = format!("sqlite:{}/claims.db", directory.path().display());
//! use tenure::LockManager;
//!
//! let manager = LockManager::connect(&url)?; // such as sqlite:/var/lib/jobs/claims.db
//! let claim = manager.claim("nightly").await?;
//! assert!(manager.try_claim("nightly").await.is_err());
//! claim.release().await?;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "sqlite"))]
//! # fn main() {}
//! ```
//!
//! With the feature `makeshift` (on by default) the address may be that of a store: `mops+file:///dir`,
//! `mops+s3://…`, `create+file:///dir`, `create+s3://…` (`az` and `gs` too) or
//! `cloudshell://user@host:port/RESERVATION`. Such places can do less, and
//! [`capabilities`](LockManager::capabilities) says what; asking for more is
//! [`ClaimError::Unable`].
//!
//! ```
//! # #[cfg(feature = "makeshift")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let url = format!("create+file://{}/locks", directory.path().display());
//! use tenure::{ClaimError, Guarantee, LockManager};
//!
//! let manager = LockManager::connect(&url)?; // such as create+file:///var/lib/jobs/locks
//! assert_eq!(manager.capabilities().guarantee, Guarantee::OneHolder);
//! let claim = manager.claim("nightly").await?;
//! println!("ours, fence {:?}", claim.fence());
//! let refusal = manager.claim("nightly").shared().await.unwrap_err();
//! assert!(matches!(refusal, ClaimError::Unable { .. }));
//! claim.release().await?;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "makeshift"))]
//! # fn main() {}
//! ```
//!
//! # Data servers
//!
//! [`datasets`] locks sets of datasets, shared or exclusive, in this process or among several, and
//! queues what is done with them in the background.
//!
//! # What else is true
//!
//! * Each manager has one thread of its own. It renews whatever the program does meanwhile, and works
//!   without an async runtime or with any.
//! * Dropping a claim that is being made leaves the queue. Dropping a claim gives it back; the last
//!   manager or claim to go waits up to a second until that has reached the server.
//! * After `fork` the child has no claims: there a guard neither renews nor releases, and
//!   [`check`](Claim::check) says so.
//! * Nothing is left behind: a request whose answer was lost is cleared away later.
#![forbid(unsafe_code)]

mod capabilities;
mod claim;
mod claiming;
mod clock;
#[cfg(feature = "store")]
mod direct;
mod error;
mod exchange;
mod keeper;
mod key;
mod manager;
mod news;
mod place;
mod planted;
mod wish;

pub mod blocking;
pub mod datasets;
pub mod driver;
pub mod keychain;

pub use self::capabilities::{Capabilities, Guarantee};
pub use self::claim::{Claim, Lease};
pub use self::claiming::Claiming;
pub use self::driver::{Loss, Problem};
pub use self::error::{ClaimError, RefreshError, ReleaseError};
pub use self::keeper::Keeper;
pub use self::key::Key;
pub use self::manager::{Connecting, LockManager};
pub use self::place::{ConnectError, Place};
pub use self::wish::{NotJson, Wish};
