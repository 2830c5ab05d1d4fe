//! Taking the claims of a set of locks: all of them or none, also if the client hangs up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use claims::datasets::{
    AlreadyLocked, DatasetId, LockType, Locked, Note, claim_around, claims_for, is_in_its_own_way,
    refusal, refusal_in_turn, without,
};
use claims::wire::Problem;
use claims::{Command, Data, Farewell, Fence, Owner, Registration, Resources, Ttl};
use tokio::time::Instant;

use super::BUSY;
use crate::asked::Asked;
use crate::keys::hash_of;
use crate::server::{Server, unavailable};
use crate::v1::submit;

/// How often to try again when what was in the way is not there any more.
const TRIES: usize = 8;

/// What is to be locked.
pub(super) struct Order<'a> {
    pub(super) datasets: &'a [DatasetId],
    pub(super) kind: LockType,
    pub(super) ttl: Ttl,
    pub(super) note: &'a Note,
}

/// Claims that were taken. They are given back unless they are [kept](Taken::keep).
pub(super) struct Taken {
    server: Arc<Server>,
    pub(super) pieces: Vec<Piece>,
}

/// One claim, and the key that its owner is told.
pub(super) struct Piece {
    pub(super) owner: Owner,
    pub(super) key: String,
    pub(super) fence: Option<Fence>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let (server, pieces) = (self.server.clone(), std::mem::take(&mut self.pieces));
        if !pieces.is_empty() {
            tokio::spawn(async move {
                for piece in pieces {
                    // What cannot be said now ends with its lease.
                    let _ = server.store.submit(Command::End(piece.owner, Farewell::Abort)).await;
                }
            });
        }
    }
}

impl Taken {
    /// They are somebody's now.
    pub(super) fn keep(mut self) -> Vec<Piece> {
        std::mem::take(&mut self.pieces)
    }
}

/// Takes a set of locks, and waits for it if there is patience.
pub(super) async fn take(
    asked: &Asked<'_>,
    order: &Order<'_>,
    patience: Option<Duration>,
) -> Result<Taken, Problem> {
    let deadline = patience.map(|patience| Instant::now() + patience);
    let mut taking =
        Taking { asked, order, taken: Taken { server: asked.server.clone(), pieces: Vec::new() } };
    let mut refused = match taking.all_now(order.datasets).await? {
        None => return Ok(taking.taken),
        Some(refused) => refused,
    };
    let hopeless = is_in_its_own_way(order.datasets, order.kind);
    while let Some(deadline) = deadline.filter(|deadline| *deadline > Instant::now())
        && !hopeless
    {
        // Nothing else is held while one claim waits: two who wait cannot wait for each other.
        let first = claim_around(order.datasets, refused.dataset);
        if !taking.wait(&first, deadline).await? {
            break;
        }
        match taking.all_now(&without(order.datasets, &first)).await? {
            None => return Ok(taking.taken),
            Some(again) => refused = again,
        }
    }
    Err(busy(&refused))
}

/// The answer to somebody who is refused.
fn busy(refused: &AlreadyLocked) -> Problem {
    Problem::new(503, BUSY, refused.to_string())
        .retry_after(1)
        .whole("datasetId", refused.dataset.0)
        .text("type", refused.kind.as_str())
        .whole("count", refused.count as u64)
}

struct Taking<'a> {
    asked: &'a Asked<'a>,
    order: &'a Order<'a>,
    taken: Taken,
}

impl Taking<'_> {
    /// Takes all of these beside what is taken already; if that is refused, gives back everything.
    async fn all_now(&mut self, datasets: &[DatasetId]) -> Result<Option<AlreadyLocked>, Problem> {
        let kind = self.order.kind;
        for _ in 0..TRIES {
            // Looking first keeps claims that cannot be had out of the queue, where they would be
            // in the way of those that can.
            let looked = self.look(datasets).await?;
            if let Some(refused) = refusal(datasets, kind, |dataset| looked[&dataset]) {
                self.undo().await?;
                return Ok(Some(refused));
            }
            if self.claim_all(datasets).await? {
                return Ok(None);
            }
            self.undo().await?;
            let looked = self.look(datasets).await?;
            if let Some(refused) = refusal_in_turn(datasets, kind, |dataset| looked[&dataset]) {
                return Ok(Some(refused));
            }
        }
        Err(Problem::unavailable("others come and go too fast: try again"))
    }

    async fn claim_all(&mut self, datasets: &[DatasetId]) -> Result<bool, Problem> {
        for resources in claims_for(datasets) {
            if !self.register(resources).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until it is the turn of these, few and different enough for one claim. False if the
    /// time is over.
    async fn wait(&mut self, first: &[DatasetId], deadline: Instant) -> Result<bool, Problem> {
        for resources in claims_for(first) {
            if self.register(resources).await? {
                continue;
            }
            let piece = self.taken.pieces.last_mut().expect("it was registered");
            let left = deadline.saturating_duration_since(Instant::now());
            let command = Command::Activate(piece.owner);
            match submit(self.asked, command, Some(left)).await {
                Ok(standing) => {
                    piece.fence = standing.claim.activation().map(|activation| activation.fence);
                }
                Err(problem) if problem.status == 409 => {
                    self.undo().await?;
                    return Ok(false);
                }
                Err(problem) => return Err(problem),
            }
        }
        Ok(true)
    }

    /// Makes a claim, and says whether it holds.
    async fn register(&mut self, resources: Resources) -> Result<bool, Problem> {
        let key = self.asked.server.keys.new_key();
        let data = Data::new(&self.order.note.to_json()).map_err(|no| Problem::refused(&no))?;
        let registration = Registration {
            key: hash_of(&key),
            resources,
            limit: self.order.kind.limit(),
            ttl: self.order.ttl,
            data: Some(data),
        };
        let standing = submit(self.asked, Command::Register(registration), None).await?;
        let fence = standing.claim.activation().map(|activation| activation.fence);
        let owner = Owner { claim: standing.claim.id, key: hash_of(&key) };
        self.taken.pieces.push(Piece { owner, key, fence });
        Ok(fence.is_some())
    }

    /// Gives back everything, before anybody is told that nothing is held.
    async fn undo(&mut self) -> Result<(), Problem> {
        while let Some(piece) = self.taken.pieces.last() {
            submit(self.asked, Command::End(piece.owner, Farewell::Abort), None).await?;
            self.taken.pieces.pop();
        }
        Ok(())
    }

    /// How these are locked. All are asked about before the first answer is waited for.
    async fn look(&self, datasets: &[DatasetId]) -> Result<BTreeMap<DatasetId, Locked>, Problem> {
        let store = &self.asked.server.store;
        let asked: BTreeMap<DatasetId, _> = datasets
            .iter()
            .map(|dataset| (*dataset, store.resource(dataset.resource(), 0)))
            .collect();
        let mut looked = BTreeMap::new();
        for (dataset, report) in asked {
            let report = report.await.map_err(unavailable)?;
            let limits = report.holders.iter().map(|claim| claim.limit);
            looked.insert(dataset, Locked::of(limits, report.waiting));
        }
        Ok(looked)
    }
}
