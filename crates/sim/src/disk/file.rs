//! One file: what the cache shows, and what a power cut may bring back.

use std::collections::BTreeMap;

use crate::rng::Rng;

pub(super) const BLOCK: usize = 4_096;
pub(super) const SECTOR: usize = 512;

/// A file, whatever its names are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Inode(pub(super) u64);

/// The bytes of a file.
#[derive(Debug, Clone)]
pub(super) struct Content {
    /// As the running system reads them.
    pub(super) bytes: Vec<u8>,
    /// The size a power cut leaves at least.
    durable_len: usize,
    /// Blocks written since the last sync, as they were before.
    dirty: BTreeMap<usize, Vec<u8>>,
    /// Blocks that a failed sync did not write and the cache believes clean, as they are on disk.
    forgotten: BTreeMap<usize, Vec<u8>>,
    /// Bytes from here on were never written.
    pub(super) written: usize,
}

impl Content {
    pub(super) fn zeros(len: u64) -> Self {
        Self {
            bytes: vec![0; len as usize],
            durable_len: 0,
            dirty: BTreeMap::new(),
            forgotten: BTreeMap::new(),
            written: 0,
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        if end > self.bytes.len() {
            self.bytes.resize(end, 0);
        }
        for block in start / BLOCK..=(end - 1) / BLOCK {
            if !self.dirty.contains_key(&block) {
                let before = self.forgotten.remove(&block);
                let before = before.unwrap_or_else(|| self.block(block).to_vec());
                self.dirty.insert(block, before);
            }
        }
        self.bytes[start..end].copy_from_slice(bytes);
        self.written = self.written.max(end);
    }

    pub(super) fn sync(&mut self) {
        self.dirty.clear();
        self.durable_len = self.bytes.len();
    }

    /// Some blocks reach the disk, some do not, and the cache forgets which.
    pub(super) fn fail_to_sync(&mut self, rng: &mut Rng) {
        for (block, before) in std::mem::take(&mut self.dirty) {
            if rng.coin() {
                self.forgotten.insert(block, before);
            }
        }
        self.durable_len = self.bytes.len();
    }

    /// What a power cut leaves becomes all there is.
    pub(super) fn lose_power(&mut self, rng: &mut Rng) {
        for (block, before) in std::mem::take(&mut self.forgotten) {
            self.bring_back(block, &before, |_| true);
        }
        for (block, before) in std::mem::take(&mut self.dirty) {
            match rng.below(4) {
                0 => {}
                1 => self.bring_back(block, &before, |_| true),
                _ => self.bring_back(block, &before, |_| rng.coin()),
            }
        }
        if self.durable_len < self.bytes.len() {
            let grown = (self.bytes.len() - self.durable_len) as u64;
            let kept = match rng.below(3) {
                0 => 0,
                1 => grown,
                _ => rng.below(grown + 1),
            };
            self.bytes.truncate(self.durable_len + kept as usize);
        }
        self.durable_len = self.bytes.len();
        self.written = self.written.min(self.bytes.len());
    }

    /// Puts back the old bytes of those sectors that `lost` says.
    fn bring_back(&mut self, block: usize, before: &[u8], mut lost: impl FnMut(usize) -> bool) {
        let range = self.range(block);
        let now = &mut self.bytes[range];
        for (nth, sector) in now.chunks_mut(SECTOR).enumerate() {
            if lost(nth) {
                // Where the file had no bytes yet, it has zeros.
                let old = before.get(nth * SECTOR..).unwrap_or(&[]);
                for (at, byte) in sector.iter_mut().enumerate() {
                    *byte = old.get(at).copied().unwrap_or(0);
                }
            }
        }
    }

    fn block(&self, block: usize) -> &[u8] {
        &self.bytes[self.range(block)]
    }

    fn range(&self, block: usize) -> std::ops::Range<usize> {
        let start = (block * BLOCK).min(self.bytes.len());
        start..(start + BLOCK).min(self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_synced_survives_every_power_cut() {
        for seed in 0..100 {
            let mut file = Content::zeros(10_000);
            file.write(4_000, &[7; 200]);
            file.sync();
            file.write(8_500, &[8; 100]);
            file.lose_power(&mut Rng::new(seed));
            assert_eq!(file.bytes[4_000..4_200], [7; 200]);
            assert_eq!(file.bytes.len(), 10_000);
        }
    }

    #[test]
    fn what_was_not_synced_may_be_kept_lost_or_torn() {
        let mut seen = [false; 3];
        for seed in 0..100 {
            let mut file = Content::zeros(4_096);
            file.sync();
            file.write(0, &[9; 4_096]);
            file.lose_power(&mut Rng::new(seed));
            match file.bytes.iter().filter(|&&byte| byte == 9).count() {
                0 => seen[0] = true,
                4_096 => seen[1] = true,
                _ => seen[2] = true,
            }
        }
        assert_eq!(seen, [true; 3]);
    }

    #[test]
    fn a_second_sync_does_not_save_what_the_first_did_not() {
        let lost = (0..100).filter(|&seed| {
            let mut rng = Rng::new(seed);
            let mut file = Content::zeros(4_096);
            file.sync();
            file.write(0, &[9; 512]);
            file.fail_to_sync(&mut rng);
            file.sync();
            assert_eq!(file.bytes[0], 9);
            file.lose_power(&mut rng);
            file.bytes[0] == 0
        });
        assert!(lost.count() > 20);
    }
}
