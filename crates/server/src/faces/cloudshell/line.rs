//! One connection of a client, as far as it tells whether an answer arrived.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The client, or whatever is on the way to it, ended it.
    HungUp,
    /// This server ended it, or had to by what was asked.
    Closed,
}

/// A connection.
#[derive(Debug, Default)]
pub(crate) struct Line {
    requests: AtomicU64,
    ending: watch::Sender<Option<Ending>>,
}

impl Line {
    /// Counts a request, and returns its number.
    pub(super) fn request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How many requests there were.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// It has ended; what was said first counts.
    pub(crate) fn end(&self, ending: Ending) {
        self.ending.send_if_modified(|known| known.is_none() && known.replace(ending).is_none());
    }

    /// How it ended, if it did.
    pub(super) fn ending(&self) -> Option<Ending> {
        *self.ending.borrow()
    }

    /// Returns when it has ended.
    pub(super) async fn ended(&self) {
        // The sender is in this very struct: it cannot be gone.
        let _ = self.ending.subscribe().wait_for(Option::is_some).await;
    }
}
