//! Records of etcd and buckets, and rows of databases.

use registry::StoreError;
use registry::fuzzing::{record, row_of_claim, row_of_events};

use crate::source::Source;

/// The first byte says what it is: a record as it is, one whose checksum is made right, a claim or
/// events of a database.
pub(crate) fn run(input: &[u8]) {
    let mut source = Source::new(input);
    let kind = source.below(4);
    let bytes = source.rest();
    match kind {
        0 => {
            read(bytes);
        }
        1 => {
            let mut sealed = b"tnrd\x01".to_vec();
            sealed.extend(crc32c::crc32c(bytes).to_le_bytes());
            sealed.extend(bytes);
            read(&sealed);
        }
        2 => {
            let _ = row_of_claim(bytes).map(|claim| format!("{claim:?}"));
        }
        _ => {
            let _ = row_of_events(bytes).map(|events| format!("{events:?}"));
        }
    }
}

/// It is refused as damaged, or says the same when it is written again.
fn read(bytes: &[u8]) {
    match record(bytes) {
        Ok(again) => assert_eq!(record(&again).as_ref(), Ok(&again)),
        Err(error) => assert!(matches!(error, StoreError::Corrupt(_)), "{error}"),
    }
}
