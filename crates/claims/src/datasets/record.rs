//! All that is known of one item: what is requested, what is being done, and what went wrong.

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::Item;
use super::note::Note;
use super::request::{Change, NotPossible, Operation, Requested, change};
use super::wanted::Delays;
use crate::time::{Stamp, Timestamp};

/// All that is known of one item. One that [is nothing](Record::is_nothing) need not be kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Record {
    /// What people call it: `investigation/dataset (names)`, or the location of a file.
    pub data: String,
    /// What is requested, if something is.
    pub queued: Option<Queued>,
    /// What is being done, if something is.
    pub changing: Option<Changing>,
    /// Whether it was to be written and has not been: then nothing may take it away.
    pub unwritten: bool,
    /// What went wrong, and has not gone well since.
    pub failures: BTreeMap<Operation, Failure>,
}

/// A request that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Queued {
    /// All requests taken together.
    pub state: Requested,
    /// When the first of them came.
    pub since: Stamp,
    /// Not done before that moment.
    pub not_before: Timestamp,
    /// Who asked last, and why.
    pub note: Note,
}

/// Something that is being done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Changing {
    /// What.
    pub operation: Operation,
    /// By which worker: the number of the lock it works under.
    pub worker: u64,
    /// Since when.
    pub since: Stamp,
    /// Whether another write was requested meanwhile: this one may have missed what is to be written.
    pub outdated: bool,
    /// Who requested it, and why.
    pub note: Note,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Failure {
    /// What the worker said.
    pub reason: String,
    /// When.
    pub since: Stamp,
}

impl Record {
    /// Takes a request in.
    pub fn request(
        &mut self,
        item: Item,
        request: Operation,
        note: Note,
        now: Stamp,
        delays: &Delays,
    ) -> Result<(), NotPossible> {
        let state = self.queued.as_ref().map(|queued| queued.state);
        let change = change(item, state, request)?;
        let restarts = request == Operation::Write && matches!(item, Item::Dataset(_));
        match change {
            Change::Unchanged => {}
            Change::Leaves => self.queued = None,
            Change::Delayed => {
                if let Some(queued) = &mut self.queued {
                    queued.not_before = now.at + delays.dataset_writes;
                }
            }
            Change::To(state) => {
                let since = self.queued.as_ref().map_or(now, |queued| queued.since);
                let kept = self.queued.as_ref().map_or(now.at, |queued| queued.not_before);
                let not_before = if restarts { now.at + delays.dataset_writes } else { kept };
                self.queued = Some(Queued { state, since, not_before, note });
            }
        }
        if request == Operation::Write {
            // Also where it is not queued because something else is: the write is owed.
            self.unwritten = true;
            self.changing.iter_mut().for_each(|changing| changing.outdated = true);
        }
        Ok(())
    }

    /// Somebody wants to have it ready, whatever went wrong before.
    pub fn prepare(&mut self) {
        self.failures.remove(&Operation::Restore);
    }

    /// What `opsQueue` shows: what is requested counts more than what is being done.
    pub fn state(&self) -> Option<Requested> {
        let changing = self.changing.as_ref().map(|changing| changing.operation.requested());
        self.queued.as_ref().map(|queued| queued.state).or(changing)
    }

    /// Whether its data may not be there: a call that needs them has to come again.
    pub fn is_maybe_offline(&self) -> bool {
        self.state().is_some_and(|state| state != Requested::Write)
    }

    /// Whether there is nothing to know.
    pub fn is_nothing(&self) -> bool {
        self.queued.is_none()
            && self.changing.is_none()
            && !self.unwritten
            && self.failures.is_empty()
    }

    /// Gives up an archiving that must not be: what was not written would be gone. True if it did.
    pub fn refuse_unwritten(&mut self, now: Stamp) -> bool {
        let archives =
            self.queued.as_ref().is_some_and(|queued| queued.state == Requested::Archive);
        if !archives || !self.unwritten || self.changing.is_some() {
            return false;
        }
        self.queued = None;
        let reason = "not archived, because it has not been written: request WRITE again".into();
        self.failures.insert(Operation::Archive, Failure { reason, since: now });
        true
    }

    /// A worker takes it up. False if that is not what is wanted any more.
    pub fn start(&mut self, operation: Operation, worker: u64, now: Stamp) -> bool {
        let Some(queued) = self
            .queued
            .take_if(|queued| queued.state.operation() == operation && self.changing.is_none())
        else {
            return false;
        };
        let note = queued.note.clone();
        if queued.state == Requested::WriteThenArchive {
            self.queued = Some(Queued { state: Requested::Archive, ..queued });
        }
        self.changing = Some(Changing { operation, worker, since: now, outdated: false, note });
        true
    }

    /// The worker is done, well or not.
    pub fn finish(&mut self, outcome: Result<(), String>, now: Stamp) {
        let Some(changing) = self.changing.take() else { return };
        match outcome {
            Ok(()) => {
                self.failures.remove(&changing.operation);
                if changing.operation == Operation::Write && !changing.outdated {
                    self.unwritten = false;
                }
            }
            Err(reason) => {
                self.failures.insert(changing.operation, Failure { reason, since: now });
            }
        }
    }

    /// The worker is gone without a word: what it was to do is requested again, before what was
    /// requested meanwhile.
    pub fn abandon(&mut self, item: Item) {
        let Some(changing) = self.changing.take() else { return };
        let later = self.queued.take();
        let requests = later.iter().flat_map(|later| later.state.requests());
        let mut state = Some(changing.operation.requested());
        for &request in requests {
            match change(item, state, request) {
                Ok(Change::To(next)) => state = Some(next),
                Ok(Change::Leaves) => state = None,
                Ok(Change::Unchanged | Change::Delayed) | Err(_) => {}
            }
        }
        let not_before = later.as_ref().map_or(changing.since.at, |later| later.not_before);
        let note = later.map_or(changing.note, |later| later.note);
        self.queued = state.map(|state| Queued { state, since: changing.since, not_before, note });
    }
}

#[cfg(feature = "wire")]
impl Record {
    /// As the data of a claim.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".into())
    }

    /// From the data of a claim, whoever made it. None if it is not a record.
    pub fn parse(data: &str) -> Option<Self> {
        serde_json::from_str(data).ok()
    }
}
