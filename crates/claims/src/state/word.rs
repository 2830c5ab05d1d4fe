//! Sixty-four neighbouring ids in one machine word.
//!
//! Ids are given out one after the other, so those that live at the same time, or wait in the same
//! queue, are mostly neighbours. A bit for each takes a sixty-fourth of a list of them: what must be
//! searched stays near the processor, however many there are.

use crate::identity::ClaimId;

/// Which of 64 neighbouring ids are there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Word(u64);

/// The number of an id's word, and its place in there.
pub(super) fn split(ClaimId(id): ClaimId) -> (u64, u32) {
    (id / 64, (id % 64) as u32)
}

/// How many of the 64 ids of the word with that number come before `id`.
pub(super) fn ids_before(number: u64, ClaimId(id): ClaimId) -> u32 {
    id.saturating_sub(number * 64).min(64) as u32
}

impl Word {
    pub(super) fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, place: u32) -> bool {
        self.0 >> place & 1 == 1
    }

    /// How many are there in front of a place; all of them if that is past the end.
    pub(super) fn before(self, place: u32) -> u32 {
        let in_front = u64::MAX.checked_shr(64 - place).unwrap_or(0);
        (self.0 & in_front).count_ones()
    }

    /// Changes a place. False if it was like that already.
    pub(super) fn set(&mut self, place: u32, there: bool) -> bool {
        let changes = self.has(place) != there;
        self.0 ^= u64::from(changes) << place;
        changes
    }

    /// Lets only those stay for whom `stays` says so, asked in order.
    pub(super) fn retain(&mut self, mut stays: impl FnMut() -> bool) {
        let mut left = self.0;
        while left != 0 {
            let first = left & left.wrapping_neg();
            left ^= first;
            if !stays() {
                self.0 ^= first;
            }
        }
    }

    /// The ids that are there, in order, if this is the word with that number.
    pub(super) fn ids(self, number: u64) -> impl Iterator<Item = ClaimId> {
        let mut left = self.0;
        core::iter::from_fn(move || {
            let place = (left != 0).then(|| u64::from(left.trailing_zeros()))?;
            left &= left - 1;
            Some(ClaimId(number * 64 + place))
        })
    }

    /// The last of them.
    pub(super) fn last(self, number: u64) -> Option<ClaimId> {
        let place = (self.0 != 0).then(|| u64::from(self.0.ilog2()))?;
        Some(ClaimId(number * 64 + place))
    }
}
