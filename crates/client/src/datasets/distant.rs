//! Dataset locks at a lock server, shared by all data servers that use it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use claims::Limit;
use claims::datasets::{Locked, Note, claims_for, refusal, refusal_in_turn};
use hyper::Method;
use serde::Deserialize;

use super::error::LockError;
use super::shelf::{Shelf, Ticket};
use super::{DatasetId, LockType, now};
use crate::claim::Claim;
use crate::error::ClaimError;
use crate::manager::LockManager;

/// How often to try again when what was in the way is not there any more.
const TRIES: usize = 8;

pub(super) struct Distant {
    claims: LockManager,
    shelf: Mutex<Shelf>,
}

/// Claims at a lock server; dropped, they are given back.
pub(super) struct Grant {
    distant: Arc<Distant>,
    pub(super) claims: Vec<Claim>,
    ticket: Option<Ticket>,
}

impl Drop for Grant {
    fn drop(&mut self) {
        // The storage first: when the claims are free, so is what they stand for.
        if let Some(ticket) = &self.ticket {
            self.distant.shelf().take(ticket);
        }
        self.claims.clear();
    }
}

impl Distant {
    pub(super) fn new(claims: LockManager) -> Self {
        Self { claims, shelf: Mutex::default() }
    }

    /// Locks all of them now, or none.
    pub(super) async fn lock_now(
        self: &Arc<Self>,
        datasets: &[DatasetId],
        kind: LockType,
        note: &Note,
    ) -> Result<Grant, LockError> {
        // Looking first keeps claims that cannot be had out of the queue, where they would be in
        // the way of those that can.
        if let Some(looked) = self.look(datasets).await
            && let Some(refused) = refusal(datasets, kind, |dataset| looked[&dataset])
        {
            return Err(refused.into());
        }
        let mut busy = None;
        for _ in 0..TRIES {
            match self.claim_all(datasets, kind, note).await {
                Ok(grant) => return self.shelved(grant, datasets, kind, note),
                Err(error @ ClaimError::Busy { .. }) => busy = Some(error),
                Err(error) => return Err(error.into()),
            }
            let Some(looked) = self.look(datasets).await else { break };
            if let Some(refused) = refusal_in_turn(datasets, kind, |dataset| looked[&dataset]) {
                return Err(refused.into());
            }
        }
        Err(busy.expect("it ends here because it was busy").into())
    }

    /// Waits until it is the turn of these, few and different enough for one claim.
    pub(super) async fn wait(
        self: &Arc<Self>,
        datasets: &[DatasetId],
        kind: LockType,
        note: &Note,
        deadline: Instant,
    ) -> Result<Grant, LockError> {
        let mut grant = self.grant();
        for resources in claims_for(datasets) {
            let left = deadline.saturating_duration_since(Instant::now());
            let names = resources.as_slice().iter().map(|name| name.as_str());
            let claiming = self.claims.claim_all(names).data(&note.to_json());
            let claiming = with(claiming, kind).timeout(left.max(Duration::from_millis(1)));
            match claiming.await {
                Ok(claim) => grant.claims.push(claim),
                Err(error @ ClaimError::TimedOut { .. }) => {
                    let looked = self.look(datasets).await;
                    let refused = looked.and_then(|looked| {
                        refusal_in_turn(datasets, kind, |dataset| looked[&dataset])
                    });
                    return Err(refused.map_or_else(|| error.into(), LockError::from));
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.shelved(grant, datasets, kind, note)
    }

    pub(super) fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // A storage that panicked has been asked last, or closed: what is here is whole.
        self.shelf.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn grant(self: &Arc<Self>) -> Grant {
        Grant { distant: self.clone(), claims: Vec::new(), ticket: None }
    }

    fn shelved(
        &self,
        mut grant: Grant,
        datasets: &[DatasetId],
        kind: LockType,
        note: &Note,
    ) -> Result<Grant, LockError> {
        grant.ticket = Some(self.shelf().put(datasets, kind, note, now().wall)?);
        Ok(grant)
    }

    async fn claim_all(
        self: &Arc<Self>,
        datasets: &[DatasetId],
        kind: LockType,
        note: &Note,
    ) -> Result<Grant, ClaimError> {
        let mut grant = self.grant();
        for resources in claims_for(datasets) {
            let names = resources.as_slice().iter().map(|name| name.as_str());
            let claiming = self.claims.try_claim_all(names).data(&note.to_json());
            match with(claiming, kind).await {
                Ok(claim) => grant.claims.push(claim),
                Err(error) => {
                    // Given back for sure before anybody is told that nothing is held.
                    for claim in grant.claims.drain(..) {
                        let _ = claim.release().await;
                    }
                    return Err(error);
                }
            }
        }
        Ok(grant)
    }

    /// How these are locked now. None if that cannot be found out: then the claims have to tell.
    async fn look(&self, datasets: &[DatasetId]) -> Option<BTreeMap<DatasetId, Locked>> {
        let different: BTreeSet<DatasetId> = datasets.iter().copied().collect();
        let mut looked = BTreeMap::new();
        for dataset in different {
            looked.insert(dataset, self.look_at(dataset).await?);
        }
        Some(looked)
    }

    async fn look_at(&self, dataset: DatasetId) -> Option<Locked> {
        let path = format!("/v1/resources/dataset%2F{dataset}/");
        let reply = self.claims.driver().ask(Method::GET, path, String::new()).await.ok()?;
        let report: Report = serde_json::from_slice(&reply.body).ok()?;
        let seen = report.holders.iter().map(|holder| limit(holder.limit));
        // Those whose claims we may not read are counted all the same.
        let unseen = report.holding.saturating_sub(report.holders.len());
        Some(Locked::of(seen.chain(std::iter::repeat_n(Limit::SHARED, unseen)), report.waiting))
    }
}

fn with(claiming: crate::Claiming, kind: LockType) -> crate::Claiming {
    match kind {
        LockType::Shared => claiming.shared(),
        LockType::Exclusive => claiming.limit(1),
    }
}

fn limit(count: Option<u32>) -> Limit {
    count.and_then(|count| Limit::at_most(count).ok()).unwrap_or(Limit::SHARED)
}

/// A resource, as far as it matters here.
#[derive(Deserialize)]
struct Report {
    holders: Vec<Holding>,
    holding: usize,
    waiting: usize,
}

#[derive(Deserialize)]
struct Holding {
    limit: Option<u32>,
}
