//! The queue of operations: time, locks and the news of workers come in; what to begin goes out.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::Item;
use super::note::Note;
use super::record::Record;
use super::request::{NotPossible, Operation, Requested};
use super::wanted::{Delays, Wanted, wanted};
use crate::time::Stamp;

/// What is requested of which item, what is being done, and what went wrong.
///
/// ```
/// use claims::datasets::{DatasetId, Delays, Item, LockType, Note, Operation, Queue, Requested};
/// use claims::Stamp;
///
/// let (item, now) = (Item::Dataset(DatasetId(2)), Stamp::default());
/// let mut queue = Queue::new(Delays::default());
/// queue.request(item, Operation::Write, "1/2 (F/I/V/D)", Note::default(), now)?;
/// queue.request(item, Operation::Archive, "1/2 (F/I/V/D)", Note::default(), now)?;
/// assert_eq!(queue.state(item), Some(Requested::WriteThenArchive));
///
/// // Somebody reads: the writer may go beside, the archiver would have to wait.
/// let mut begun = queue.tick(now, |wanted| (wanted.lock() == LockType::Shared).then_some(17));
/// let (wanted, worker) = begun.pop().unwrap();
/// assert_eq!((wanted.operation, worker), (Operation::Write, 17));
/// assert_eq!(queue.state(item), Some(Requested::Archive)); // while the writer runs
/// queue.finish(item, 17, Ok(()), now);
/// # Ok::<(), claims::datasets::NotPossible>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Queue {
    delays: Delays,
    records: BTreeMap<Item, Record>,
}

impl Queue {
    /// An empty queue.
    pub fn new(delays: Delays) -> Self {
        Self { delays, records: BTreeMap::new() }
    }

    /// Takes a request in. `data` is what people call the item.
    pub fn request(
        &mut self,
        item: Item,
        request: Operation,
        data: &str,
        note: Note,
        now: Stamp,
    ) -> Result<(), NotPossible> {
        let delays = self.delays;
        self.change(item, |record| {
            record.request(item, request, note, now, &delays)?;
            record.data = data.into();
            Ok(())
        })
    }

    /// Somebody wants to have it ready: failures to restore it are forgotten.
    pub fn prepare(&mut self, item: Item) {
        self.change(item, Record::prepare);
    }

    /// Begins whatever can be begun now. `lock` is asked for the lock of each, and answers with the
    /// worker's number or not at all: then it stays for the next time.
    pub fn tick(
        &mut self,
        now: Stamp,
        mut lock: impl FnMut(&Wanted) -> Option<u64>,
    ) -> Vec<(Wanted, u64)> {
        let mut begun = Vec::new();
        for mut wanted in self.wanted(now) {
            if let Some(worker) = lock(&wanted) {
                self.start(&mut wanted, worker, now);
                begun.push((wanted, worker));
            }
        }
        begun
    }

    /// What could be begun now, in this order, if its lock can be had. What must not be archived
    /// leaves the queue.
    pub fn wanted(&mut self, now: Stamp) -> Vec<Wanted> {
        for record in self.records.values_mut() {
            record.refuse_unwritten(now);
        }
        wanted(self.records.iter().map(|(item, record)| (*item, record)), now.at, &self.delays)
    }

    /// A worker takes it up under a lock. What is not wanted any more is taken out of it.
    pub fn start(&mut self, wanted: &mut Wanted, worker: u64, now: Stamp) {
        let operation = wanted.operation;
        wanted
            .items
            .retain(|&item| self.change(item, |record| record.start(operation, worker, now)));
    }

    /// A worker is done with an item, well or not.
    pub fn finish(&mut self, item: Item, worker: u64, outcome: Result<(), String>, now: Stamp) {
        self.by(item, worker, |record| record.finish(outcome, now));
    }

    /// A worker is gone without a word about this item: it is done again.
    pub fn abandon(&mut self, item: Item, worker: u64) {
        self.by(item, worker, |record| record.abandon(item));
    }

    /// What `opsQueue` shows for an item.
    pub fn state(&self, item: Item) -> Option<Requested> {
        self.records.get(&item).and_then(Record::state)
    }

    /// Whether a call that needs its data has to come again.
    pub fn is_maybe_offline(&self, item: Item) -> bool {
        self.records.get(&item).is_some_and(Record::is_maybe_offline)
    }

    /// All that is known, in the order of items.
    pub fn records(&self) -> impl Iterator<Item = (Item, &Record)> {
        self.records.iter().map(|(item, record)| (*item, record))
    }

    fn by(&mut self, item: Item, worker: u64, change: impl FnOnce(&mut Record)) {
        self.change(item, |record| {
            if record.changing.as_ref().is_some_and(|changing| changing.worker == worker) {
                change(record);
            }
        });
    }

    fn change<T>(&mut self, item: Item, change: impl FnOnce(&mut Record) -> T) -> T {
        let record = self.records.entry(item).or_default();
        let changed = change(record);
        if record.is_nothing() {
            self.records.remove(&item);
        }
        changed
    }
}
