//! The same transactions, as somebody would write them who needs nothing but these: the statements are
//! prepared once for each connection, and what is bound has the size of a real claim.

use sqlx::mysql::MySqlPoolOptions;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection, MySqlPool, PgPool, SqlitePool};
use std::time::Duration;

use crate::servers;

/// One database, used by hand.
#[derive(Clone)]
pub(crate) enum Hand {
    Sqlite(SqlitePool),
    Postgres(PgPool),
    Mysql(MySqlPool),
}

/// About as many bytes as a claim and its events take.
const BODY: &[u8] = &[7; 80];

/// A decision by hand, in a transaction: who holds, who waits; then the claim, its place, the revision
/// of the resource, the event.
macro_rules! decide {
    ($on:expr, $name:expr, $id:expr, $claims:expr) => {{
        let on = $on;
        sqlx::query(
            "SELECT revision, fence, waiting FROM tenure_resources WHERE name = ? UNION ALL SELECT p.id, 0, 0 \
             FROM tenure_places p JOIN tenure_claims c ON c.id = p.id WHERE p.name = ? AND p.kind IN (1, 3) \
             UNION ALL SELECT * FROM (SELECT p.id, 1 AS a, 0 AS b FROM tenure_places p JOIN tenure_claims c \
             ON c.id = p.id WHERE p.name = ? AND p.kind = 0 ORDER BY p.id LIMIT 2) AS head",
        )
        .bind($name).bind($name).bind($name).fetch_all(&mut *on).await.unwrap();
        let guard = "UPDATE tenure_resources SET revision = revision + 1, fence = fence + 1 WHERE name = ?";
        sqlx::query(guard).bind($name).execute(&mut *on).await.unwrap();
        if $claims {
            sqlx::query(
                "INSERT INTO tenure_claims (id, key_hash, kind, status, created_wall, created_at, active_at, \
                 due, body) VALUES (?, ?, 3, 1, 0, 0, 0, 9000000000000000000, ?)",
            )
            .bind($id).bind(&super::key()[..]).bind(BODY).execute(&mut *on).await.unwrap();
            let place = "INSERT INTO tenure_places (name, kind, id) VALUES (?, 3, ?)";
            sqlx::query(place).bind($name).bind($id).execute(&mut *on).await.unwrap();
        } else {
            let end = "UPDATE tenure_claims SET kind = 4, status = 2, ended_at = 0, due = NULL, body = ? \
                       WHERE id = ?";
            sqlx::query(end).bind(BODY).bind($id).execute(&mut *on).await.unwrap();
            let place = "UPDATE tenure_places SET kind = 4 WHERE name = ? AND kind = 3 AND id = ?";
            sqlx::query(place).bind($name).bind($id).execute(&mut *on).await.unwrap();
        }
        let told = "INSERT INTO tenure_batches (happened_at, happened_wall, events, body) VALUES (0, 0, 2, ?)";
        sqlx::query(told).bind(BODY).execute(&mut *on).await.unwrap();
    }};
}

impl Hand {
    /// Makes the tables on both sides, so that nobody has to read what the other wrote, and the
    /// resources for this one.
    pub(crate) async fn prepare(urls: &[String; 2]) {
        for url in urls {
            servers::patiently(|| async {
                let opened = registry::place::open(url, claims::Rules::default()).await;
                opened.map(drop).map_err(|error| sqlx::Error::Protocol(error.to_string()))
            })
            .await;
        }
        let hand = Self::open(&urls[1]).await;
        for nth in 0..super::AT_ONCE {
            let make = format!(
                "INSERT INTO tenure_resources (name, revision, fence, waiting, touched_at) VALUES ({}, 0, 0, 0, 0)",
                if matches!(hand, Self::Postgres(_)) { "$1" } else { "?" }
            );
            let (make, name) = (sqlx::AssertSqlSafe(make), format!("bench/{nth}").into_bytes());
            match &hand {
                Self::Sqlite(pool) => sqlx::query(make).bind(name).execute(pool).await.map(drop),
                Self::Postgres(pool) => sqlx::query(make).bind(name).execute(pool).await.map(drop),
                Self::Mysql(pool) => sqlx::query(make).bind(name).execute(pool).await.map(drop),
            }
            .unwrap();
        }
    }

    pub(crate) async fn open(url: &str) -> Self {
        match url.split_once(':').unwrap() {
            ("sqlite", file) => {
                let options = SqliteConnectOptions::new()
                    .filename(file)
                    .journal_mode(SqliteJournalMode::Wal)
                    .synchronous(SqliteSynchronous::Full)
                    .busy_timeout(Duration::from_secs(10));
                let pool = SqlitePoolOptions::new().max_connections(1);
                Self::Sqlite(pool.connect_with(options).await.unwrap())
            }
            ("mysql", _) => {
                let pool = MySqlPoolOptions::new().max_connections(16).test_before_acquire(false);
                Self::Mysql(pool.connect(url).await.unwrap())
            }
            _ => {
                let pool = PgPoolOptions::new().max_connections(16).test_before_acquire(false);
                Self::Postgres(pool.connect(url).await.unwrap())
            }
        }
    }

    pub(crate) async fn cycle(&self, nth: u64) {
        let name = format!("bench/{nth}").into_bytes();
        let name = &name[..];
        match self {
            Self::Sqlite(pool) => {
                let mut on = pool.acquire().await.unwrap();
                let mut transaction = on.begin_with("BEGIN IMMEDIATE").await.unwrap();
                let id: (i64,) = sqlx::query_as(
                    "UPDATE tenure_store SET next_id = next_id + 1 RETURNING next_id - 1",
                )
                .fetch_one(&mut *transaction)
                .await
                .unwrap();
                decide!(&mut *transaction, name, id.0, true);
                transaction.commit().await.unwrap();
                let mut transaction = on.begin_with("BEGIN IMMEDIATE").await.unwrap();
                decide!(&mut *transaction, name, id.0, false);
                transaction.commit().await.unwrap();
            }
            Self::Mysql(pool) => {
                let mut transaction = pool.begin().await.unwrap();
                let drawn = sqlx::query("INSERT INTO tenure_ids VALUES (NULL)");
                let id = drawn.execute(&mut *transaction).await.unwrap().last_insert_id() as i64;
                let lock = "SELECT revision FROM tenure_resources WHERE name = ? FOR UPDATE";
                sqlx::query(lock).bind(name).fetch_all(&mut *transaction).await.unwrap();
                decide!(&mut *transaction, name, id, true);
                transaction.commit().await.unwrap();
                let mut transaction = pool.begin().await.unwrap();
                sqlx::query(lock).bind(name).fetch_all(&mut *transaction).await.unwrap();
                decide!(&mut *transaction, name, id, false);
                transaction.commit().await.unwrap();
            }
            Self::Postgres(pool) => postgres(pool, name).await,
        }
    }
}

const LOAD: &str = "SELECT revision, fence, waiting, nextval('tenure_ids') FROM tenure_resources WHERE name = $1 \
     UNION ALL SELECT p.id, 0, 0, 0 FROM tenure_places p JOIN tenure_claims c ON c.id = p.id WHERE p.name = $1 \
     AND p.kind IN (1, 3) UNION ALL SELECT * FROM (SELECT p.id, 1 AS a, 0 AS b, 0 AS c FROM tenure_places p \
     JOIN tenure_claims c ON c.id = p.id WHERE p.name = $1 AND p.kind = 0 ORDER BY p.id LIMIT 2) AS head";
const GUARD: &str = "WITH guard AS (UPDATE tenure_resources SET revision = revision + 1, fence = fence + 1 \
     WHERE name = $1 AND revision = $2 RETURNING 1), ";

/// One statement reads, one writes.
async fn postgres(pool: &PgPool, name: &[u8]) {
    let mut on = pool.acquire().await.unwrap();
    let rows: Vec<(i64, i64, i64, i64)> =
        sqlx::query_as(LOAD).bind(name).fetch_all(&mut *on).await.unwrap();
    let (revision, .., id) = rows[0];
    let claim = format!(
        "{GUARD} claim AS (INSERT INTO tenure_claims (id, key_hash, kind, status, created_wall, created_at, \
         active_at, due, body) SELECT $3, $4, 3, 1, 0, 0, 0, 9000000000000000000, $5 FROM guard), \
         place AS (INSERT INTO tenure_places (name, kind, id) SELECT $1, 3, $3 FROM guard), \
         told AS (INSERT INTO tenure_batches (happened_at, happened_wall, events, body) SELECT 0, 0, 2, $5 \
         FROM guard) SELECT COUNT(*) FROM guard"
    );
    let claim = sqlx::query(sqlx::AssertSqlSafe(claim)).bind(name).bind(revision).bind(id);
    claim.bind(&super::key()[..]).bind(BODY).execute(&mut *on).await.unwrap();
    let rows: Vec<(i64, i64, i64, i64)> =
        sqlx::query_as(LOAD).bind(name).fetch_all(&mut *on).await.unwrap();
    let end = format!(
        "{GUARD} claim AS (UPDATE tenure_claims SET kind = 4, status = 2, ended_at = 0, due = NULL, body = $4 \
         FROM guard WHERE id = $3), place AS (UPDATE tenure_places SET kind = 4 FROM guard WHERE name = $1 AND \
         kind = 3 AND id = $3), told AS (INSERT INTO tenure_batches (happened_at, happened_wall, events, body) \
         SELECT 0, 0, 1, $4 FROM guard) SELECT COUNT(*) FROM guard"
    );
    let end = sqlx::query(sqlx::AssertSqlSafe(end)).bind(name).bind(rows[0].0).bind(id);
    end.bind(BODY).execute(&mut *on).await.unwrap();
}
