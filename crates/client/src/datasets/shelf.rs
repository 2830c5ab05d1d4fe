//! What this data server has locked: how often, for whom, and with which lock of the storage.

use std::collections::BTreeMap;
use std::sync::Arc;

use claims::WallTime;
use claims::datasets::{Holder, LockLine, Note};

use super::error::LockError;
use super::storage::{Storage, StorageError, StorageLock};
use super::{DatasetId, LockType};

#[derive(Default)]
pub(super) struct Shelf {
    pub(super) storage: Option<Arc<dyn Storage>>,
    locked: BTreeMap<DatasetId, Locked>,
    last_ticket: u64,
}

struct Locked {
    kind: LockType,
    /// By ticket: the one who came first has the lowest.
    holders: BTreeMap<u64, Holder>,
    lock: Option<Box<dyn StorageLock>>,
}

/// What one lock has on the shelf.
#[derive(Debug, Default)]
pub(super) struct Ticket(Vec<(DatasetId, u64)>);

impl Shelf {
    /// Puts locks on the shelf, after the claims were granted. The storage is asked about those that
    /// are not there yet; if it refuses one of them, all is as before.
    pub(super) fn put(
        &mut self,
        datasets: &[DatasetId],
        kind: LockType,
        note: &Note,
        since: WallTime,
    ) -> Result<Ticket, LockError> {
        let mut ticket = Ticket::default();
        for &dataset in datasets {
            if let Err(error) = self.put_one(dataset, kind, note, since, &mut ticket) {
                self.take(&ticket);
                return Err(error);
            }
        }
        Ok(ticket)
    }

    fn put_one(
        &mut self,
        dataset: DatasetId,
        kind: LockType,
        note: &Note,
        since: WallTime,
        ticket: &mut Ticket,
    ) -> Result<(), LockError> {
        if !self.locked.contains_key(&dataset) {
            let asked = self.storage.as_ref().map(|storage| storage.lock(dataset, kind));
            let lock = asked.transpose().map_err(|error| match error {
                StorageError::AlreadyLocked => LockError::LockedElsewhere { dataset },
                StorageError::Io(error) => LockError::Storage { dataset, error },
            })?;
            let lock = lock.flatten();
            self.locked.insert(dataset, Locked { kind, holders: BTreeMap::new(), lock });
        }
        self.last_ticket += 1;
        let holder = Holder { since, note: note.clone() };
        let locked = self.locked.get_mut(&dataset).expect("it was put there if it was not");
        locked.holders.insert(self.last_ticket, holder);
        ticket.0.push((dataset, self.last_ticket));
        Ok(())
    }

    /// Takes locks from the shelf. The last one of a dataset closes the lock of its storage.
    pub(super) fn take(&mut self, ticket: &Ticket) {
        for (dataset, number) in &ticket.0 {
            let Some(locked) = self.locked.get_mut(dataset) else { continue };
            locked.holders.remove(number);
            if locked.holders.is_empty()
                && let Some(locked) = self.locked.remove(dataset)
                && let Some(Err(error)) = locked.lock.map(StorageLock::close)
            {
                tracing::warn!(%dataset, %error, "the lock of the storage was not closed well");
            }
        }
    }

    /// What is on it, for people.
    pub(super) fn lines(&self) -> Vec<LockLine> {
        let lines = self.locked.iter().map(|(&dataset, locked)| LockLine {
            dataset,
            kind: locked.kind,
            holders: locked.holders.values().cloned().collect(),
            waiting: 0,
        });
        lines.collect()
    }
}
