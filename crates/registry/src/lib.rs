//! Where decisions are kept.
//!
//! A [`Store`] is a place where the rules of [`claims`] run atomically. [`memory`] keeps them for as
//! long as the process lives; [`embedded::open`] keeps them on disk, in a log of its own. Every store
//! passes the same conformance suite (feature `conformance`).
#![forbid(unsafe_code)]

mod commits;
mod error;
mod store;

mod desk;
pub mod embedded;
mod memory;
pub mod place;
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use self::sql::trial;

#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "etcd")]
pub mod etcd;
#[cfg(all(feature = "etcd", feature = "object", feature = "sql"))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(feature = "object")]
pub mod object;
pub mod planted;
#[cfg(feature = "swap")]
mod swap;

pub use self::commits::{Commits, Histogram};
pub use self::error::StoreError;
pub use self::memory::memory;
pub use self::store::{
    Answer, Bounds, EventPage, Filter, Kept, Page, Pending, ResourceReport, Store, Vitals,
};

/// The example of the README runs through the compiler like everything else.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
