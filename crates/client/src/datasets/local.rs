//! Dataset locks in this process: the engine of claims, in memory. Whoever is granted a lock by
//! somebody else's release is woken by it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use claims::datasets::{Locked, Note, claims_for, refusal, refusal_in_turn};
use claims::{
    ClaimId, Command, Event, Farewell, KeyHash, Owner, Registration, Resources, Rules, Span, State,
    Status, Ttl, engine,
};
use tokio::sync::oneshot;

use super::error::LockError;
use super::shelf::{Shelf, Ticket};
use super::{AlreadyLocked, DatasetId, LockType, now, timer};
use crate::error::ClaimError;

pub(super) struct Local(Mutex<Inner>);

struct Inner {
    state: State,
    shelf: Shelf,
    /// Who waits, and how to tell that the wait is over.
    waiters: HashMap<ClaimId, oneshot::Sender<()>>,
    /// Keys are secrets between strangers. In one process they only have to differ.
    last_key: u128,
    events: Vec<Event>,
}

impl Default for Local {
    fn default() -> Self {
        // What is over is over: nobody asks for the history of a lock that was in memory.
        let rules = Rules { retain: Span::ZERO, ended_max: 0, ..Rules::default() };
        Self(Mutex::new(Inner {
            state: State::new(rules),
            shelf: Shelf::default(),
            waiters: HashMap::new(),
            last_key: 0,
            events: Vec::new(),
        }))
    }
}

/// Claims in this process; dropped, they are given back.
pub(super) struct Grant {
    local: Arc<Local>,
    owners: Vec<Owner>,
    ticket: Option<Ticket>,
}

impl Drop for Grant {
    fn drop(&mut self) {
        let mut inner = self.local.inner();
        if let Some(ticket) = &self.ticket {
            inner.shelf.take(ticket);
        }
        for &owner in &self.owners {
            inner.waiters.remove(&owner.claim);
            inner.end(owner);
        }
    }
}

impl Local {
    /// Locks all of them now, or none. Nobody can look in between.
    pub(super) fn lock_now(
        self: &Arc<Self>,
        datasets: &[DatasetId],
        kind: LockType,
        note: &Note,
    ) -> Result<Grant, LockError> {
        let mut inner = self.inner();
        if let Some(refused) = refusal(datasets, kind, |dataset| inner.locked(dataset)) {
            return Err(refused.into());
        }
        let mut owners = Vec::new();
        let taken = inner.take(datasets, kind, note, &mut owners);
        match taken {
            Ok(ticket) => Ok(Grant { local: self.clone(), owners, ticket: Some(ticket) }),
            Err(error) => {
                owners.into_iter().for_each(|owner| inner.end(owner));
                Err(error)
            }
        }
    }

    /// Waits until it is the turn of these, few and different enough for one claim.
    pub(super) async fn wait(
        self: &Arc<Self>,
        datasets: &[DatasetId],
        kind: LockType,
        note: &Note,
        deadline: Instant,
    ) -> Result<Grant, LockError> {
        let mut granted = None;
        let mut grant = Grant { local: self.clone(), owners: Vec::new(), ticket: None };
        for resources in claims_for(datasets) {
            let mut inner = self.inner();
            let (owner, active) = inner.register(resources, kind)?;
            grant.owners.push(owner);
            if !active {
                let (tell, told) = oneshot::channel();
                inner.state.attend(owner.claim);
                inner.waiters.insert(owner.claim, tell);
                granted = Some(told);
            }
        }
        if let Some(granted) = granted
            && timer::before(deadline, granted).await.is_none_or(|told| told.is_err())
        {
            // Off the queue first: nobody stands in its own way.
            drop(grant);
            return Err(self.inner().in_the_way(datasets, kind).into());
        }
        grant.ticket = Some(self.inner().shelf.put(datasets, kind, note, now().wall)?);
        Ok(grant)
    }

    pub(super) fn shelf<T>(&self, look: impl FnOnce(&mut Shelf) -> T) -> T {
        look(&mut self.inner().shelf)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A storage that panicked has been asked last, or closed: what is here is whole.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Inner {
    fn locked(&self, dataset: DatasetId) -> Locked {
        let name = dataset.resource();
        let limits = self.state.holders(&name).map(|claim| claim.limit);
        Locked::of(limits, self.state.queue_len(&name))
    }

    fn in_the_way(&self, datasets: &[DatasetId], kind: LockType) -> AlreadyLocked {
        let found = refusal_in_turn(datasets, kind, |dataset| self.locked(dataset));
        // It may have become free in this very moment, too late.
        found.unwrap_or_else(|| {
            let dataset = datasets[0];
            let Locked { count, waiting, .. } = self.locked(dataset);
            AlreadyLocked { dataset, kind: self.locked(dataset).kind(), count, waiting }
        })
    }

    /// Claims and shelves all of them. If that fails, what was claimed is in `owners`.
    fn take(
        &mut self,
        datasets: &[DatasetId],
        kind: LockType,
        note: &Note,
        owners: &mut Vec<Owner>,
    ) -> Result<Ticket, LockError> {
        for resources in claims_for(datasets) {
            let (owner, active) = self.register(resources, kind)?;
            owners.push(owner);
            if !active {
                owners.drain(..).for_each(|owner| self.end(owner));
                return Err(self.in_the_way(datasets, kind).into());
            }
        }
        // The storage is asked last, when nobody here objects.
        self.shelf.put(datasets, kind, note, now().wall)
    }

    /// A new claim, and whether it holds.
    fn register(
        &mut self,
        resources: Resources,
        kind: LockType,
    ) -> Result<(Owner, bool), LockError> {
        self.last_key += 1;
        let key = KeyHash(self.last_key.to_le_bytes());
        let (limit, ttl) = (kind.limit(), Ttl::UNLIMITED);
        let registration = Registration { key, resources, limit, ttl, data: None };
        let standing = self.run(Command::Register(registration)).map_err(ClaimError::from)?;
        let owner = Owner { claim: standing.claim.id, key };
        Ok((owner, standing.claim.status() == Status::Active))
    }

    fn end(&mut self, owner: Owner) {
        // Abort fits both a holder and a waiter. One that is forgotten by now is over, too.
        let _ = self.run(Command::End(owner, Farewell::Abort));
    }

    fn run(&mut self, command: Command) -> Result<claims::Standing, claims::Refusal> {
        let mut events = std::mem::take(&mut self.events);
        let stamp = now();
        let answer = engine::execute(&mut self.state, command, stamp, &mut events);
        while self.state.next_due().is_some_and(|due| due <= stamp.at) {
            engine::sweep(&mut self.state, stamp, &mut events);
        }
        for event in events.drain(..) {
            if let Event::Activated { claim, .. } = event
                && let Some(waiter) = self.waiters.remove(&claim)
            {
                // Whoever does not wait any more gives it back when its grant is dropped.
                let _ = waiter.send(());
            }
        }
        self.events = events;
        answer
    }
}
