//! What may be requested, and what a request makes of one that waits already: the transition tables.

use super::Item;

/// What is done with data in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "UPPERCASE"))]
pub enum Operation {
    /// Copy to the archive.
    Write,
    /// Take away what the archive has.
    Archive,
    /// Bring back from the archive.
    Restore,
    /// Take away, also from the archive. Only for files.
    Delete,
}

impl Operation {
    /// All there are.
    pub const ALL: [Self; 4] = [Self::Write, Self::Archive, Self::Restore, Self::Delete];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Write => "WRITE",
            Self::Archive => "ARCHIVE",
            Self::Restore => "RESTORE",
            Self::Delete => "DELETE",
        }
    }

    /// The operation of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.as_str() == name)
    }

    /// What it is while it waits for its turn.
    pub fn requested(self) -> Requested {
        match self {
            Self::Write => Requested::Write,
            Self::Archive => Requested::Archive,
            Self::Restore => Requested::Restore,
            Self::Delete => Requested::Delete,
        }
    }
}

impl core::fmt::Display for Operation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is requested of an item, all requests taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Requested {
    /// To be written.
    #[cfg_attr(feature = "serde", serde(rename = "WRITE_REQUESTED"))]
    Write,
    /// To be archived.
    #[cfg_attr(feature = "serde", serde(rename = "ARCHIVE_REQUESTED"))]
    Archive,
    /// To be restored.
    #[cfg_attr(feature = "serde", serde(rename = "RESTORE_REQUESTED"))]
    Restore,
    /// To be deleted.
    #[cfg_attr(feature = "serde", serde(rename = "DELETE_REQUESTED"))]
    Delete,
    /// To be written, and then archived.
    #[cfg_attr(feature = "serde", serde(rename = "WRITE_THEN_ARCHIVE_REQUESTED"))]
    WriteThenArchive,
}

impl Requested {
    /// As the service status writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Write => "WRITE_REQUESTED",
            Self::Archive => "ARCHIVE_REQUESTED",
            Self::Restore => "RESTORE_REQUESTED",
            Self::Delete => "DELETE_REQUESTED",
            Self::WriteThenArchive => "WRITE_THEN_ARCHIVE_REQUESTED",
        }
    }

    /// What is done first.
    pub fn operation(self) -> Operation {
        match self {
            Self::Write | Self::WriteThenArchive => Operation::Write,
            Self::Archive => Operation::Archive,
            Self::Restore => Operation::Restore,
            Self::Delete => Operation::Delete,
        }
    }

    /// The requests that lead to it, in order.
    pub(super) fn requests(self) -> &'static [Operation] {
        match self {
            Self::Write => &[Operation::Write],
            Self::Archive => &[Operation::Archive],
            Self::Restore => &[Operation::Restore],
            Self::Delete => &[Operation::Delete],
            Self::WriteThenArchive => &[Operation::Write, Operation::Archive],
        }
    }
}

impl core::fmt::Display for Requested {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a request makes of an item in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    Unchanged,
    /// Nothing, but that its delay begins again.
    Delayed,
    /// It is in the queue as this.
    To(Requested),
    /// It leaves the queue: the two cancel each other.
    Leaves,
}

/// Why something cannot be requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotPossible {
    /// There is no such operation on whole datasets.
    #[error(
        "a whole dataset is not deleted in the background: request DELETE for each of its \
         datafiles, or take an EXCLUSIVE lock and delete"
    )]
    DeleteDataset,
}

/// The transition tables: what `request` makes of an item that is queued as `queued`, or not at all.
pub(super) fn change(
    item: Item,
    queued: Option<Requested>,
    request: Operation,
) -> Result<Change, NotPossible> {
    match item {
        Item::Dataset(_) => dataset(queued, request),
        Item::Datafile { .. } => Ok(datafile(queued, request)),
    }
}

fn dataset(queued: Option<Requested>, request: Operation) -> Result<Change, NotPossible> {
    use Requested::{Archive, Delete, Restore, Write, WriteThenArchive};
    let change = match (queued, request) {
        (_, Operation::Delete) => return Err(NotPossible::DeleteDataset),
        (None, request) => Change::To(request.requested()),

        (Some(Archive), Operation::Write) => Change::To(WriteThenArchive),
        (Some(Archive), Operation::Restore) => Change::To(Restore),

        (Some(Restore), Operation::Write) => Change::To(Write),
        (Some(Restore), Operation::Archive) => Change::To(Archive),

        (Some(Write | WriteThenArchive), Operation::Write) => Change::Delayed,
        (Some(Write), Operation::Archive) => Change::To(WriteThenArchive),
        (Some(WriteThenArchive), Operation::Restore) => Change::To(Write),

        (Some(Archive | WriteThenArchive), Operation::Archive)
        | (Some(Restore | Write), Operation::Restore)
        | (Some(Delete), Operation::Write | Operation::Archive | Operation::Restore) => {
            Change::Unchanged
        }
    };
    Ok(change)
}

fn datafile(queued: Option<Requested>, request: Operation) -> Change {
    use Requested::{Archive, Delete, Restore, Write, WriteThenArchive};
    match (queued, request) {
        (None, request) => Change::To(request.requested()),

        (Some(Archive), Operation::Restore) => Change::Leaves,
        (Some(Archive | Restore), Operation::Delete) => Change::To(Delete),
        (Some(Restore), Operation::Archive) => Change::To(Archive),

        (Some(Write), Operation::Archive) => Change::To(WriteThenArchive),
        (Some(WriteThenArchive), Operation::Restore) => Change::To(Write),
        (Some(Write | WriteThenArchive), Operation::Delete) => Change::Leaves,

        (Some(Archive | Restore | Write | WriteThenArchive | Delete), Operation::Write)
        | (Some(Archive | WriteThenArchive), Operation::Archive)
        | (Some(Restore | Write), Operation::Restore)
        | (Some(Delete), Operation::Archive | Operation::Restore | Operation::Delete) => {
            Change::Unchanged
        }
    }
}
