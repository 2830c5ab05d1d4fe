//! A database of its own for one test.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::{AssertSqlSafe, Connection, Executor, MySqlConnection, PgConnection, SqliteConnection};

use crate::servers::{self, patiently};

/// Where a store may live.
pub(crate) struct House {
    pub(crate) url: String,
    _files: Option<tempfile::TempDir>,
}

impl House {
    /// Runs any SQL.
    pub(crate) async fn execute(&self, sql: &'static str) {
        match self.url.split_once(':').unwrap() {
            ("sqlite", _) => {
                SqliteConnection::connect(&self.url).await.unwrap().execute(sql).await.map(drop)
            }
            ("mysql", _) => {
                MySqlConnection::connect(&self.url).await.unwrap().execute(sql).await.map(drop)
            }
            _ => PgConnection::connect(&self.url).await.unwrap().execute(sql).await.map(drop),
        }
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn fresh() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) async fn sqlite() -> House {
    let files = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/claims.db", files.path().display());
    House { url, _files: Some(files) }
}

/// A schema of its own.
pub(crate) async fn postgres() -> House {
    let name = fresh();
    on_postgres(format!("CREATE SCHEMA {name}")).await;
    House { url: postgres_at("postgres", &format!("&options[search_path]={name}")), _files: None }
}

/// A whole database, for a test that breaks connections.
pub(crate) async fn postgres_database() -> House {
    let name = fresh();
    on_postgres(format!("CREATE DATABASE {name}")).await;
    House { url: postgres_at(&name, ""), _files: None }
}

fn postgres_at(name: &str, options: &str) -> String {
    let host = encoded(servers::postgres());
    format!("postgres://postgres@localhost/{name}?host={host}&sslmode=disable{options}")
}

async fn on_postgres(sql: String) {
    let url = postgres_at("postgres", "");
    let mut connection = patiently(|| async { PgConnection::connect(&url).await }).await;
    connection.execute(AssertSqlSafe(sql)).await.unwrap();
    connection.close().await.unwrap();
}

pub(crate) async fn mariadb() -> House {
    let socket = encoded(&servers::mariadb().join("mysql.sock"));
    let at =
        |name: &str| format!("mysql://root@localhost/{name}?socket={socket}&ssl-mode=disabled");
    let name = fresh();
    let mut connection = patiently(|| async { MySqlConnection::connect(&at("")).await }).await;
    connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    connection.close().await.unwrap();
    House { url: at(&name), _files: None }
}

fn encoded(path: &Path) -> String {
    path.to_str().unwrap().replace('/', "%2F")
}
