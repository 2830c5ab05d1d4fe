//! Where this process has memory of its own, as the kernel tells.

use std::fs;
use std::io;
use std::ops::Range;

/// Whether whoever runs this machine wants huge pages at all.
pub(crate) fn is_allowed() -> bool {
    let told = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    told.is_ok_and(|told| !told.contains("[never]"))
}

/// The ranges that no file is behind.
pub(crate) fn anonymous() -> io::Result<Vec<Range<usize>>> {
    Ok(fs::read_to_string("/proc/self/maps")?.lines().filter_map(range).collect())
}

/// One line: addresses, rights, offset, device, inode and, of some, a name.
fn range(line: &str) -> Option<Range<usize>> {
    let mut fields = line.split_ascii_whitespace();
    let (addresses, rights) = (fields.next()?, fields.next()?);
    let is_own = match fields.nth(3) {
        None | Some("[heap]") => true,
        Some(name) => name.starts_with("[anon:"),
    };
    let (start, end) = addresses.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    (is_own && rights == "rw-p").then_some(address(start)?..address(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_memory_that_no_file_is_behind_is_taken() {
        let taken = [
            "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 ",
            "7f0000000000-7f0000400000 rw-p 00000000 00:00 0                  [heap]",
            "7f0000000000-7f0000400000 rw-p 00000000 00:00 0                  [anon:mimalloc]",
        ];
        assert!(taken.iter().all(|line| range(line) == Some(0x7f00_0000_0000..0x7f00_0040_0000)));
        let left = [
            "7f0000000000-7f0000400000 r--p 00000000 00:00 0 ",
            "7f0000000000-7f0000400000 rw-s 00000000 00:00 0 ",
            "7f0000000000-7f0000400000 rw-p 00000000 fe:00 1234               /usr/lib/libc.so.6",
            "7f0000000000-7f0000400000 rw-p 00000000 00:0f 99  /anon_hugepage (deleted)",
            "7ffe00000000-7ffe00400000 rw-p 00000000 00:00 0                  [stack]",
            "7f0000000000 rw-p 00000000 00:00 0 ",
            "",
        ];
        assert!(left.iter().all(|line| range(line).is_none()));
    }
}
