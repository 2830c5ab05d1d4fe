//! A queue of claims in order of arrival, in which everything is cheap.
//!
//! **Problem.** A queue may have a million waiters. Joining, leaving from the middle, "who is next"
//! and "what is my place" must all cost about the same as with ten.
//!
//! **Why the obvious fails.** A `VecDeque` needs a scan to cancel; a `BTreeSet` cannot tell a place
//! without counting everybody in front.
//!
//! **Idea.** Ids rise with arrival, so the queue is a sorted sequence. Keep it in chunks: a place is
//! the sum of a few hundred chunk lengths plus one binary search, and nothing longer than a chunk is
//! ever moved.

use alloc::collections::VecDeque;

use crate::identity::ClaimId;

const CHUNK: usize = 1024;

/// A sorted sequence of claim ids. No chunk is empty but the only one: a line that empties keeps its
/// memory for the next claim.
#[derive(Debug, Default, Clone)]
pub(crate) struct Line {
    chunks: VecDeque<VecDeque<ClaimId>>,
    /// What is known of each chunk without going there: the search and the sum stay in a few
    /// kilobytes, however long the line is.
    heads: VecDeque<Head>,
    len: usize,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    /// The first in the chunk; of an empty one, the last that was first.
    first: ClaimId,
    len: usize,
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

    pub(crate) fn iter(&self) -> impl Iterator<Item = ClaimId> + '_ {
        self.chunks.iter().flatten().copied()
    }

    pub(crate) fn last(&self) -> Option<ClaimId> {
        self.chunks.back()?.back().copied()
    }

    /// How many stand before `id`, whether or not it is in line itself.
    pub(crate) fn before(&self, id: ClaimId) -> usize {
        let nth = self.chunk_of(id);
        let in_front: usize = self.heads.range(..nth).map(|head| head.len).sum();
        in_front + self.chunks.get(nth).map_or(0, |chunk| chunk.partition_point(|&at| at < id))
    }

    /// Joins at its place: the end for a newcomer, further ahead for one that comes back.
    pub(crate) fn insert(&mut self, id: ClaimId) {
        self.len += 1;
        let nth = self.chunk_of(id);
        let Some(chunk) = self.chunks.get_mut(nth) else {
            return self.add_chunk(nth, VecDeque::from([id]));
        };
        let place = chunk.partition_point(|&at| at < id);
        debug_assert_ne!(chunk.get(place), Some(&id), "a claim stands in a line once");
        if chunk.len() < CHUNK {
            chunk.insert(place, id);
        } else if place == CHUNK {
            // The usual case at the end of the line: full chunks stay full.
            self.add_chunk(nth + 1, VecDeque::from([id]));
        } else {
            let mut back = chunk.split_off(CHUNK / 2);
            let half = if place <= CHUNK / 2 { chunk } else { &mut back };
            half.insert(half.partition_point(|&at| at < id), id);
            self.add_chunk(nth + 1, back);
        }
        self.look_at(nth);
    }

    /// Leaves the line. False if it was not in it.
    pub(crate) fn remove(&mut self, id: ClaimId) -> bool {
        let nth = self.chunk_of(id);
        let Some(chunk) = self.chunks.get_mut(nth) else {
            return false;
        };
        let Ok(place) = chunk.binary_search(&id) else {
            return false;
        };
        chunk.remove(place);
        self.len -= 1;
        self.look_at(nth);
        if self.heads[nth].len == 0 && self.chunks.len() > 1 {
            self.chunks.remove(nth);
            self.heads.remove(nth);
        }
        true
    }

    /// The chunk in which `id` is or belongs: the last one that starts at or before it.
    fn chunk_of(&self, id: ClaimId) -> usize {
        self.heads.partition_point(|head| head.first <= id).saturating_sub(1)
    }

    fn add_chunk(&mut self, nth: usize, chunk: VecDeque<ClaimId>) {
        self.heads.insert(nth, Head { first: chunk[0], len: chunk.len() });
        self.chunks.insert(nth, chunk);
    }

    /// Brings the head of a changed chunk up to date.
    fn look_at(&mut self, nth: usize) {
        let (chunk, head) = (&self.chunks[nth], &mut self.heads[nth]);
        head.len = chunk.len();
        head.first = chunk.front().copied().unwrap_or(head.first);
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn line_behaves_like_a_sorted_set(steps in prop::collection::vec((0u64..5000, any::<bool>()), 0..6000)) {
            let (mut line, mut set) = (Line::default(), BTreeSet::new());
            for (id, joins) in steps {
                let id = ClaimId(id);
                if joins && set.insert(id) {
                    line.insert(id);
                } else {
                    prop_assert_eq!(line.remove(id), set.remove(&id));
                }
            }
            prop_assert_eq!(line.len(), set.len());
            prop_assert_eq!(line.iter().collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
            for probe in (0..5000).step_by(97).map(ClaimId) {
                prop_assert_eq!(line.before(probe), set.range(..probe).count());
            }
        }
    }
}
