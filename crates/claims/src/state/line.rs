//! A queue of claims in order of arrival, in which everything is cheap.
//!
//! **Problem.** A queue may have a million waiters. Joining, leaving from the middle, "who is next"
//! and "what is my place" must all cost about the same as with ten.
//!
//! **Why the obvious fails.** A `VecDeque` needs a scan to cancel; a `BTreeSet` cannot tell a place
//! without counting everybody in front.
//!
//! **Idea.** Ids rise with arrival, so the queue is a sorted sequence, and mostly of neighbours: keep
//! it as [words](super::word), and those in chunks. A place is the sum of some chunk lengths, of some
//! parts of one chunk and of the words in one part, and nothing longer than a chunk is ever moved. A
//! million waiters take a few hundred kilobytes, of which a question for a place reads the counts and two
//! lines of the cache.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::word::{Word, ids_before, split};
use crate::identity::ClaimId;

/// Words in a chunk.
const CHUNK: usize = 128;
/// Words in a part of a chunk: as many as fit into a line of the cache.
const PART: usize = 4;

/// A sorted sequence of claim ids. No chunk is empty but the only one: a line that empties keeps its
/// memory for the next claim.
#[derive(Debug, Default, Clone)]
pub(crate) struct Line {
    chunks: VecDeque<Vec<Row>>,
    /// Of each chunk, the number of the first row; of an empty one, the last that was first.
    firsts: VecDeque<u64>,
    /// Of each chunk, how many claims are in it. Small and close together: all may be added up.
    lens: VecDeque<u32>,
    /// Of each part of each chunk, how many claims are in it.
    parts: VecDeque<Parts>,
    len: usize,
}

type Parts = [u16; CHUNK / PART];

/// Some of 64 neighbours: never nobody.
#[derive(Debug, Clone, Copy)]
struct Row {
    number: u64,
    there: Word,
}

impl Eq for Line {}

impl PartialEq for Line {
    /// The same claims in the same order, however they are cut into chunks.
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Line {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether it takes more than a chunk.
    pub(crate) fn is_long(&self) -> bool {
        self.chunks.len() > 1
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = ClaimId> + '_ {
        self.chunks.iter().flatten().flat_map(|row| row.there.ids(row.number))
    }

    pub(crate) fn last(&self) -> Option<ClaimId> {
        let row = self.chunks.back()?.last()?;
        row.there.last(row.number)
    }

    /// Whether `id` is in line.
    pub(crate) fn has(&self, id: ClaimId) -> bool {
        let (number, place) = split(id);
        self.row(number).is_some_and(|(_, row)| row.there.has(place))
    }

    /// How many stand before `id`, whether or not it is in line itself.
    pub(crate) fn before(&self, id: ClaimId) -> usize {
        if self.len == 0 {
            return 0;
        }
        let (number, _) = split(id);
        let nth = self.chunk_of(number);
        let in_front: u32 = self.lens.range(..nth).sum();
        let chunk = &self.chunks[nth];
        let at = place_of(chunk, self.firsts[nth], number).unwrap_or_else(|at| at);
        // Every part and every row of one part is looked at, and most count for nothing: where to stop
        // would be a guess that a processor gets wrong each time.
        let part = at / PART;
        // As short as what is added up, so that many are at once.
        let ahead = |(nth, &len): (u16, &u16)| if nth < part as u16 { len } else { 0 };
        let in_parts: u16 = (0..).zip(&self.parts[nth]).map(ahead).sum();
        let rows = chunk.iter().skip(part * PART).take(PART);
        let in_part: u32 = rows.map(|row| row.there.before(ids_before(row.number, id))).sum();
        (in_front + u32::from(in_parts) + in_part) as usize
    }

    /// Reads what joining, leaving and asking for the place of `id` will need, and nothing comes of it.
    pub(crate) fn touch(&self, id: ClaimId) -> u64 {
        let (number, _) = split(id);
        self.row(number)
            .map_or(0, |(nth, row)| u64::from(row.there.is_empty()) ^ u64::from(self.parts[nth][0]))
    }

    /// Asks for the row of `id`, if it is where its number says.
    pub(crate) fn fetch(&self, id: ClaimId) {
        let (number, _) = split(id);
        let nth = self.chunk_of(number);
        if let (Some(chunk), Some(parts)) = (self.chunks.get(nth), self.parts.get(nth)) {
            fetch::ahead(parts);
            let row = number.wrapping_sub(self.firsts[nth]) as usize;
            chunk.get(row).into_iter().for_each(fetch::ahead);
        }
    }

    /// Joins at its place: the end for a newcomer, further ahead for one that comes back.
    pub(crate) fn insert(&mut self, id: ClaimId) {
        let (number, place) = split(id);
        let nth = self.make_room(number);
        let chunk = &mut self.chunks[nth];
        let found = place_of(chunk, self.firsts[nth], number);
        let at = found.unwrap_or_else(|at| {
            chunk.insert(at, Row { number, there: Word::default() });
            at
        });
        let joins = chunk[at].there.set(place, true);
        debug_assert!(joins, "a claim stands in a line once");
        self.firsts[nth] = chunk[0].number;
        match found {
            Ok(at) => self.parts[nth][at / PART] += 1,
            // Those behind it have moved.
            Err(_) => self.parts[nth] = counted(chunk),
        }
        self.lens[nth] += 1;
        self.len += 1;
    }

    /// Leaves the line. False if it was not in it.
    pub(crate) fn remove(&mut self, id: ClaimId) -> bool {
        let (number, place) = split(id);
        let nth = self.chunk_of(number);
        let Some(chunk) = self.chunks.get_mut(nth) else {
            return false;
        };
        let Ok(at) = place_of(chunk, self.firsts[nth], number) else {
            return false;
        };
        if !chunk[at].there.set(place, false) {
            return false;
        }
        self.lens[nth] -= 1;
        self.parts[nth][at / PART] -= 1;
        self.len -= 1;
        if chunk[at].there.is_empty() {
            chunk.remove(at);
            self.firsts[nth] = chunk.first().map_or(number, |row| row.number);
            self.parts[nth] = counted(chunk);
        }
        if self.lens[nth] == 0 && self.chunks.len() > 1 {
            self.chunks.remove(nth);
            self.firsts.remove(nth);
            self.lens.remove(nth);
            self.parts.remove(nth);
        }
        true
    }

    /// The row with that number, and which chunk it is in.
    fn row(&self, number: u64) -> Option<(usize, &Row)> {
        let nth = self.chunk_of(number);
        let chunk = self.chunks.get(nth)?;
        let row = chunk.get(place_of(chunk, self.firsts[nth], number).ok()?)?;
        Some((nth, row))
    }

    /// The chunk in which a row is or belongs: the last one that starts at or before it.
    fn chunk_of(&self, number: u64) -> usize {
        // Where it is if every chunk from there to the last one is full.
        let last = self.firsts.len().saturating_sub(1);
        let back = self.firsts.back().map_or(0, |first| first.saturating_sub(number));
        let guess = last.saturating_sub(back.div_ceil(CHUNK as u64) as usize);
        let starts = |nth: usize| self.firsts.get(nth).is_some_and(|&first| first <= number);
        if starts(guess) && !starts(guess + 1) {
            return guess;
        }
        self.firsts.partition_point(|&first| first <= number).saturating_sub(1)
    }

    /// The chunk in which a row is or for which there is room.
    fn make_room(&mut self, number: u64) -> usize {
        let nth = self.chunk_of(number);
        let Some(chunk) = self.chunks.get_mut(nth) else {
            self.add_chunk(nth, Vec::new(), number);
            return nth;
        };
        match chunk.last() {
            Some(last) if chunk.len() == CHUNK && last.number < number => {
                // The usual case at the end of the line: full chunks stay full.
                self.add_chunk(nth + 1, Vec::new(), number);
                nth + 1
            }
            // A row that is there needs no room.
            Some(_)
                if chunk.len() == CHUNK && place_of(chunk, self.firsts[nth], number).is_err() =>
            {
                let back = chunk.split_off(CHUNK / 2);
                let first = back[0].number;
                self.add_chunk(nth + 1, back, first);
                self.lens[nth] -= self.lens[nth + 1];
                self.parts[nth] = counted(&self.chunks[nth]);
                if first <= number { nth + 1 } else { nth }
            }
            _ => nth,
        }
    }

    fn add_chunk(&mut self, nth: usize, chunk: Vec<Row>, first: u64) {
        self.firsts.insert(nth, first);
        self.lens.insert(nth, chunk.iter().map(|row| row.there.len()).sum());
        self.parts.insert(nth, counted(&chunk));
        self.chunks.insert(nth, chunk);
    }
}

/// How many claims are in each part of a chunk.
fn counted(chunk: &[Row]) -> Parts {
    let mut parts = Parts::default();
    for (part, rows) in parts.iter_mut().zip(chunk.chunks(PART)) {
        // At most 4 times 64.
        *part = rows.iter().map(|row| row.there.len() as u16).sum();
    }
    parts
}

/// Where a row is, or where it belongs, if the first one has that number. Nearly always there is one for
/// each number since. The first is not looked at: it may be far away.
fn place_of(chunk: &[Row], first: u64, number: u64) -> Result<usize, usize> {
    let guess = number.wrapping_sub(first) as usize;
    match chunk.get(guess) {
        Some(row) if row.number == number => Ok(guess),
        _ => chunk.binary_search_by_key(&number, |row| row.number),
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// So a chunk is where its first row says, and there are no more of them than there must be.
    #[test]
    fn neighbours_who_come_one_after_the_other_fill_every_chunk() {
        let mut line = Line::default();
        let chunk = 64 * CHUNK as u64;
        (0..3 * chunk).map(ClaimId).for_each(|id| line.insert(id));
        assert!(line.chunks.iter().all(|rows| rows.len() == CHUNK));
        assert_eq!(line.firsts, [0, 1, 2].map(|nth| nth * CHUNK as u64));
    }

    proptest! {
        /// Neighbours share words; ids far apart fill many chunks.
        #[test]
        fn line_behaves_like_a_sorted_set(
            stride in prop::sample::select(&[1u64, 7, 90][..]),
            steps in prop::collection::vec((0u64..5000, any::<bool>()), 0..6000),
        ) {
            let (mut line, mut set) = (Line::default(), BTreeSet::new());
            for (nth, joins) in steps {
                let id = ClaimId(nth * stride);
                if joins && set.insert(id) {
                    line.insert(id);
                } else {
                    prop_assert_eq!(line.remove(id), set.remove(&id));
                }
            }
            prop_assert_eq!(line.len(), set.len());
            prop_assert_eq!(line.last(), set.last().copied());
            prop_assert_eq!(line.iter().collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
            for probe in (0..5000 * stride).step_by(97 * stride as usize).map(ClaimId) {
                prop_assert_eq!(line.before(probe), set.range(..probe).count());
                prop_assert_eq!(line.has(probe), set.contains(&probe));
            }
        }
    }
}
