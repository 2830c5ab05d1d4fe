//! What goes wrong with a database, named by what to do next.

use update_if::{Backend, Verdict};

use crate::error::StoreError;

/// Why an attempt came to nothing.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Somebody else was faster, or in the way. Nothing has happened: again.
    Again(String),
    /// The database cannot be reached. Nothing has happened.
    Away(String),
    /// The answer was lost: it may have happened.
    Unknown(String),
    /// It will not work the next time either.
    Refused(String),
    /// What is stored makes no sense.
    Corrupt(String),
    /// The database has been down since somebody looked: first its clock must go on.
    Restarted,
}

impl Trouble {
    /// An error before anything could last.
    pub(super) fn undone<DB: Backend>(error: sqlx::Error) -> Self {
        Self::of::<DB>(error).before_commit()
    }

    /// An error of a commit, or of a statement that is a transaction.
    #[allow(clippy::wildcard_enum_match_arm, reason = "whatever else it is, nobody knows")]
    pub(super) fn of<DB: Backend>(error: sqlx::Error) -> Self {
        let why = error.to_string();
        match &error {
            sqlx::Error::Database(said) if said.is_unique_violation() => Self::Again(why),
            sqlx::Error::Database(said) => match DB::verdict(&**said) {
                Verdict::Conflict => Self::Again(why),
                Verdict::Refused => Self::Refused(why),
                Verdict::Unknown => Self::Unknown(why),
            },
            sqlx::Error::PoolTimedOut => Self::Away("no connection became free in time".to_owned()),
            sqlx::Error::PoolClosed | sqlx::Error::Configuration(_) | sqlx::Error::Tls(_) => {
                Self::Away(why)
            }
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => Self::Corrupt(why),
            _ => Self::Unknown(why),
        }
    }

    /// Whether another attempt may help.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Again(_) | Self::Away(_) | Self::Unknown(_) => true,
            Self::Refused(_) | Self::Corrupt(_) | Self::Restarted => false,
        }
    }

    /// It happened inside a transaction that was not committed.
    pub(super) fn before_commit(self) -> Self {
        match self {
            Self::Unknown(why) => Self::Away(why),
            other @ (Self::Again(_)
            | Self::Away(_)
            | Self::Refused(_)
            | Self::Corrupt(_)
            | Self::Restarted) => other,
        }
    }

    /// What the one who asked is told.
    pub(super) fn told(self) -> StoreError {
        match self {
            Self::Again(why) => StoreError::Unavailable(format!(
                "others changed the same resources again and again, nothing has happened, try again: {why}"
            )),
            Self::Away(why) => StoreError::Unavailable(format!(
                "the database cannot be used now, nothing has happened: {why}"
            )),
            Self::Unknown(why) => StoreError::Unknown(format!(
                "the database's answer was lost, it may have happened or not, ask again with the same \
                 key: {why}"
            )),
            Self::Refused(why) => StoreError::Unavailable(format!(
                "the database refuses, nothing has happened: {why}"
            )),
            Self::Corrupt(why) => StoreError::Corrupt(why),
            Self::Restarted => {
                StoreError::Unavailable("the database has just restarted".to_owned())
            }
        }
    }
}
