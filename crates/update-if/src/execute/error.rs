//! What went wrong, named by what it means for the row.

use super::Backend;
use crate::{Invalid, WrongColumn};

/// Why there is no answer. Each says whether something may have happened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The statement cannot be meant. Nothing was sent.
    #[error("not sent: {0}")]
    Invalid(#[from] Invalid),
    /// No connection. Nothing has happened; try later.
    #[error("the database cannot be reached, nothing has happened: {0}")]
    Unavailable(#[source] sqlx::Error),
    /// A deadlock, or another writer in between. Nothing has happened; try again.
    #[error("another writer was in the way, nothing has happened, try again: {0}")]
    Conflict(#[source] sqlx::Error),
    /// The database refused the statement. Nothing has happened; the same statement will be refused again.
    #[error("the database refused the statement, nothing has happened: {0}")]
    Refused(#[source] sqlx::Error),
    /// The connection was lost after the statement was sent: it may have happened, or not. Read the row to find out.
    #[error("the answer was lost, the update may have happened or not, read the row: {0}")]
    Unknown(#[source] sqlx::Error),
    /// It has happened, but what came back could not be read into the object, which is as it was.
    #[error("the update has happened, but the row cannot be read: {0}")]
    Unreadable(#[from] WrongColumn),
}

/// What an error that the database reports means for the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Undone because of another writer.
    Conflict,
    /// Undone because it cannot be done.
    Refused,
    /// Nobody knows.
    Unknown,
}

impl Error {
    /// Whether something may have happened although there is no answer.
    pub fn may_have_happened(&self) -> bool {
        match self {
            Self::Unknown(_) | Self::Unreadable(_) => true,
            Self::Invalid(_) | Self::Unavailable(_) | Self::Conflict(_) | Self::Refused(_) => false,
        }
    }

    /// An error of a statement that is its own transaction.
    pub(crate) fn of<DB: Backend>(error: sqlx::Error) -> Self {
        match verdict::<DB>(&error) {
            Verdict::Conflict => Self::Conflict(error),
            Verdict::Refused => Self::Refused(error),
            Verdict::Unknown => Self::Unknown(error),
        }
    }

    /// An error before anything could last: of a question, or inside a transaction that is not committed.
    pub(crate) fn unchanged<DB: Backend>(error: sqlx::Error) -> Self {
        match verdict::<DB>(&error) {
            Verdict::Conflict => Self::Conflict(error),
            Verdict::Refused => Self::Refused(error),
            Verdict::Unknown => Self::Unavailable(error),
        }
    }
}

/// Unsure is unknown: only what the database itself says is believed, and what never left.
fn verdict<DB: Backend>(error: &sqlx::Error) -> Verdict {
    if let sqlx::Error::Database(error) = error {
        return DB::verdict(&**error);
    }
    let was_sent = !matches!(error, sqlx::Error::Encode(_) | sqlx::Error::InvalidArgument(_));
    if was_sent { Verdict::Unknown } else { Verdict::Refused }
}
