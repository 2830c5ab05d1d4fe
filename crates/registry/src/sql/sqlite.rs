//! SQLite: one file for all processes of a machine.

use std::path::PathBuf;
use std::time::Duration;

use claims::Rules;
use sqlx::pool::PoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Connection, Sqlite, SqliteConnection, SqlitePool};

use super::SqlStore;
use super::notice::Bell;
use crate::error::StoreError;

/// How long to wait for another process that writes.
const BUSY: Duration = Duration::from_secs(10);

/// Opens the store in a file, which is made if it is not there.
pub(crate) async fn open(file: PathBuf, rules: Rules) -> Result<SqlStore<Sqlite>, StoreError> {
    let pool = connected(file.clone()).await.map_err(|error| {
        let file = file.display();
        StoreError::Unavailable(format!("{file} cannot be opened: {error}"))
    })?;
    // A look costs microseconds, so it may come often.
    let bell = Bell::silent(Duration::from_millis(1), Duration::from_millis(25));
    SqlStore::open(pool, rules, bell).await
}

async fn connected(file: PathBuf) -> Result<SqlitePool, sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        // An answer is on disk before it leaves.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY);
    let pool = PoolOptions::new().max_connections(4).acquire_timeout(BUSY);
    pool.idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        // A full disk undoes a transaction by itself, and the driver goes on believing in it: such a
        // connection begins no other.
        .after_release(|connection: &mut SqliteConnection, _| {
            Box::pin(async { Ok(!connection.is_in_transaction()) })
        })
        .connect_with(options)
        .await
}
