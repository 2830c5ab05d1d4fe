//! What is left when the power comes back, and bits that flip while nobody looks.

use super::file::Inode;
use super::{Disk, Platter};

/// A flipped bit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flip {
    inode: Inode,
    offset: usize,
    /// What the byte was and what it is.
    was: u8,
    is: u8,
}

impl Disk {
    /// Everything that was not synced is kept, lost or torn, each block by its own luck; of the
    /// changes to names, the first few are kept.
    pub fn lose_power(&self) {
        let platter = &mut *self.platter();
        let kept = platter.rng.index(platter.unsynced_names.len() + 1);
        let mut names = std::mem::take(&mut platter.durable_names);
        for change in platter.unsynced_names.drain(..).take(kept) {
            change.apply(&mut names);
        }
        platter.names = names;
        platter.sync_names();
        for file in platter.files.values_mut() {
            file.lose_power(&mut platter.rng);
        }
    }

    /// Flips up to three bits of what was written and synced long ago, and says how many.
    ///
    /// Not in what the last commit wrote or behind it: damage there cannot be told from a frame that
    /// was torn before anybody heard of it. That limit is known and written down in `docs/proof.md`.
    pub(crate) fn flip_bits(&self) -> usize {
        let platter = &mut *self.platter();
        let inodes: Vec<(Inode, usize)> = platter
            .names
            .values()
            .filter_map(|inode| Some((*inode, platter.flippable(*inode)?)))
            .collect();
        if inodes.is_empty() {
            return 0;
        }
        let count = platter.rng.between(1, 3);
        for _ in 0..count {
            let (inode, len) = platter.rng.pick(&inodes);
            let offset = platter.rng.index(len);
            let bit = 1 << platter.rng.below(8);
            let file = platter.files.get_mut(&inode);
            let byte = &mut file.expect("a name is the name of a file").bytes[offset];
            let was = *byte;
            *byte ^= bit;
            let is = *byte;
            platter.flips.push(Flip { inode, offset, was, is });
        }
        count as usize
    }

    /// Flips one bit of a file. False if there is no such byte.
    pub fn flip_bit(&self, name: &str, offset: usize) -> bool {
        let platter = &mut *self.platter();
        let file = platter.inode(name).ok().and_then(|inode| platter.files.get_mut(&inode));
        let byte = file.and_then(|file| file.bytes.get_mut(offset));
        byte.is_some_and(|byte| {
            *byte ^= 1;
            true
        })
    }

    /// Whether there are flipped bits that nobody has written over.
    pub(crate) fn has_flips(&self) -> bool {
        let platter = self.platter();
        let still_there = |flip: &Flip| {
            let file = platter.files.get(&flip.inode);
            file.and_then(|file| file.bytes.get(flip.offset)) == Some(&flip.is)
        };
        platter.flips.iter().any(still_there)
    }

    /// Somebody repaired the disk: the bits are as they were, newest first.
    pub(crate) fn flip_back(&self) {
        let platter = &mut *self.platter();
        while let Some(flip) = platter.flips.pop() {
            let file = platter.files.get_mut(&flip.inode);
            if let Some(byte) = file.and_then(|file| file.bytes.get_mut(flip.offset))
                && *byte == flip.is
            {
                *byte = flip.was;
            }
        }
    }
}

impl Platter {
    /// How many bytes of a file, from its start, may be hit.
    fn flippable(&self, inode: Inode) -> Option<usize> {
        let written = self.files.get(&inode)?.written;
        let commit = self.last_commit.iter().find(|(at, _)| *at == inode);
        let len = commit.map_or(written, |&(_, offset)| written.min(offset as usize));
        (len > 0).then_some(len)
    }
}
