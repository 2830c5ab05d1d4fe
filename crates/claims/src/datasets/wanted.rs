//! What could be begun now, if its lock can be had.

use alloc::vec;
use alloc::vec::Vec;

use super::record::Record;
use super::request::{Operation, Requested};
use super::{DatasetId, Item, LockType};
use crate::time::{Span, Stamp, Timestamp};

/// How long requests wait at least, so that those which cancel each other can meet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delays {
    /// How long after the last request a dataset is written.
    pub dataset_writes: Span,
    /// How long after the first request anything is done with datafiles.
    pub datafiles: Span,
}

/// Work for one worker under one lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// What is to be done.
    pub operation: Operation,
    /// The dataset that has to be locked.
    pub dataset: DatasetId,
    /// What it is to be done with: the dataset, or some of its files.
    pub items: Vec<Item>,
}

impl Wanted {
    /// The lock it takes.
    pub fn lock(&self) -> LockType {
        self.operation.lock()
    }
}

/// What could be begun now, the oldest request first. All files of a dataset with which the same is
/// to be done share one lock; what else is wanted of that dataset meets that lock and waits.
pub fn wanted<'a>(
    records: impl IntoIterator<Item = (Item, &'a Record)>,
    now: Timestamp,
    delays: &Delays,
) -> Vec<Wanted> {
    let mut due: Vec<(Stamp, Item, Requested)> = Vec::new();
    let mut first_file: Option<Timestamp> = None;
    for (item, record) in records {
        let Some(queued) = &record.queued else { continue };
        let is_file = matches!(item, Item::Datafile { .. });
        if is_file {
            let since = queued.since.at;
            first_file = Some(first_file.map_or(since, |first| first.min(since)));
        }
        let writes = queued.state.operation() == Operation::Write;
        let delayed = !is_file && writes && queued.not_before > now;
        if record.changing.is_none() && !delayed {
            due.push((queued.since, item, queued.state));
        }
    }
    let files_wait = first_file.is_some_and(|first| first + delays.datafiles > now);
    due.retain(|(_, item, _)| !(files_wait && matches!(item, Item::Datafile { .. })));
    due.sort_unstable_by_key(|(since, item, _)| (since.at, *item));

    let mut wanted: Vec<Wanted> = Vec::new();
    for (_, item, state) in due {
        let (operation, dataset) = (state.operation(), item.dataset());
        let file = matches!(item, Item::Datafile { .. });
        let same = wanted.iter_mut().find(|one| {
            file && one.operation == operation
                && one.dataset == dataset
                && matches!(one.items[..], [Item::Datafile { .. }, ..])
        });
        match same {
            Some(one) => one.items.push(item),
            None => wanted.push(Wanted { operation, dataset, items: vec![item] }),
        }
    }
    wanted
}
