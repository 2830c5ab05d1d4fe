//! Where decisions are kept.
#![forbid(unsafe_code)]
pub mod embedded;
mod error;
pub mod planted;
pub use self::error::StoreError;
