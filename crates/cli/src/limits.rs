//! Limits that the system sets to a process (`ulimit`), and what we make of them.

use std::io;

use rustix::process::{Resource, Signal, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

/// How many files are left to the store and to the process itself.
const STORE_FILES: u64 = 64;

/// A limit on the size of files ends the process without a word, by a signal, unless that is caught:
/// then a write that reaches it fails, and is treated as on a disk that is full.
pub(crate) fn survive_the_file_size_limit() -> io::Result<()> {
    // Caught from now on, whoever listens. Not ignored: a command of ours would inherit that.
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}

/// As many open files as the system lets us have. None if there is no limit.
pub(crate) fn raise_file_limit() -> Option<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    let before = limit.current;
    limit.current = limit.maximum;
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) => limit.current,
        Err(error) => {
            tracing::warn!(%error, "the limit on open files stays as it is");
            before
        }
    }
}

/// The store stops if it cannot open its next log file, so connections never take all there is.
pub(crate) fn room_for_connections(files: Option<u64>) -> usize {
    let room = files.map_or(u64::MAX, |files| files.saturating_sub(STORE_FILES).max(files / 2));
    usize::try_from(room).unwrap_or(usize::MAX)
}
