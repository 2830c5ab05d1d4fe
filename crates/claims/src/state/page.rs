//! The claims of a page: a thousand neighbours, by their ids.

use alloc::vec::Vec;
use core::ops::Range;

use super::word::{Word, split};
use crate::identity::ClaimId;

/// Words in a page: a list of a thousand pages, for a million claims, takes 64 kilobytes.
const WORDS: usize = 16;

/// Aligned, so that it is in one line of the cache.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Page<T, B> {
    /// In order. Who leaves, leaves the place behind, until every other one is like that: so a row is
    /// moved once for many who leave.
    pub(super) row: Vec<Place<T>>,
    /// What is known of each of them besides, in the same order: small, so that many are near. What is said of
    /// nobody means nothing.
    pub(super) beside: Vec<B>,
    /// Where in the page the row begins, if each place in it is for the next id.
    pub(super) first: Option<u16>,
    /// How many places of the row nobody has.
    gone: u16,
}

/// Aligned, so that what is there begins with a line of the cache and takes no more of them than it must.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Place<T>(pub(super) Option<T>);

/// Which ids of a page have a place in its row.
#[derive(Debug, Clone, Default)]
pub(super) struct Placed([Word; WORDS]);

/// The number of an id's page, and its place in there.
pub(super) fn leaf(id: ClaimId) -> (u64, u16) {
    const IDS: u64 = 64 * WORDS as u64;
    (id.0 / IDS, (id.0 % IDS) as u16)
}

impl<T, B: Copy + Default> Page<T, B> {
    pub(super) fn empty() -> Self {
        Self { row: Vec::with_capacity(1), beside: Vec::with_capacity(1), first: None, gone: 0 }
    }

    pub(super) fn insert(&mut self, place: u16, (new, beside): (T, B), placed: &mut Placed) {
        match self.first {
            _ if self.row.is_empty() => self.first = Some(place),
            Some(first) => self.leave_places(first + self.row.len() as u16..place, placed),
            None => {}
        }
        let next = self.first.map(|first| usize::from(first) + self.row.len());
        let comes_next = next == Some(usize::from(place));
        let found = if comes_next { Err(self.row.len()) } else { placed.find(place) };
        match found {
            Ok(at) => {
                let before = self.row[at].0.replace(new);
                assert!(before.is_none(), "claim ids are never given twice");
                self.beside[at] = beside;
                self.gone -= 1;
            }
            Err(at) => {
                self.first = self.first.filter(|_| comes_next);
                placed.set(place);
                self.row.insert(at, Place(Some(new)));
                self.beside.insert(at, beside);
            }
        }
    }

    /// Leaves places for ids that are passed over, unless they are too many: after a restart those who
    /// are forgotten are missing, and the others are still where their ids say.
    fn leave_places(&mut self, passed_over: Range<u16>, placed: &mut Placed) {
        let gone = usize::from(self.gone) + passed_over.len();
        if gone * 2 <= self.row.len() + passed_over.len() {
            for place in passed_over {
                placed.set(place);
                self.row.push(Place(None));
                self.beside.push(B::default());
                self.gone += 1;
            }
        }
    }

    /// Takes out who is there.
    pub(super) fn remove(&mut self, at: usize, placed: &mut Placed) -> Option<T> {
        let leaves = self.row.get_mut(at)?.0.take()?;
        self.gone += 1;
        if usize::from(self.gone) * 2 > self.row.len() {
            self.close_up(placed);
        }
        Some(leaves)
    }

    /// Takes the places away that nobody has. Memory follows what is live.
    fn close_up(&mut self, placed: &mut Placed) {
        let mut there = self.row.iter().map(|place| place.0.is_some());
        for word in &mut placed.0 {
            word.retain(|| there.next().expect("every place is in the row"));
        }
        let mut there = self.row.iter().map(|place| place.0.is_some());
        self.beside.retain(|_| there.next().expect("there is something beside every place"));
        self.row.retain(|place| place.0.is_some());
        self.beside.shrink_to_fit();
        self.row.shrink_to_fit();
        (self.first, self.gone) = (None, 0);
    }
}

impl Placed {
    /// Where in the row the place is, or belongs.
    pub(super) fn find(&self, place: u16) -> Result<usize, usize> {
        let (nth, bit) = split(ClaimId(place.into()));
        let (before, rest) = self.0.split_at(nth as usize);
        let before: u32 = before.iter().map(|word| word.len()).sum();
        let at = (before + rest[0].before(bit)) as usize;
        if rest[0].has(bit) { Ok(at) } else { Err(at) }
    }

    fn set(&mut self, place: u16) {
        let (nth, bit) = split(ClaimId(place.into()));
        self.0[nth as usize].set(bit, true);
    }
}
