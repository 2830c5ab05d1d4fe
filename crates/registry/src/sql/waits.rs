//! The waits that are open in this process, at most one a claim: whom to wake when a claim is called.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use claims::ClaimId;
use tokio::sync::Notify;

/// The waiters of this process.
#[derive(Default)]
pub(super) struct Waits(Mutex<Open>);

/// The newest wait for each claim, by its ticket.
type Open = HashMap<ClaimId, (u64, Arc<Notify>)>;

impl Waits {
    pub(super) fn wake(&self, claim: ClaimId) {
        if let Some((_, notify)) = self.open().get(&claim) {
            notify.notify_one();
        }
    }

    pub(super) fn wake_all(&self) {
        self.open().values().for_each(|(_, notify)| notify.notify_one());
    }

    /// Begins to wait. The wait that was asked for last is the one that counts.
    pub(super) fn enter(&self, claim: ClaimId, ticket: u64) -> Option<Place<'_>> {
        let mut waits = self.open();
        let before = waits.get(&claim).cloned();
        if before.as_ref().is_some_and(|(other, _)| *other > ticket) {
            return None;
        }
        let notify = Arc::<Notify>::default();
        waits.insert(claim, (ticket, notify.clone()));
        if let Some((_, before)) = before {
            before.notify_one();
        }
        Some(Place { waits: self, claim, ticket, notify })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().expect("a list does not panic")
    }
}

/// A wait that is open.
pub(super) struct Place<'a> {
    waits: &'a Waits,
    claim: ClaimId,
    ticket: u64,
    notify: Arc<Notify>,
}

impl Place<'_> {
    /// Returns when there is a reason to look again.
    pub(super) async fn woken(&self) {
        self.notify.notified().await;
    }

    /// Whether a later wait took over.
    pub(super) fn is_taken(&self) -> bool {
        !is_newest(&self.waits.open(), self)
    }
}

fn is_newest(waits: &Open, place: &Place<'_>) -> bool {
    waits.get(&place.claim).is_some_and(|(ticket, _)| *ticket == place.ticket)
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // Looked at and left in one step: a wait that takes over in between would be left, too.
        let mut waits = self.waits.open();
        if is_newest(&waits, self) {
            waits.remove(&self.claim);
        }
    }
}
