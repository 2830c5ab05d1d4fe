//! Taking a snapshot, part by part, while the store goes on.

use super::chore::{SnapshotPart, Then};
use super::chores::names_of;
use super::ledger::Ledger;
use super::medium::Medium;
use super::snapshot::{Cut, write_block, write_claim, write_header, write_trailer};
use crate::planted::Bug;

/// How much of a snapshot may be unsynced before it is brought up to date.
const SYNC_EVERY: u64 = 1 << 20;
/// How many snapshots are kept: the newest, and one to fall back on.
const KEPT: usize = 2;

/// A snapshot under way.
pub(super) struct Snapshotting<M: Medium> {
    cut: Cut,
    file: Option<M::File>,
    offset: u64,
    unsynced: u64,
    claims: u64,
}

impl<M: Medium> Ledger<M> {
    /// The next part of the snapshot under way, or the first of a new one if the log has grown
    /// beyond what is live.
    pub(super) fn next_snapshot_part(&mut self) -> Option<SnapshotPart<M>> {
        if self.snapshotting.is_none() {
            if !self.snapshot_due() || self.journal.durable < self.journal.sequence {
                return None;
            }
            self.begin_snapshot();
        }
        let salt = self.journal.salt;
        let snapshot = self.snapshotting.as_mut().expect("begun above if there was none");
        let mut bytes = Vec::new();
        if snapshot.offset == 0 {
            write_header(&mut bytes, &snapshot.cut, &salt);
        }
        let drops_waiter = self.options.planted.is(Bug::SnapshotDropsWaiter);
        let slice = self.options.snapshot_slice;
        let mut count = 0;
        let mut more = false;
        let not_at_cut = self.options.planted.is(Bug::SnapshotNotAtCut);
        let state = &mut self.state;
        let live = not_at_cut.then(|| state.clone());
        write_block(&mut bytes, &salt, |out| {
            more = state.read_cut(slice, |record| {
                if drops_waiter && record.claim.status() == claims::Status::Waiting {
                    return;
                }
                count += 1;
                let now = live.as_ref().and_then(|now| now.record(record.claim.id));
                write_claim(out, now.unwrap_or(record));
            });
        });
        if count == 0 {
            // An empty block would read as the trailer.
            bytes.truncate(bytes.len() - 8);
        }
        snapshot.claims += count;
        if !more {
            write_trailer(&mut bytes, &salt, snapshot.claims);
        }
        let offset = snapshot.offset;
        snapshot.offset += bytes.len() as u64;
        snapshot.unsynced += bytes.len() as u64;
        let then = match more {
            false if self.options.planted.is(Bug::SnapshotNamedTooSoon) => Then::SealTooSoon,
            false => Then::Seal,
            true if snapshot.unsynced >= SYNC_EVERY => {
                snapshot.unsynced = 0;
                Then::Sync
            }
            true => Then::Nothing,
        };
        Some(SnapshotPart {
            medium: self.medium.clone(),
            sequence: snapshot.cut.sequence,
            file: snapshot.file.clone(),
            offset,
            bytes,
            then,
        })
    }

    /// Whether the log has grown so far beyond what is live that a snapshot is worth its bytes.
    pub(super) fn snapshot_due(&self) -> bool {
        self.snapshotting.is_none()
            && self.journal.since_snapshot
                >= self.options.snapshot_after.max(self.last_snapshot_bytes)
    }

    /// Cuts here, where everything is durable.
    fn begin_snapshot(&mut self) {
        let cut = Cut {
            sequence: self.journal.sequence,
            position: self.journal.position,
            stamp: self.written,
            counters: self.state.counters(),
        };
        self.state.begin_cut();
        self.journal.since_snapshot = 0;
        self.snapshotting =
            Some(Snapshotting { cut, file: None, offset: 0, unsynced: 0, claims: 0 });
        if self.options.planted.is(Bug::TruncatedTooSoon) {
            let covered = self.journal.take_covered(cut.sequence);
            self.obsolete(names_of(&covered, &[]));
        }
    }

    /// A part was written; after the last one, what it makes superfluous can go.
    pub(super) fn snapshot_written(&mut self, file: M::File, sealed: bool) {
        let Some(snapshot) = &mut self.snapshotting else {
            return;
        };
        snapshot.file = Some(file);
        if !sealed {
            return;
        }
        self.last_snapshot_bytes = snapshot.offset;
        self.snapshots.push_back(snapshot.cut.sequence);
        self.snapshotting = None;
        let mut old = Vec::new();
        while self.snapshots.len() > KEPT {
            old.extend(self.snapshots.pop_front());
        }
        // Log is kept back to the older snapshot: that is what makes it worth falling back on.
        let fallback = self.snapshots.front().copied().filter(|_| self.snapshots.len() == KEPT);
        let covered = fallback.map_or(Vec::new(), |through| self.journal.take_covered(through));
        self.obsolete(names_of(&covered, &old));
    }

    /// The snapshot could not be written; the log still has everything.
    pub(super) fn give_snapshot_up(&mut self) {
        self.snapshotting = None;
        self.state.end_cut();
        // Due again at once: only a full disk brings us here, and there is a pause after it.
        let due = self.options.snapshot_after.max(self.last_snapshot_bytes);
        self.journal.since_snapshot = self.journal.since_snapshot.max(due);
    }
}
