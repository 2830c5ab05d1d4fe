//! Real databases to be thrown away: every test has one of its own on a server that all share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{ConnectOptions, Connection, MySql, Pool, Postgres, Sqlite, pool::PoolOptions};
use update_if::{Backend, Sql};

use crate::servers::{self, PATIENCE, patiently};

/// A database of its own for one test.
pub(crate) struct World<DB: sqlx::Database> {
    pub(crate) pool: Pool<DB>,
    pub(crate) server: &'static str,
    /// Where the server listens, and what this test's database is called there.
    pub(crate) socket: PathBuf,
    pub(crate) name: String,
    _files: Option<tempfile::TempDir>,
}

impl<DB: Backend> World<DB> {
    /// Runs any SQL.
    pub(crate) async fn sql(&self, text: &str) -> u64 {
        let mut connection = self.pool.acquire().await.unwrap();
        let sql = Sql { text: text.to_owned(), values: Vec::new() };
        DB::run(&mut connection, sql).await.unwrap_or_else(|error| panic!("{text}: {error}"))
    }
}

/// At most so many connections to each test's database.
const CONNECTIONS: u32 = 40;

fn pool<DB: sqlx::Database>() -> PoolOptions<DB> {
    PoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(PATIENCE)
}

fn fresh() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) async fn sqlite() -> World<Sqlite> {
    let files = tempfile::tempdir().unwrap();
    let options = SqliteConnectOptions::new()
        .filename(files.path().join("db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(PATIENCE);
    let pool = pool().connect_with(options).await.unwrap();
    World {
        pool,
        server: "SQLite",
        socket: PathBuf::new(),
        name: String::new(),
        _files: Some(files),
    }
}

pub(crate) async fn postgres() -> World<Postgres> {
    let socket = servers::postgres();
    let options =
        || PgConnectOptions::new().socket(socket).username("postgres").ssl_mode(PgSslMode::Disable);
    let mut connection =
        patiently(|| async { options().database("postgres").connect().await }).await;
    let name = fresh();
    let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"));
    sqlx::query(create).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let options = options().database("postgres").options([("search_path", &name)]);
    let pool = pool().connect_with(options).await.unwrap();
    let socket = socket.join(".s.PGSQL.5432");
    World { pool, server: "PostgreSQL", socket, name, _files: None }
}

pub(crate) async fn mariadb() -> World<MySql> {
    let directory = servers::mariadb();
    mysql_at(directory, "MariaDB").await
}

/// A MySQL that refuses what MariaDB accepts.
pub(crate) async fn mysql() -> World<MySql> {
    let directory = servers::mysql();
    mysql_at(directory, "MySQL 5.6").await
}

async fn mysql_at(directory: &Path, server: &'static str) -> World<MySql> {
    let options = || {
        MySqlConnectOptions::new()
            .socket(directory.join("mysql.sock"))
            .username("root")
            .ssl_mode(MySqlSslMode::Disabled)
    };
    let mut connection = patiently(|| async { options().connect().await }).await;
    let name = fresh();
    let create = format!("CREATE DATABASE {name} DEFAULT CHARACTER SET utf8mb4");
    sqlx::query(sqlx::AssertSqlSafe(create)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let pool = pool().connect_with(options().database(&name)).await.unwrap();
    let socket = directory.join("mysql.sock");
    World { pool, server, socket, name, _files: None }
}

/// Each case runs on every database, as a test of its own.
#[macro_export]
macro_rules! on_every_database {
    ($($(#[$meta:meta])* async fn $name:ident($world:ident) $body:block)*) => {$(
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "a case may need nothing from around it")]
            use super::*;

            async fn on_one<DB: update_if::Backend>($world: $crate::databases::World<DB>) $body

            #[test]
            fn sqlite() {
                $crate::databases::run(async { on_one($crate::databases::sqlite().await).await });
            }

            #[test]
            fn postgres() {
                $crate::databases::run(async { on_one($crate::databases::postgres().await).await });
            }

            #[test]
            fn mariadb() {
                $crate::databases::run(async { on_one($crate::databases::mariadb().await).await });
            }

            #[test]
            fn mysql() {
                $crate::databases::run(async { on_one($crate::databases::mysql().await).await });
            }
        }
    )*};
}

pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}
