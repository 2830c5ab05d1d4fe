//! A block: what fits into one huge page.
#![allow(unsafe_code, reason = "two calls of the kernel that change nothing the program sees")]

use std::ops::Range;
use std::time::{Duration, Instant};

/// Of a block.
pub(crate) const BYTES: usize = 2 << 20;
const PAGE: usize = 4 << 10;
const PAGES: usize = BYTES / PAGE;
/// The number of the advice: Linux has it since 6.1, and not every C library names it.
const COLLAPSE: libc::c_int = 25;

/// The blocks that are in a range as a whole, by their addresses.
pub(crate) fn whole_blocks(range: Range<usize>) -> impl Iterator<Item = usize> {
    let first = range.start.next_multiple_of(BYTES);
    (first..range.end).step_by(BYTES).filter(move |block| range.end - block >= BYTES)
}

/// Whether most of a block is in memory: what is missing would be added.
pub(crate) fn is_mostly_there(block: usize) -> bool {
    let mut pages = [0_u8; PAGES];
    // SAFETY: there is room for each page of the block, and of the block itself nothing is read. Where pages are
    // larger fewer bytes are written. If the block has gone meanwhile it is an error.
    let answer = unsafe { libc::mincore(block as *mut _, BYTES, pages.as_mut_ptr()) };
    let there = pages.iter().filter(|&&page| page & 1 == 1).count();
    answer == 0 && there >= PAGES / 4 * 3
}

/// Asks for a block to be in one huge page: whether it is now, and how long that took.
pub(crate) fn gather(block: usize) -> (bool, Duration) {
    let start = Instant::now();
    // SAFETY: whoever reads or writes there finds what was there before, whether it is moved or not. If the block
    // has gone meanwhile it is an error, and if another one is there that is moved.
    let answer = unsafe { libc::madvise(block as *mut _, BYTES, COLLAPSE) };
    (answer == 0, start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_and_within() {
        let blocks = |range| whole_blocks(range).collect::<Vec<_>>();
        assert_eq!(blocks(BYTES..3 * BYTES), [BYTES, 2 * BYTES]);
        assert_eq!(blocks(BYTES - 1..3 * BYTES - 1), [BYTES]);
        assert_eq!(blocks(1..BYTES), [0; 0]);
        assert_eq!(blocks(0..0), [0; 0]);
    }
}
