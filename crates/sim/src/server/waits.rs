//! Waits that clients keep open. A claimant is there as long as it has one.

use claims::{ClaimId, Owner, Timestamp};

use crate::message::{ClientId, RequestId};

#[derive(Debug, Default)]
pub(super) struct Waits(Vec<Wait>);

#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    pub(super) request: RequestId,
    pub(super) client: ClientId,
    pub(super) owner: Owner,
    pub(super) until: Timestamp,
}

impl Waits {
    /// A claim has one wait: a new one takes the place of the one before, which is given back.
    pub(super) fn open(&mut self, wait: Wait) -> Option<Wait> {
        let before = self.resolve(wait.owner.claim);
        self.0.push(wait);
        before
    }

    pub(super) fn has(&self, request: RequestId) -> bool {
        self.0.iter().any(|wait| wait.request == request)
    }

    pub(super) fn claims(&self) -> impl Iterator<Item = ClaimId> + '_ {
        self.0.iter().map(|wait| wait.owner.claim)
    }

    /// When the first of them has lasted long enough.
    pub(super) fn next_end(&self) -> Option<Timestamp> {
        self.0.iter().map(|wait| wait.until).min()
    }

    /// Takes out the wait of a request.
    pub(super) fn close(&mut self, request: RequestId) -> Option<Wait> {
        let nth = self.0.iter().position(|wait| wait.request == request)?;
        Some(self.0.remove(nth))
    }

    /// Takes out the waits that lasted long enough.
    pub(super) fn close_overdue(&mut self, now: Timestamp) -> Vec<Wait> {
        let overdue = self.0.extract_if(.., |wait| wait.until <= now);
        overdue.collect()
    }

    /// Takes out the wait for a claim.
    pub(super) fn resolve(&mut self, claim: ClaimId) -> Option<Wait> {
        let nth = self.0.iter().position(|wait| wait.owner.claim == claim)?;
        Some(self.0.remove(nth))
    }
}
