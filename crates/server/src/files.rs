//! Files that others change while the server runs: noticing it, and saying what is wrong with one.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What is wrong with a file that the server was told to use.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// The system says no.
    #[error("{} cannot be used: {error}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It is there, but is not what it should be.
    #[error("{} {what}", path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What it is instead, and what to do about it.
        what: String,
    },
}

impl FileProblem {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.into(), error }
    }

    pub(crate) fn content(path: &Path, what: impl Into<String>) -> Self {
        Self::Content { path: path.into(), what: what.into() }
    }
}

/// Tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark(Option<(u64, u64, u64, i64, i64)>);

impl Mark {
    /// The state it is in; being away is a state, too.
    pub(crate) fn of(path: &Path) -> Self {
        let found = std::fs::metadata(path).ok();
        Self(
            found
                .map(|meta| (meta.dev(), meta.ino(), meta.size(), meta.ctime(), meta.ctime_nsec())),
        )
    }
}
