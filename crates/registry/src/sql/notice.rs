//! How a process learns that another one called one of its waiters.

use std::sync::Mutex;
use std::time::Duration;

use claims::ClaimId;
use tokio::sync::mpsc;

/// What wakes the waiters of this process.
pub(super) struct Bell {
    /// Claims that other processes speak of, where the database passes that on.
    heard: Mutex<Option<mpsc::UnboundedReceiver<ClaimId>>>,
    /// How long to wait between two looks: at first, and at most.
    pub(super) look_after: Duration,
    pub(super) look_at_least: Duration,
}

impl Bell {
    /// The database says nothing: somebody has to look.
    #[cfg_attr(
        not(any(feature = "sqlite", feature = "mysql")),
        allow(dead_code, reason = "PostgreSQL tells")
    )]
    pub(super) fn silent(look_after: Duration, look_at_least: Duration) -> Self {
        Self { heard: Mutex::new(None), look_after, look_at_least }
    }

    /// The database tells. A look now and then makes up for what is lost on the way.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "only PostgreSQL tells"))]
    pub(super) fn told_by(heard: mpsc::UnboundedReceiver<ClaimId>, look: Duration) -> Self {
        Self { heard: Mutex::new(Some(heard)), look_after: look, look_at_least: look }
    }

    /// What is heard, for the one who wakes the others.
    pub(super) fn take(&self) -> Option<mpsc::UnboundedReceiver<ClaimId>> {
        self.heard.lock().expect("taking does not panic").take()
    }
}
