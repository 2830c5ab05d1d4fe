//! What is believed about a claim, to be read at any time from any thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use claims::claimant::{Lease, Moment};
use claims::{ClaimId, Fence};

/// What is believed. The deadline is written last and read first: whoever sees one sees what belongs
/// to it.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The deadline by the boot-time clock; 0 if nothing is believed.
    deadline: AtomicU64,
    confirmed: AtomicBool,
    claim: AtomicU64,
    fence: AtomicU64,
}

impl View {
    /// Shows to everybody what is believed from now on. Its number and its fence stay when it is over: whoever
    /// finds it lost must still be able to say what it was.
    pub(crate) fn show(&self, claim: Option<ClaimId>, lease: Option<Lease>) {
        if let Some(claim) = claim {
            self.claim.store(claim.0, Ordering::Release);
        }
        if let Some(fence) = lease.and_then(|lease| lease.fence) {
            self.fence.store(fence.0, Ordering::Release);
        }
        self.confirmed.store(lease.is_some_and(|lease| lease.confirmed), Ordering::Release);
        let deadline = lease.map_or(0, |lease| lease.deadline.as_micros());
        self.deadline.store(deadline, Ordering::Release);
    }

    /// Until when it is believed to be held, and whether the last renewal was confirmed.
    pub(super) fn lease(&self) -> Option<(Moment, bool)> {
        let deadline = some(self.deadline.load(Ordering::Acquire))?;
        Some((Moment::from_micros(deadline), self.confirmed.load(Ordering::Acquire)))
    }

    /// The number of the claim, once the server has given it one.
    pub(super) fn claim(&self) -> Option<ClaimId> {
        some(self.claim.load(Ordering::Acquire)).map(ClaimId)
    }

    /// Its fence, once it has one.
    pub(super) fn fence(&self) -> Option<Fence> {
        some(self.fence.load(Ordering::Acquire)).map(Fence)
    }
}

fn some(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}
