//! MySQL and MariaDB. Waiters look for themselves: there is nobody to tell them.

use std::time::Duration;

use claims::Rules;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::pool::PoolOptions;
use sqlx::{AssertSqlSafe, Executor, MySql};
use update_if::Dialect;

use super::SqlStore;
use super::notice::Bell;
use super::statement::Statement;
use super::trouble::Trouble;
use crate::error::StoreError;

const CONNECT: Duration = Duration::from_secs(5);
const CONNECTIONS: u32 = 16;
const TRIES: usize = 20;

/// Opens the store in a database.
pub(crate) async fn open(url: String, rules: Rules) -> Result<SqlStore<MySql>, StoreError> {
    let away = |error: sqlx::Error| {
        StoreError::Unavailable(format!("the MySQL database cannot be reached: {error}"))
    };
    let options: MySqlConnectOptions = url.parse().map_err(away)?;
    let pool = PoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(CONNECT)
        .test_before_acquire(false)
        .after_connect(|connection, _| Box::pin(settle_in(connection)));
    let pool = pool.connect_with(options).await.map_err(away)?;
    let bell = Bell::silent(Duration::from_millis(5), Duration::from_millis(200));
    SqlStore::open(pool, rules, bell).await
}

/// Each statement sees what is committed when it begins, and nothing waits for long: two decisions in
/// each other's way are better tried again. And since when this server runs is known from here on.
async fn settle_in(connection: &mut MySqlConnection) -> Result<(), sqlx::Error> {
    connection.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").await?;
    connection.execute("SET SESSION innodb_lock_wait_timeout = 5").await?;
    let unclear = |trouble: Trouble| sqlx::Error::Protocol(format!("{trouble:?}"));
    let started = started(connection).await.map_err(unclear)?;
    let set = AssertSqlSafe(format!("SET @tenure_started = {started}"));
    connection.execute(set).await.map(drop)
}

/// When the server started, in microseconds. It only says for how long it has been up, so the time is
/// taken before and after: if somebody slept in between, it is asked again.
async fn started(on: &mut MySqlConnection) -> Result<i64, Trouble> {
    let clock = "SELECT CAST(UNIX_TIMESTAMP(SYSDATE()) AS SIGNED)";
    let clock = || Statement::of(Dialect::Mysql, clock);
    for _ in 0..TRIES {
        let before = clock().rows::<MySql>(on, 1).await?;
        let ask = Statement::of(Dialect::Mysql, "SHOW GLOBAL STATUS LIKE 'Uptime'");
        let rows = ask.rows::<MySql>(on, 2).await?;
        let after = clock().rows::<MySql>(on, 1).await?;
        let uptime = rows.first().and_then(|row| row.text(1)).and_then(|text| text.parse().ok());
        let (Some(uptime), Some(before), Some(after)) = (uptime, before.first(), after.first())
        else {
            continue;
        };
        let (before, after, uptime): (i64, i64, i64) = (before.int(0)?, after.int(0)?, uptime);
        if after - before <= 1 {
            return Ok((before - uptime) * 1_000_000);
        }
    }
    Err(Trouble::Away("the database does not say when it started".to_owned()))
}
