//! Where decisions are kept.
#![forbid(unsafe_code)]

mod error;
mod store;

mod desk;
pub mod embedded;
mod memory;

#[cfg(feature = "conformance")]
pub mod conformance;
pub mod planted;

pub use self::error::StoreError;
pub use self::memory::memory;
pub use self::store::{
    Answer, Bounds, EventPage, Filter, Kept, Page, Pending, ResourceReport, Store, Vitals,
};
