//! Work beside the commit path: slow, and in nobody's way.
//!
//! The ledger says what is to be done, somebody runs it on whatever thread is idle, and the ledger
//! takes the result back. The simulator runs the same chores in line, and crashes between them.

use std::io;

use super::frame::Salt;
use super::medium::{Medium, MediumFile};
use super::segment::{Segment, prepare_segment};
use super::snapshot::snapshot_name;

/// Work beside the commit path. Runs anywhere, then goes back with
/// [`Ledger::finish`](super::Ledger::finish).
pub struct Chore<M: Medium>(pub(super) Task<M>);

/// How a chore went.
pub struct ChoreDone<M: Medium>(pub(super) Outcome<M::File>);

pub(super) enum Task<M: Medium> {
    PrepareSegment { medium: M, number: u64, salt: Salt, bytes: u64 },
    WriteSnapshot(SnapshotPart<M>),
    Remove { medium: M, names: Vec<String> },
}

/// The chore that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChoreKind {
    Preparing,
    Other,
}

/// The next bytes of a snapshot.
pub(super) struct SnapshotPart<M: Medium> {
    pub(super) medium: M,
    pub(super) sequence: u64,
    /// Nothing for the first part.
    pub(super) file: Option<M::File>,
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) then: Then,
}

/// What to do after the bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    /// Bring the disk up to date, so that the last sync has little to do.
    Sync,
    /// It is complete: make it durable, and only then give it its name.
    Seal,
    /// For [`Bug::SnapshotNamedTooSoon`](crate::planted::Bug::SnapshotNamedTooSoon).
    SealTooSoon,
}

pub(super) enum Outcome<F> {
    Prepared(io::Result<Segment<F>>),
    Written { file: io::Result<F>, sealed: bool },
    Removed(io::Result<()>),
}

impl<M: Medium> Chore<M> {
    /// Does the work.
    pub fn run(self) -> ChoreDone<M> {
        ChoreDone(match self.0 {
            Task::PrepareSegment { medium, number, salt, bytes } => {
                Outcome::Prepared(prepare_segment(&medium, number, &salt, bytes))
            }
            Task::WriteSnapshot(part) => {
                let sealed = matches!(part.then, Then::Seal | Then::SealTooSoon);
                Outcome::Written { file: write_part(part), sealed }
            }
            Task::Remove { medium, names } => Outcome::Removed(remove(&medium, &names)),
        })
    }
}

fn write_part<M: Medium>(part: SnapshotPart<M>) -> io::Result<M::File> {
    let name = snapshot_name(part.sequence);
    let unfinished = format!("{name}.tmp");
    let written =
        part.file.map_or_else(|| part.medium.create(&unfinished, 0), Ok).and_then(|file| {
            file.write_at(part.offset, &part.bytes)?;
            match part.then {
                Then::Nothing => {}
                Then::Sync => file.sync()?,
                Then::Seal => {
                    file.sync()?;
                    part.medium.rename(&unfinished, &name)?;
                    part.medium.sync_names()?;
                }
                Then::SealTooSoon => {
                    part.medium.rename(&unfinished, &name)?;
                    part.medium.sync_names()?;
                }
            }
            Ok(file)
        });
    if written.is_err() {
        let _ = part.medium.remove(&unfinished);
    }
    written
}

/// Removes files, oldest first, so that a crash in between leaves no gap.
fn remove<M: Medium>(medium: &M, names: &[String]) -> io::Result<()> {
    for name in names {
        medium.remove(name)?;
    }
    medium.sync_names()
}
