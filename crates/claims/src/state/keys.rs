//! Which claim has which key.

use hashbrown::HashTable;

use crate::identity::{ClaimId, KeyHash};

/// Finds claims by their keys. The keys are in the claims; here is only where to look.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys(HashTable<Entry>);

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
    pub(crate) fn reserve(&mut self, more: usize) {
        self.0.reserve(more, Entry::hash);
    }

    pub(crate) fn insert(&mut self, key: &KeyHash, id: ClaimId) {
        self.0.insert_unique(spread(key.word()), Entry::new(key, id), Entry::hash);
    }

    /// The claim with this key, where `key_of` tells the key of a claim.
    pub(crate) fn find<'a>(
        &self,
        key: &KeyHash,
        key_of: impl Fn(ClaimId) -> &'a KeyHash,
    ) -> Option<ClaimId> {
        let word = key.word();
        let is_it = |entry: &Entry| entry.word == word && key_of(entry.id()) == key;
        self.0.find(spread(word), is_it).map(Entry::id)
    }

    /// Reads what looking for this key will need, and nothing comes of it.
    pub(crate) fn touch(&self, key: &KeyHash) -> u64 {
        let word = key.word();
        self.0.find(spread(word), |entry| entry.word == word).map_or(0, |entry| entry.id().0)
    }

    /// Forgets a claim.
    pub(crate) fn remove(&mut self, key: &KeyHash, id: ClaimId) {
        let entry = self.0.find_entry(spread(key.word()), |entry| entry.id() == id);
        entry.expect("every claim is found by its key").remove();
    }
}
