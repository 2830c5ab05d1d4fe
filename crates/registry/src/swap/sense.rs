//! Whether a record that was read says what can be.
//!
//! Its checksum only says that it is as it was written. What a decision relies on is looked at before
//! one is made: a record of somebody who thinks otherwise (another program, a tool, a bug) is
//! refused by name, instead of ending this program or letting two in.

use std::collections::BTreeSet;

use claims::observed::{self, Written};
use claims::{ClaimId, Fence};

use super::cabinet::{Cabinet, Key};
use super::drawer::Drawer;
use crate::error::StoreError;

/// No record is swapped more often: it would take thousands of years.
const SWAPS_MAX: u64 = 1 << 53;

impl Drawer {
    /// Refuses what no swap of ours can have left in this drawer.
    pub(crate) fn checked<C: Cabinet>(self, key: &Key, cabinet: &C) -> Result<Self, StoreError> {
        match self.what_cannot_be(key, cabinet) {
            None => Ok(self),
            Some(why) => Err(StoreError::Corrupt(format!(
                "the record of {key:?} is whole, but says what cannot be: {why}"
            ))),
        }
    }

    fn what_cannot_be<C: Cabinet>(&self, key: &Key, cabinet: &C) -> Option<&'static str> {
        if self.sequence >= C::SEQUENCES_MAX || self.swaps >= SWAPS_MAX {
            return Some("a counter is past its end");
        }
        let next_claim = cabinet.claim_id(self.sequence + 1, key);
        if !observed::can_be(&self.claims, next_claim, Fence(self.next_fence)) {
            return Some("a claim has a number that was not given out, or one that another has");
        }
        let home = |written: &Written| cabinet.drawer(&written.claim().resources.as_slice()[0]);
        if self.claims.iter().any(|written| home(written) != *key) {
            return Some("a claim is kept here that belongs elsewhere");
        }
        let here: BTreeSet<ClaimId> = self.claims.iter().map(|it| it.claim().id).collect();
        let is_guest = |(id, home): &(ClaimId, String)| **key != **home && !here.contains(id);
        if !self.guests.iter().all(is_guest) || !(C::SEVERAL || self.guests.is_empty()) {
            return Some("a guest is at home here, or cannot be one");
        }
        None
    }
}
