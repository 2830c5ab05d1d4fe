//! Claims in a database: SQLite, PostgreSQL, MySQL and MariaDB.
//!
//! **Problem.** Any number of processes decide about the same claims, and only the database is between
//! them.
//!
//! **Idea.** A decision reads the little that it needs (`load.rs`), runs the engine on it
//! (`claims::engine::execute_part`), and writes back what changed (`keep.rs`) in one transaction. Its
//! guard is a conditional update of the revision of every resource that it looked at: whoever comes
//! second finds the revision changed, loads again and decides again. All commands may be asked twice
//! (rule 10), so a lost answer is found out by asking again.
//!
//! Time is the database's (`timeline.rs`). Nobody is granted anything behind its back: a waiter whose
//! turn comes is called, and the process that waits for it (`wait.rs`) asks on its behalf.

mod change;
mod decide;
mod epoch;
mod forget;
mod history;
mod keep;
mod list;
mod load;
#[cfg(feature = "mysql")]
mod mysql;
mod notice;
#[cfg(feature = "postgres")]
mod postgres;
mod rows;
mod schema;
#[cfg(feature = "sqlite")]
mod sqlite;
mod statement;
mod store;
mod sweep;
mod tell;
#[cfg(all(test, feature = "sqlite"))]
mod tests;
mod timeline;
pub mod trial;
mod trouble;
mod wait;
mod waits;

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use claims::{ClaimId, Resources, Rules};
use sqlx::Pool;
use tokio::sync::{Semaphore, watch};
use update_if::{Backend, Dialect};

#[cfg(feature = "mysql")]
pub(crate) use self::mysql::open as mysql;
use self::notice::Bell;
#[cfg(feature = "postgres")]
pub(crate) use self::postgres::open as postgres;
#[cfg(feature = "sqlite")]
pub(crate) use self::sqlite::open as sqlite;
use self::timeline::Machine;
use self::trouble::Trouble;
use self::waits::Waits;
use crate::commits::Commits;
use crate::store::Pending;

/// Reads something from the body of a row, or says what is wrong with it.
#[cfg(all(feature = "etcd", feature = "object"))]
pub(crate) fn stored<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    keep::read(body).map_err(|trouble| format!("{trouble:?}"))
}

/// Decisions on one resource that come from this process go one by one: against each other they would
/// only be undone.
const LANES: usize = 64;

/// A store in a database.
pub(crate) struct SqlStore<DB: Backend> {
    desk: Arc<Desk<DB>>,
}

/// What all who ask this store share.
struct Desk<DB: Backend> {
    pool: Pool<DB>,
    rules: Rules,
    /// Writers of this process; a file has only one at a time.
    writers: Semaphore,
    lanes: [tokio::sync::Mutex<()>; LANES],
    /// The resources of claims that were met lately. They never change, so nobody has to ask.
    known: Mutex<HashMap<ClaimId, Resources>>,
    waits: Waits,
    bell: Bell,
    commits: Mutex<Commits>,
    /// Counts what this process committed, to wake who follows the history.
    written: watch::Sender<u64>,
    machine: Machine,
    tickets: AtomicU64,
    swept_to: Mutex<sweep::Cursor>,
}

impl<DB: Backend> SqlStore<DB> {
    /// Opens the store over a pool of connections: makes its tables if they are not there.
    fn open(pool: Pool<DB>, rules: Rules, bell: Bell) -> Pending<'static, Self> {
        let writers = match DB::DIALECT {
            Dialect::Sqlite => 1,
            Dialect::Postgres | Dialect::Mysql => Semaphore::MAX_PERMITS,
        };
        let desk = Desk {
            pool,
            rules,
            writers: Semaphore::new(writers),
            lanes: std::array::from_fn(|_| tokio::sync::Mutex::default()),
            known: Mutex::default(),
            waits: Waits::default(),
            bell,
            commits: Mutex::default(),
            written: watch::Sender::default(),
            machine: Machine::read(),
            tickets: AtomicU64::new(0),
            swept_to: Mutex::default(),
        };
        let desk = Arc::new(desk);
        Box::pin(async move {
            desk.prepare().await.map_err(Trouble::told)?;
            desk.sweep_in_the_background();
            Ok(Self { desk })
        })
    }
}
