//! Why datasets are not locked.

use std::io;

use super::{AlreadyLocked, DatasetId};
use crate::error::ClaimError;

/// Why datasets are not locked. None of them is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// One of them is locked in this or another data server.
    #[error(transparent)]
    AlreadyLocked(#[from] AlreadyLocked),
    /// Another program has one of them, as the storage says.
    #[error("dataset {dataset} is locked by another program: try again when that is done")]
    LockedElsewhere {
        /// Which dataset.
        dataset: DatasetId,
    },
    /// The storage could not be asked.
    #[error("dataset {dataset} cannot be locked in its storage: {error}")]
    Storage {
        /// Which dataset.
        dataset: DatasetId,
        /// What happened.
        error: io::Error,
    },
    /// The lock server could not be asked, or refused for another reason.
    #[error(transparent)]
    Claim(#[from] ClaimError),
}

impl LockError {
    /// Whether somebody else is in the way: the same may succeed later.
    pub fn is_busy(&self) -> bool {
        match self {
            Self::AlreadyLocked(_) | Self::LockedElsewhere { .. } => true,
            Self::Claim(error) => {
                matches!(error, ClaimError::Busy { .. } | ClaimError::TimedOut { .. })
            }
            Self::Storage { .. } => false,
        }
    }
}
