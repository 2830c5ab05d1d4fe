//! Which claim has which key.
//!
//! **Problem.** A key is a random number, so a new one belongs anywhere in the table. Among a million that
//! place is in memory that nobody has touched for long, and every registration would wait for it.
//!
//! **Idea.** Keep the latest keys apart, in a table so small that it is always near. When that is full all of
//! them move at once, and the processor waits for many places at the same time.

use hashbrown::HashTable;

use crate::identity::{ClaimId, KeyHash};

/// How many keys are kept apart: as many as fit into a table of 512, six kilobytes.
const LATEST_MAX: usize = 448;

/// Finds claims by their keys. The keys are in the claims; here is only where to look.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    latest: HashTable<Entry>,
    earlier: HashTable<Entry>,
}

/// An id in two halves, so that it fits in beside half a word of its key: enough to grow the table
/// without a look at every claim, and four bytes less than a whole one.
#[derive(Debug, Clone, Copy)]
struct Entry {
    id: [u32; 2],
    word: u32,
}

impl Entry {
    fn new(key: &KeyHash, ClaimId(id): ClaimId) -> Self {
        Self { id: [(id >> 32) as u32, id as u32], word: key.word() }
    }

    fn id(&self) -> ClaimId {
        ClaimId(u64::from(self.id[0]) << 32 | u64::from(self.id[1]))
    }

    /// The table looks at the top and at the bottom of a hash.
    fn hash(&self) -> u64 {
        spread(self.word)
    }
}

fn spread(word: u32) -> u64 {
    u64::from(word) << 32 | u64::from(word)
}

impl Keys {
    /// Those of so many claims.
    pub(crate) fn of<'a>(
        count: usize,
        claims: impl Iterator<Item = (&'a KeyHash, ClaimId)>,
    ) -> Self {
        let mut keys = Self { latest: HashTable::new(), earlier: HashTable::with_capacity(count) };
        for entry in claims.map(|(key, id)| Entry::new(key, id)) {
            keys.earlier.insert_unique(entry.hash(), entry, Entry::hash);
        }
        keys
    }

    pub(crate) fn insert(&mut self, key: &KeyHash, id: ClaimId) {
        if self.latest.len() == LATEST_MAX {
            self.earlier.reserve(LATEST_MAX, Entry::hash);
            for entry in self.latest.drain() {
                self.earlier.insert_unique(entry.hash(), entry, Entry::hash);
            }
        }
        let entry = Entry::new(key, id);
        self.latest.insert_unique(entry.hash(), entry, Entry::hash);
    }

    /// The claim with this key, where `key_of` tells the key of a claim.
    pub(crate) fn find<'a>(
        &self,
        key: &KeyHash,
        key_of: impl Fn(ClaimId) -> &'a KeyHash,
    ) -> Option<ClaimId> {
        let word = key.word();
        let is_it = |entry: &Entry| entry.word == word && key_of(entry.id()) == key;
        let found = self.tables().find_map(|table| table.find(spread(word), is_it));
        found.map(Entry::id)
    }

    /// Reads what looking for this key will need, and nothing comes of it.
    pub(crate) fn touch(&self, key: &KeyHash) -> u64 {
        let word = key.word();
        let found = self.earlier.find(spread(word), |entry| entry.word == word);
        found.map_or(0, |entry| entry.id().0)
    }

    /// Forgets a claim.
    pub(crate) fn remove(&mut self, key: &KeyHash, id: ClaimId) {
        let mut tables = [&mut self.earlier, &mut self.latest].into_iter();
        let is_it = |entry: &Entry| entry.id() == id;
        let entry = tables.find_map(|table| table.find_entry(spread(key.word()), is_it).ok());
        entry.expect("every claim is found by its key").remove();
    }

    fn tables(&self) -> impl Iterator<Item = &HashTable<Entry>> {
        [&self.latest, &self.earlier].into_iter()
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Some have a word in common with others, and still are different keys.
    fn key(nth: u16) -> KeyHash {
        let mut key = [0; 16];
        key[..2].copy_from_slice(&(nth % 1_000).to_le_bytes());
        key[14..].copy_from_slice(&nth.to_le_bytes());
        KeyHash(key)
    }

    proptest! {
        /// More come than are kept apart, and some go before they have moved.
        #[test]
        fn keys_behave_like_a_map(
            kept in 0..500u16,
            steps in prop::collection::vec(0..3_000u16, 0..4_000),
        ) {
            let all: alloc::vec::Vec<KeyHash> = (0..3_000).map(key).collect();
            let mut map: BTreeMap<u16, ClaimId> =
                (0..kept).map(|nth| (nth, ClaimId(nth.into()))).collect();
            let known = map.iter().map(|(&nth, &id)| (&all[usize::from(nth)], id));
            let mut keys = Keys::of(map.len(), known);
            for nth in steps {
                match map.remove(&nth) {
                    Some(id) => keys.remove(&all[usize::from(nth)], id),
                    None => {
                        keys.insert(&all[usize::from(nth)], ClaimId(nth.into()));
                        map.insert(nth, ClaimId(nth.into()));
                    }
                }
            }
            for (nth, key) in (0u16..).zip(&all) {
                let found = keys.find(key, |ClaimId(id)| &all[id as usize]);
                prop_assert_eq!(found, map.get(&nth).copied());
            }
        }
    }
}
