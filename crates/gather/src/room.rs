//! Whether the kernel has a huge page to give: to look for one it would move the memory of others, and they would wait.

use std::fs;

/// The first column of blocks that have room for a huge page: each has twice that of the column before, the
/// first a page of 4 KiB.
const ORDER: usize = 9;

/// Whether a huge page is free now. Not, where the kernel does not tell.
pub(crate) fn is_there() -> bool {
    fs::read_to_string("/proc/buddyinfo").is_ok_and(|told| told.lines().any(has_room))
}

/// One line: `Node 0, zone Normal`, and how many blocks of each size are free.
fn has_room(line: &str) -> bool {
    let mut fields = line.split_ascii_whitespace().skip(3);
    // The first sixteen megabytes are not given to programs.
    let is_given = fields.next().is_some_and(|zone| zone != "DMA");
    is_given && fields.skip(ORDER).any(|free| free != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_that_are_large_enough_and_given_count() {
        assert!(has_room(
            "Node 0, zone   Normal  37514  20299 5534 3475 3317 1926 1233 932 798 516 743 "
        ));
        assert!(has_room("Node 1, zone    DMA32      0      0 0 0 0 0 0 0 0 1 0 "));
        assert!(!has_room(
            "Node 0, zone   Normal  37514  20299 5534 3475 3317 1926 1233 932 798 0 0 "
        ));
        assert!(!has_room("Node 0, zone      DMA      0      0 0 0 0 0 0 0 1 1 3 "));
        assert!(!has_room("Node 0, zone"));
        assert!(!has_room(""));
    }
}
