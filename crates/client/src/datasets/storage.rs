//! Locks that the storage itself has, so that also other programs are kept out.

use std::io;

use super::{DatasetId, LockType};

/// The storage of datasets, if it has locks of its own.
///
/// It is asked once for each dataset: when this data server locks it first, be it for one or for many.
/// It must not wait for anybody: the whole lock manager waits for it.
pub trait Storage: Send + Sync {
    /// Locks a dataset. Nothing to keep means that this dataset needs no lock in its storage.
    fn lock(
        &self,
        dataset: DatasetId,
        kind: LockType,
    ) -> Result<Option<Box<dyn StorageLock>>, StorageError>;
}

/// A lock that the storage gave.
pub trait StorageLock: Send {
    /// Gives it back. What goes wrong is logged; the lock is gone for the lock manager in any case.
    fn close(self: Box<Self>) -> io::Result<()>;
}

/// Why the storage gives no lock.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// Another program has it.
    #[error("another program has it")]
    AlreadyLocked,
    /// It could not be found out.
    #[error(transparent)]
    Io(#[from] io::Error),
}
