//! A drawer: everything about one resource, as bytes.

use claims::observed::Written;
use claims::{ClaimId, Event, Timestamp, WallTime};
use serde::{Deserialize, Serialize};

use super::cabinet::Key;
use crate::error::StoreError;

/// What every drawer begins with; the last byte is the version of the format.
const MAGIC: [u8; 5] = *b"tnrd\x01";
/// The magic, and the checksum of what follows.
const HEAD: usize = MAGIC.len() + 4;

/// What is kept of one resource (or of a few with the same hash).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Drawer {
    /// New with every swap, so that no two contents are ever the same bytes: some stores tell
    /// contents apart by a hash of them.
    pub(crate) nonce: [u8; 16],
    /// How often it has been swapped.
    pub(crate) swaps: u64,
    /// The place of its youngest claim in the order of all claims.
    pub(crate) sequence: u64,
    /// Above every fence that was ever given here.
    pub(crate) next_fence: u64,
    /// The claims whose first resource is here: those that are over first, in the order they ended.
    pub(crate) claims: Vec<Written>,
    /// Live claims that want something here and are kept in another drawer.
    pub(crate) guests: Vec<(ClaimId, String)>,
    /// What the last swap did.
    pub(crate) happened: Happened,
}

/// The events of one swap.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Happened {
    /// When, on the timeline of whoever swapped.
    pub(crate) at: Timestamp,
    pub(crate) wall: WallTime,
    pub(crate) events: Vec<Event>,
}

impl Drawer {
    pub(crate) fn write(&self) -> Vec<u8> {
        let body = postcard::to_stdvec(self).expect("a drawer can always be encoded");
        let mut bytes = Vec::with_capacity(HEAD + body.len());
        bytes.extend(MAGIC);
        bytes.extend(crc32c::crc32c(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    pub(crate) fn read(key: &Key, bytes: &[u8]) -> Result<Self, StoreError> {
        let damaged = |why: &str| StoreError::Corrupt(format!("the record of {key:?} {why}"));
        let (head, body) = bytes.split_at_checked(HEAD).ok_or_else(|| damaged("is cut off"))?;
        let (magic, sum) = head.split_at(MAGIC.len());
        if magic[..MAGIC.len() - 1] != MAGIC[..MAGIC.len() - 1] {
            return Err(damaged("was not written by Tenure: give Tenure a prefix of its own"));
        }
        if magic != MAGIC {
            return Err(damaged("is of a newer format: use a newer Tenure"));
        }
        if sum != crc32c::crc32c(body).to_le_bytes() {
            return Err(damaged("is damaged: its checksum is wrong"));
        }
        postcard::from_bytes(body).map_err(|_| damaged("is damaged: it cannot be decoded"))
    }

    /// Whether it holds the same claims and counters: not how it came to that.
    pub(crate) fn says_the_same_as(&self, other: &Self) -> bool {
        (self.sequence, self.next_fence) == (other.sequence, other.next_fence)
            && self.claims == other.claims
            && self.guests == other.guests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_missing_end_is_found() {
        let drawer = Drawer { nonce: [7; 16], sequence: 5, ..Drawer::default() };
        let bytes = drawer.write();
        let key = Key::from("r");
        assert_eq!(Drawer::read(&key, &bytes), Ok(drawer));
        for bit in 0..bytes.len() * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let error = Drawer::read(&key, &bad).expect_err("one bit is wrong");
            assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
        }
        for end in 0..bytes.len() {
            Drawer::read(&key, &bytes[..end]).expect_err("it is cut off");
        }
    }
}
