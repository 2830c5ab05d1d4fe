//! The queue of operations at work: each is begun when its lock can be had, by a worker that the
//! program brings along. Nothing happens by itself: [`Operations::tick`] is called as often as the
//! program likes, with the time it is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use claims::datasets::{Note, Queue, Wanted};

use super::error::LockError;
use super::held::Lock;
use super::manager::LockManager;
use super::{DatasetId, Delays, Item, NotPossible, Operation, Requested, ServiceStatus, Stamp};

/// Does the work.
pub trait Worker: Send + Sync {
    /// Begins a job and returns; the work is done on a thread, or wherever the worker likes. The lock
    /// is held until the job is [finished](Job::finish) or dropped.
    fn begin(&self, job: Job);
}

impl<F: Fn(Job) + Send + Sync> Worker for F {
    fn begin(&self, job: Job) {
        self(job);
    }
}

/// The queue of what is written, archived, restored and deleted in the background. Clones share it.
///
/// ```
/// use tenure::datasets::{
///     DatasetId, Delays, Item, Job, LockManager, LockType, Operation, Operations, now,
/// };
///
/// let locks = LockManager::new();
/// let worker = |job: Job| {
///     std::thread::spawn(move || {
///         // … restores job.items() …
///         job.finish(now(), |_item| Ok(()));
///     });
/// };
/// let operations = Operations::new(locks.clone(), Delays::default(), worker);
/// let item = Item::Dataset(DatasetId(2));
/// operations.request(item, Operation::Restore, "1/2 (F/I/V/D)", now())?;
/// assert!(operations.is_maybe_offline(item));
///
/// let reader = locks.lock([2], LockType::Shared).get()?;
/// operations.tick(now()); // refused: it stays for the next time
/// drop(reader);
/// operations.tick(now()); // the worker begins
/// # while operations.is_maybe_offline(item) { std::thread::yield_now() }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Operations(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    last_worker: Mutex<u64>,
    locks: LockManager,
    worker: Box<dyn Worker>,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Operations {
    /// An empty queue.
    pub fn new(locks: LockManager, delays: Delays, worker: impl Worker + 'static) -> Self {
        Self(Arc::new(Shared {
            queue: Mutex::new(Queue::new(delays)),
            last_worker: Mutex::new(0),
            locks,
            worker: Box::new(worker),
        }))
    }

    /// Requests an operation. `data` is what people call the item: `investigation/dataset (names)`, or
    /// the location of a file.
    pub fn request(
        &self,
        item: Item,
        request: Operation,
        data: &str,
        now: Stamp,
    ) -> Result<(), NotPossible> {
        self.0.queue().request(item, request, data, Note::default(), now)
    }

    /// Somebody wants to have it ready: failures to restore it are forgotten.
    pub fn prepare(&self, item: Item) {
        self.0.queue().prepare(item);
    }

    /// Begins whatever can be begun now. What is locked, or cannot be locked for another reason, stays
    /// for the next time.
    pub fn tick(&self, now: Stamp) {
        // The locks are taken without the queue: whoever requests something does not wait for them.
        let wanted = self.0.queue().wanted(now);
        for wanted in wanted {
            let reason = format!("background {}", wanted.operation.as_str().to_lowercase());
            let locking = self.0.locks.lock([wanted.dataset], wanted.lock()).reason(&reason);
            match locking.get() {
                Ok(lock) => self.begin(wanted, lock, now),
                Err(error) if error.is_busy() => {}
                Err(error) => warn(&wanted, &error),
            }
        }
    }

    fn begin(&self, mut wanted: Wanted, lock: Lock, now: Stamp) {
        let number = {
            let mut last = self.0.last_worker.lock().unwrap_or_else(PoisonError::into_inner);
            *last += 1;
            *last
        };
        self.0.queue().start(&mut wanted, number, now);
        // What was asked for meanwhile may have left nothing to do.
        if !wanted.items.is_empty() {
            let shared = self.0.clone();
            self.0.worker.begin(Job { shared, wanted, lock, number, begun: now });
        }
    }

    /// What is requested of an item, or being done with it.
    pub fn state(&self, item: Item) -> Option<Requested> {
        self.0.queue().state(item)
    }

    /// Whether a call that needs its data has to be refused: they may not be there.
    pub fn is_maybe_offline(&self, item: Item) -> bool {
        self.0.queue().is_maybe_offline(item)
    }

    /// What `getServiceStatus` answers.
    pub fn service_status(&self) -> ServiceStatus {
        let mut status = ServiceStatus { locks: self.0.locks.locks(), ..Default::default() };
        for (item, record) in self.0.queue().records() {
            status.add(item, record);
        }
        status
    }
}

impl std::fmt::Debug for Operations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Operations")
    }
}

fn warn(wanted: &Wanted, error: &LockError) {
    let (operation, dataset) = (wanted.operation, wanted.dataset);
    tracing::warn!(%operation, %dataset, %error, "put off: the lock cannot be had");
}

/// Work to be done under a lock. Dropped unfinished, it counts as failed.
pub struct Job {
    shared: Arc<Shared>,
    wanted: Wanted,
    lock: Lock,
    number: u64,
    begun: Stamp,
}

impl Job {
    /// What is to be done.
    pub fn operation(&self) -> Operation {
        self.wanted.operation
    }

    /// The dataset that is locked for it.
    pub fn dataset(&self) -> DatasetId {
        self.wanted.dataset
    }

    /// What it is to be done with: the dataset, or some of its files.
    pub fn items(&self) -> &[Item] {
        &self.wanted.items
    }

    /// The lock it works under.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Says how it went with each item.
    pub fn finish(mut self, now: Stamp, outcome: impl FnMut(Item) -> Result<(), String>) {
        self.end(now, outcome);
    }

    fn end(&mut self, now: Stamp, mut outcome: impl FnMut(Item) -> Result<(), String>) {
        let mut queue = self.shared.queue();
        for item in self.wanted.items.drain(..) {
            queue.finish(item, self.number, outcome(item), now);
        }
        drop(queue);
        // After it: whoever gets the lock finds the item as it was left.
        self.lock.release();
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.end(self.begun, |_| Err("the worker ended without saying how it went".into()));
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Job({} of {:?})", self.wanted.operation, self.wanted.items)
    }
}
