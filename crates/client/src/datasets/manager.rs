//! The way in: locks on sets of datasets.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use claims::datasets::{LockLine, Note, claim_around, is_in_its_own_way, without};

use super::distant::Distant;
use super::error::LockError;
use super::held::{Held, Lock};
use super::local::Local;
use super::storage::Storage;
use super::{AlreadyLocked, DatasetId, LockType, timer};
use crate::blocking::wait;

/// How often the storage is asked again while another program has a dataset: it cannot call.
const ASK_STORAGE_EVERY: Duration = Duration::from_millis(100);

/// A moment after it can still be reckoned with.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Locks sets of datasets. Clones share the same locks.
#[derive(Clone)]
pub struct LockManager(Place);

#[derive(Clone)]
enum Place {
    Here(Arc<Local>),
    There(Arc<Distant>),
}

impl LockManager {
    /// Locks among the threads of this process, without any I/O.
    pub fn new() -> Self {
        Self(Place::Here(Arc::default()))
    }

    /// Locks among all who use the same lock server: they are claims on `dataset/<id>` there.
    pub fn sharing(claims: crate::LockManager) -> Self {
        Self(Place::There(Arc::new(Distant::new(claims))))
    }

    /// Has the storage locked, too. Say so before anything is locked.
    pub fn with_storage(self, storage: impl Storage + 'static) -> Self {
        let storage: Arc<dyn Storage> = Arc::new(storage);
        match &self.0 {
            Place::Here(local) => local.shelf(|shelf| shelf.storage = Some(storage)),
            Place::There(distant) => distant.shelf().storage = Some(storage),
        }
        self
    }

    /// Locks datasets, all or none. None at all can always be locked. One that is named twice is
    /// locked twice if it is shared, and in its own way if it is exclusive.
    ///
    /// It does not wait, unless [`within`](Locking::within) says so.
    pub fn lock<D: Into<DatasetId>>(
        &self,
        datasets: impl IntoIterator<Item = D>,
        kind: LockType,
    ) -> Locking {
        let datasets = datasets.into_iter().map(Into::into).collect();
        Locking { manager: self.clone(), datasets, kind, note: Note::default(), within: None }
    }

    /// What this data server has locked, in the order of datasets.
    pub fn locks(&self) -> Vec<LockLine> {
        match &self.0 {
            Place::Here(local) => local.shelf(|shelf| shelf.lines()),
            Place::There(distant) => distant.shelf().lines(),
        }
    }
}

impl Default for LockManager {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for LockManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Place::Here(_) => "LockManager(in this process)",
            Place::There(_) => "LockManager(at a lock server)",
        })
    }
}

/// A lock that is being taken: say what is special about it, then [`get`](Locking::get) or `.await` it.
///
/// Dropped while it waits, it leaves the queue.
#[must_use = "a lock is taken by get() or by awaiting it"]
#[derive(Debug, Clone)]
pub struct Locking {
    manager: LockManager,
    datasets: Vec<DatasetId>,
    kind: LockType,
    note: Note,
    within: Option<Duration>,
}

impl Locking {
    /// Waits for up to this long, in turn.
    pub fn within(mut self, timeout: Duration) -> Self {
        self.within = Some(timeout);
        self
    }

    /// Who takes it, for people.
    pub fn owner(mut self, owner: &str) -> Self {
        self.note.owner = Some(owner.into());
        self
    }

    /// Why, for people: the call, for instance.
    pub fn reason(mut self, reason: &str) -> Self {
        self.note.reason = Some(reason.into());
        self
    }

    /// Takes it, on this thread.
    pub fn get(self) -> Result<Lock, LockError> {
        wait(self.take())
    }

    async fn take(self) -> Result<Lock, LockError> {
        let mut refused = match self.now(&self.datasets).await {
            Ok(held) => return Ok(self.lock(vec![held])),
            Err(refused) => refused,
        };
        let Some(within) = self.within else { return Err(refused) };
        let deadline = Instant::now() + within.min(FOR_EVER);
        let hopeless = is_in_its_own_way(&self.datasets, self.kind);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || hopeless || !refused.is_busy() {
                return Err(refused);
            }
            let first = match &refused {
                LockError::AlreadyLocked(AlreadyLocked { dataset, .. }) => {
                    claim_around(&self.datasets, *dataset)
                }
                LockError::LockedElsewhere { .. } => {
                    timer::pause(ASK_STORAGE_EVERY.min(left)).await;
                    Vec::new()
                }
                // Who may not look is not told by what: any claim is as good as the other.
                LockError::Storage { .. } | LockError::Claim(_) => {
                    claim_around(&self.datasets, self.datasets[0])
                }
            };
            // Nothing else is held while one claim waits: two who wait cannot wait for each other.
            let waited = match first[..] {
                [] => None,
                _ => match self.wait(&first, deadline).await {
                    Ok(held) => Some(held),
                    Err(error) => {
                        refused = error;
                        continue;
                    }
                },
            };
            match self.now(&without(&self.datasets, &first)).await {
                Ok(held) => return Ok(self.lock(waited.into_iter().chain([held]).collect())),
                Err(error) => refused = error,
            }
        }
    }

    async fn now(&self, datasets: &[DatasetId]) -> Result<Held, LockError> {
        match &self.manager.0 {
            Place::Here(local) => local.lock_now(datasets, self.kind, &self.note).map(Held::Here),
            Place::There(distant) => {
                distant.lock_now(datasets, self.kind, &self.note).await.map(Held::There)
            }
        }
    }

    async fn wait(&self, first: &[DatasetId], deadline: Instant) -> Result<Held, LockError> {
        let (kind, note) = (self.kind, &self.note);
        match &self.manager.0 {
            Place::Here(local) => local.wait(first, kind, note, deadline).await.map(Held::Here),
            Place::There(distant) => {
                distant.wait(first, kind, note, deadline).await.map(Held::There)
            }
        }
    }

    fn lock(&self, held: Vec<Held>) -> Lock {
        Lock::new(self.datasets.clone(), self.kind, held)
    }
}

impl IntoFuture for Locking {
    type Output = Result<Lock, LockError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.take())
    }
}
