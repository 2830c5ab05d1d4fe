//! Appending past the system's cache.
//!
//! **Problem.** A record that is written into the cache and synced at once passes through the whole
//! machinery of writing back: about a quarter of the time and of the work of a small commit.
//!
//! **Idea.** Whole blocks go straight to the disk (`O_DIRECT`), and the sync only has to empty the
//! disk's own cache. The last block is kept here, because the next record begins in the middle of it
//! and it is written again. Where a file system does not offer that, the cache is used as ever.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// What is written, and where it lies in memory, is a multiple of this: enough for every disk.
const BLOCK: usize = 4096;

/// The most that is written at once, and so what is kept in memory.
const PIECE_MAX: usize = 64 * BLOCK;

/// The end of a file that is appended to.
#[derive(Debug, Default)]
pub(super) enum Tail {
    /// Nothing was appended yet, or something else was written since.
    #[default]
    Unknown,
    /// Appended to past the cache.
    Direct(LastBlock),
    /// This file system or disk does not offer it.
    Refused,
}

/// The block in which the next record begins.
#[derive(Debug)]
pub(super) struct LastBlock {
    memory: Vec<u8>,
    /// Where in the file it is.
    at: u64,
    /// How many of its bytes were written.
    filled: usize,
}

impl Tail {
    /// Writes `bytes` at `offset`, and zeros behind them to the end of the block.
    pub(super) fn append(&mut self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut at = offset;
        for piece in bytes.chunks(PIECE_MAX) {
            if !self.append_piece(file, at, piece)? {
                file.write_all_at(piece, at)?;
            }
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// The file is about to be written to in the usual way.
    pub(super) fn forget(&mut self, file: &File) -> io::Result<()> {
        if let Self::Direct(_) = self {
            past_the_cache(file, false)?;
            *self = Self::Unknown;
        }
        Ok(())
    }

    /// Whether it could be written past the cache.
    fn append_piece(&mut self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<bool> {
        let block = offset - offset % BLOCK as u64;
        let before = (offset - block) as usize;
        if let Self::Direct(last) = self
            && (last.at, last.filled) != (block, before)
        {
            self.forget(file)?;
        }
        if let Self::Unknown = self {
            let last = LastBlock::read(file, block, before)?;
            *self = match past_the_cache(file, true) {
                Ok(()) => Self::Direct(last),
                Err(Errno::INVAL) => Self::Refused,
                Err(error) => return Err(error.into()),
            };
        }
        let Self::Direct(last) = self else { return Ok(false) };
        match last.append(file, bytes) {
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                past_the_cache(file, false)?;
                *self = Self::Refused;
                Ok(false)
            }
            written => written.map(|()| true),
        }
    }
}

impl LastBlock {
    fn read(file: &File, at: u64, filled: usize) -> io::Result<Self> {
        let mut memory = vec![0; PIECE_MAX + 3 * BLOCK];
        file.read_exact_at(&mut aligned(&mut memory)[..filled], at)?;
        Ok(Self { memory, at, filled })
    }

    fn append(&mut self, file: &File, bytes: &[u8]) -> io::Result<()> {
        let blocks = aligned(&mut self.memory);
        let end = self.filled + bytes.len();
        let whole = end.next_multiple_of(BLOCK);
        blocks[self.filled..end].copy_from_slice(bytes);
        blocks[end..whole].fill(0);
        file.write_all_at(&blocks[..whole], self.at)?;
        let last = end - end % BLOCK;
        blocks.copy_within(last..end, 0);
        self.at += last as u64;
        self.filled = end - last;
        Ok(())
    }
}

/// The part of it that begins at a multiple of [`BLOCK`].
fn aligned(memory: &mut [u8]) -> &mut [u8] {
    let skipped = memory.as_ptr().align_offset(BLOCK);
    &mut memory[skipped..]
}

fn past_the_cache(file: &File, wanted: bool) -> Result<(), Errno> {
    let mut flags = fcntl_getfl(file)?;
    flags.set(OFlags::DIRECT, wanted);
    fcntl_setfl(file, flags)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    fn file_of_zeros(len: usize) -> File {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        std::fs::write(&path, vec![0; len]).unwrap();
        OpenOptions::new().read(true).write(true).open(path).unwrap()
    }

    fn content(file: &File, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn what_is_appended_in_pieces_of_any_size_is_there_as_a_whole() {
        let len = 8 * PIECE_MAX;
        let file = file_of_zeros(len);
        let mut expected = vec![0; len];
        let (mut tail, mut at) = (Tail::default(), 64);
        for (n, size) in [1, 63, 4_000, 4_096, 5_000, 100, 8_192, PIECE_MAX + 1, 3 * PIECE_MAX, 7]
            .into_iter()
            .cycle()
            .take(13)
            .enumerate()
        {
            let bytes: Vec<u8> = (0..size).map(|byte| (byte + n) as u8 | 1).collect();
            tail.append(&file, at as u64, &bytes).unwrap();
            expected[at..at + size].copy_from_slice(&bytes);
            at += size;
        }
        tail.forget(&file).unwrap();
        assert!(content(&file, len) == expected);
    }

    #[test]
    fn what_was_written_otherwise_meanwhile_is_kept() {
        let file = file_of_zeros(4 * BLOCK);
        let mut tail = Tail::default();
        tail.append(&file, 10, b"first").unwrap();
        tail.forget(&file).unwrap();
        file.write_all_at(b"header", 0).unwrap();
        tail.append(&file, 15, b"second").unwrap();
        // Somewhere else: what is before it in its block is read again.
        tail.append(&file, 4_090, b"across the edge").unwrap();
        tail.append(&file, 4_105, b" of a block").unwrap();
        tail.forget(&file).unwrap();
        let content = content(&file, 4 * BLOCK);
        assert_eq!(&content[..21], b"header\0\0\0\0firstsecond");
        assert_eq!(&content[4_090..4_116], b"across the edge of a block");
    }
}
