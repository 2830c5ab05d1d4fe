//! What a ledger has to do beside the commit path, and what comes back.

use super::chore::{Chore, ChoreDone, ChoreKind, Outcome, Task};
use super::ledger::{Fatal, Ledger};
use super::medium::Medium;
use super::segment::segment_name;
use super::snapshot::snapshot_name;

impl<M: Medium> Ledger<M> {
    /// Work to be done beside the commit path, if there is some and none is under way. Call it
    /// between a commit and the next command.
    pub fn next_chore(&mut self) -> Option<Chore<M>> {
        if self.chore.is_some() || !self.pending.is_empty() {
            return None;
        }
        let task = self.next_task()?;
        self.chore = Some(match task {
            Task::PrepareSegment { .. } => ChoreKind::Preparing,
            Task::WriteSnapshot(_) | Task::Remove { .. } => ChoreKind::Other,
        });
        Some(Chore(task))
    }

    fn next_task(&mut self) -> Option<Task<M>> {
        let medium = self.medium.clone();
        if !self.obsolete.is_empty() {
            return Some(Task::Remove { medium, names: std::mem::take(&mut self.obsolete) });
        }
        if self.clock.raw().as_micros() < self.retry_at.as_micros() {
            return None;
        }
        if self.journal.spare.is_none() {
            let number = self.journal.next_number();
            let (salt, bytes) = (self.journal.salt, self.options.segment_bytes);
            return Some(Task::PrepareSegment { medium, number, salt, bytes });
        }
        self.next_snapshot_part().map(Task::WriteSnapshot)
    }

    /// Takes back a chore that was run.
    pub fn finish(&mut self, done: ChoreDone<M>) -> Result<(), Fatal> {
        self.chore = None;
        match done.0 {
            Outcome::Prepared(Ok(segment)) => {
                self.full = false;
                self.journal.spare = Some(segment);
            }
            Outcome::Prepared(Err(error)) => {
                if !self.full {
                    tracing::error!(%error, "no new log segment: registrations are refused");
                }
                self.full = true;
                self.try_later(error, "preparing a log segment")?;
            }
            Outcome::Written { file: Ok(file), sealed } => self.snapshot_written(file, sealed),
            Outcome::Written { file: Err(error), .. } => {
                self.give_snapshot_up();
                self.try_later(error, "writing a snapshot")?;
            }
            Outcome::Removed(Ok(())) => {}
            Outcome::Removed(Err(error)) => {
                tracing::warn!(%error, "files that are not needed any more were not removed");
            }
        }
        Ok(())
    }

    pub(super) fn obsolete(&mut self, names: Vec<String>) {
        self.obsolete.extend(names);
    }
}

/// The names of segments and snapshots that are not needed any more.
pub(super) fn names_of(segments: &[u64], snapshots: &[u64]) -> Vec<String> {
    let segments = segments.iter().map(|&number| segment_name(number));
    segments.chain(snapshots.iter().map(|&sequence| snapshot_name(sequence))).collect()
}
