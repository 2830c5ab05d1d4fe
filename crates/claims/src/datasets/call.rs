//! Which call takes which lock. `docs/datasets.md` has the same table, and a test compares them.

use super::LockType;
use super::request::Operation;

/// Something that is done with datasets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// Read files, by their ids or by those of a prepared set.
    GetData,
    /// Add a file. It changes nothing that is there, so it goes beside readers and other `put`s.
    Put,
    /// Give a file a second name.
    GetLink,
    /// Have what is there written to the archive.
    Write,
    /// Take files away.
    Delete,
    /// Ask for files to be moved to the archive: only queued.
    Archive,
    /// Ask for files to be brought back: only queued.
    Restore,
    /// Ask for files to be made ready: only queued.
    PrepareData,
    /// Look whether files are there.
    GetStatus,
    /// Look whether a prepared set is ready.
    IsPrepared,
    /// Look how large files are.
    GetSize,
    /// The worker that writes to the archive.
    BackgroundWrite,
    /// The worker that moves to the archive.
    BackgroundArchive,
    /// The worker that brings back from the archive.
    BackgroundRestore,
    /// The worker that takes files away.
    BackgroundDelete,
}

/// How long a call keeps its lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldFor {
    /// Until the last byte was sent.
    TheStream,
    /// For the call.
    TheCall,
    /// For as long as the worker works.
    TheWorker,
    /// It takes none.
    Nothing,
}

use HeldFor::{Nothing, TheCall, TheStream, TheWorker};
use LockType::{Exclusive, Shared};

impl Call {
    /// All of them, each with its name and its lock.
    pub const TABLE: [(Self, &'static str, Option<LockType>, HeldFor); 15] = [
        (Self::GetData, "getData", Some(Shared), TheStream),
        (Self::Put, "put", Some(Shared), TheCall),
        (Self::GetLink, "getLink", Some(Shared), TheCall),
        (Self::Write, "write", Some(Shared), TheCall),
        (Self::Delete, "delete", Some(Exclusive), TheCall),
        (Self::Archive, "archive", None, Nothing),
        (Self::Restore, "restore", None, Nothing),
        (Self::PrepareData, "prepareData", None, Nothing),
        (Self::GetStatus, "getStatus", None, Nothing),
        (Self::IsPrepared, "isPrepared", None, Nothing),
        (Self::GetSize, "getSize", None, Nothing),
        (Self::BackgroundWrite, "background write", Some(Shared), TheWorker),
        (Self::BackgroundArchive, "background archive", Some(Exclusive), TheWorker),
        (Self::BackgroundRestore, "background restore", Some(Exclusive), TheWorker),
        (Self::BackgroundDelete, "background delete", Some(Exclusive), TheWorker),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The lock it takes, if it takes one.
    ///
    /// ```
    /// use claims::datasets::{Call, LockType};
    /// assert_eq!(Call::Put.lock(), Some(LockType::Shared));
    /// assert_eq!(Call::Delete.lock(), Some(LockType::Exclusive));
    /// assert_eq!(Call::Archive.lock(), None);
    /// ```
    pub fn lock(self) -> Option<LockType> {
        self.row().2
    }

    /// How long it keeps it.
    pub fn held_for(self) -> HeldFor {
        self.row().3
    }

    /// The call of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    fn row(self) -> &'static (Self, &'static str, Option<LockType>, HeldFor) {
        // The table is in the order of the enum, as a test makes sure.
        &Self::TABLE[self as usize]
    }
}

impl Operation {
    /// The lock that its worker takes on the dataset.
    pub fn lock(self) -> LockType {
        let call = match self {
            Self::Write => Call::BackgroundWrite,
            Self::Archive => Call::BackgroundArchive,
            Self::Restore => Call::BackgroundRestore,
            Self::Delete => Call::BackgroundDelete,
        };
        call.lock().expect("workers take a lock")
    }
}

#[cfg(test)]
mod tests {
    use super::Call;

    #[test]
    fn table_is_in_the_order_of_the_calls() {
        for (nth, row) in Call::TABLE.iter().enumerate() {
            assert_eq!(row.0 as usize, nth);
            assert_eq!(Call::parse(row.1), Some(row.0));
        }
    }
}
