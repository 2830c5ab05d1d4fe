//! Asks the kernel to keep what this process has in huge pages.
//!
//! **Problem.** Among a million claims a processor spends more time on finding the page that a claim is in than on
//! reading it: the list of pages is too long to be near.
//!
//! **Why the obvious fails.** Whoever asks for huge pages when it takes memory waits until one is free and cleared,
//! and so does whoever waits for its answer; and a small program that is started often pays for two megabytes
//! where it needs a few pages.
//!
//! **Idea.** Ask afterwards. When a process has grown large, a thread of its own lets the kernel copy together what
//! is there, two megabytes at a time, with a pause after each, as long as there are huge pages that nobody has to
//! make room for. Who wants to read what is being copied waits for that. What is already together stays as it is,
//! and where the kernel cannot (Linux before 6.1, other systems) or must not, nothing happens.

#[cfg(target_os = "linux")]
mod block;
#[cfg(target_os = "linux")]
mod maps;
#[cfg(target_os = "linux")]
mod room;

use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What came of gathering.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Bytes that are in huge pages now, whether or not they were before.
    pub huge: usize,
    /// Bytes that could not be moved just then, such as what a disk was reading from.
    pub refused: usize,
    /// Whether it ended early, because no huge page was free.
    pub ran_out: bool,
    /// How long the slowest two megabytes took.
    pub slowest: Duration,
}

/// What is smaller than this stays as it is: its pages are found at once.
const LARGE: usize = 64 << 20;

/// Gathers now all that this process has, block by block. What it keeps there does not change.
///
/// ```
/// let kept = vec![7_u8; 4 << 20];
/// let gathered = gather::now()?;
/// assert!(kept.iter().all(|&byte| byte == 7));
/// println!("{} MiB are in huge pages", gathered.huge >> 20);
/// # Ok::<(), std::io::Error>(())
/// ```
#[cfg(target_os = "linux")]
pub fn now() -> io::Result<Gathered> {
    let mut gathered = Gathered::default();
    if !maps::is_allowed() {
        return Ok(gathered);
    }
    for block in maps::anonymous()?.into_iter().flat_map(block::whole_blocks) {
        if !block::is_mostly_there(block) {
            continue;
        }
        if !room::is_there() {
            gathered.ran_out = true;
            break;
        }
        let (is_huge, took) = block::gather(block);
        match is_huge {
            true => gathered.huge += block::BYTES,
            false => gathered.refused += block::BYTES,
        }
        gathered.slowest = gathered.slowest.max(took);
        // As long again: whoever came to wait meanwhile goes first.
        thread::sleep(took);
    }
    Ok(gathered)
}

/// Gathers nothing: only Linux can.
#[cfg(not(target_os = "linux"))]
pub fn now() -> io::Result<Gathered> {
    Ok(Gathered::default())
}

/// Gathers in a thread of its own whenever this process is large (64 MiB) and has grown by a quarter, looked at
/// `every` so often, and tells `told` what came of it. For ever: the thread ends with the process.
///
/// ```
/// let every = std::time::Duration::from_secs(10);
/// gather::whenever_grown(every, |gathered| println!("{gathered:?}"))?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn whenever_grown(
    every: Duration,
    told: impl Fn(Gathered) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("tenure-gather".into()).spawn(move || {
        let mut before = 0;
        loop {
            thread::sleep(every);
            // A system that does not tell is left alone.
            let resident = resident().unwrap_or(0);
            if has_grown(before, resident) {
                before = resident;
                now().into_iter().for_each(&told);
            }
        }
    })
}

/// Whether a process of so many bytes is gathered, after it had so many when it last was.
fn has_grown(before: usize, resident: usize) -> bool {
    resident >= LARGE && resident >= before + before / 4
}

/// Bytes that this process has in memory.
fn resident() -> Option<usize> {
    let told = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = told.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = value.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_is_gathered_when_it_is_large_and_has_grown() {
        assert!(!has_grown(0, LARGE - 1));
        assert!(has_grown(0, LARGE));
        assert!(!has_grown(LARGE, LARGE + LARGE / 4 - 1));
        assert!(has_grown(LARGE, LARGE + LARGE / 4));
    }
}
