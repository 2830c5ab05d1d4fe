//! Datasets that are locked.

use std::sync::{Mutex, PoisonError};

use super::{DatasetId, LockType, distant, local};
use crate::driver::Loss;

/// Datasets that are locked, until this is released or dropped.
#[must_use = "a lock that is dropped is released"]
pub struct Lock {
    datasets: Vec<DatasetId>,
    kind: LockType,
    held: Mutex<Vec<Held>>,
}

pub(super) enum Held {
    Here(#[expect(dead_code, reason = "kept to be dropped")] local::Grant),
    There(distant::Grant),
}

impl Lock {
    pub(super) fn new(datasets: Vec<DatasetId>, kind: LockType, held: Vec<Held>) -> Self {
        Self { datasets, kind, held: Mutex::new(held) }
    }

    /// Gives it back. A second time does nothing. What is at a lock server is given back by the
    /// background thread: nobody waits for it here.
    pub fn release(&self) {
        // In the order they were locked in.
        let held = std::mem::take(&mut *self.held());
        drop(held);
    }

    /// Whether it is still held. In one process that is until it is released; at a lock server it is
    /// a lease, which can be lost: ask before each effect that must not come late.
    pub fn check(&self) -> Result<(), Loss> {
        let held = self.held();
        if held.is_empty() && !self.datasets.is_empty() {
            return Err(Loss::GivenUp);
        }
        held.iter().try_for_each(|held| match held {
            Held::Here(_) => Ok(()),
            Held::There(grant) => grant.claims.iter().try_for_each(crate::Claim::check),
        })
    }

    /// What is locked, in the order asked for.
    pub fn datasets(&self) -> &[DatasetId] {
        &self.datasets
    }

    /// How it is locked.
    pub fn kind(&self) -> LockType {
        self.kind
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Vec<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lock({} on {:?})", self.kind, self.datasets)
    }
}
