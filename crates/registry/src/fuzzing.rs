//! Ways in for the fuzzer: what etcd, a bucket or a database would bring, without any.

use claims::{Event, Record};

pub use crate::desk::{Alone, Moment};
use crate::error::StoreError;

/// Reads a record of etcd or a bucket, and writes it again.
pub fn record(bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
    let drawer = crate::swap::drawer::Drawer::read(&crate::swap::cabinet::Key::from("r"), bytes)?;
    Ok(drawer.write())
}

/// Reads the body of a claim in a database.
pub fn row_of_claim(body: &[u8]) -> Result<Record, String> {
    crate::sql::stored(body)
}

/// Reads the body of a batch of events in a database.
pub fn row_of_events(body: &[u8]) -> Result<Vec<Event>, String> {
    crate::sql::stored(body)
}

/// Reads the address of an etcd, and says how it is shown.
pub fn etcd_address(url: &str) -> Result<String, StoreError> {
    Ok(crate::etcd::address::Address::parse(url)?.shown)
}

/// Reads the address of a bucket or a directory, and says how it is shown.
pub fn object_address(url: &str) -> Result<String, StoreError> {
    Ok(crate::object::place::Place::parse(url)?.shown)
}
