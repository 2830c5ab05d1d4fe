//! What a driver must do for us.

use std::future::Future;

use sqlx::Database;

use super::Verdict;
use crate::{Dialect, Kind, Sql, Value};

/// A database that statements can be run on: SQLite, PostgreSQL, MySQL (and MariaDB).
pub trait Backend: Database {
    /// Its words.
    const DIALECT: Dialect;

    /// How a transaction that will write begins, if not by `BEGIN`.
    #[doc(hidden)]
    const BEGIN: Option<&'static str> = None;

    /// Runs a statement and says how many rows matched.
    #[doc(hidden)]
    fn run(
        connection: &mut Self::Connection,
        sql: Sql,
    ) -> impl Future<Output = Result<u64, sqlx::Error>> + Send;

    /// Runs a statement and reads its rows.
    #[doc(hidden)]
    fn fetch(
        connection: &mut Self::Connection,
        sql: Sql,
        kinds: &[Option<Kind>],
    ) -> impl Future<Output = Result<Vec<Vec<Value>>, sqlx::Error>> + Send;

    /// What an error that the database itself reports means for the statement.
    #[doc(hidden)]
    fn verdict(error: &dyn sqlx::error::DatabaseError) -> Verdict;
}

/// The same for every driver, over its own types. All statements are prepared once for each connection.
macro_rules! backend {
    ($database:ident) => {
        fn run(
            connection: &mut Self::Connection,
            sql: $crate::Sql,
        ) -> impl Future<Output = Result<u64, sqlx::Error>> + Send {
            async move {
                let arguments = arguments(&sql.values)?;
                let text = sqlx::AssertSqlSafe(sql.text);
                let done = sqlx::query_with::<$database, _>(text, arguments);
                Ok(done.execute(connection).await?.rows_affected())
            }
        }

        fn fetch(
            connection: &mut Self::Connection,
            sql: $crate::Sql,
            kinds: &[Option<$crate::Kind>],
        ) -> impl Future<Output = Result<Vec<Vec<$crate::Value>>, sqlx::Error>> + Send {
            async move {
                let arguments = arguments(&sql.values)?;
                let text = sqlx::AssertSqlSafe(sql.text);
                let rows = sqlx::query_with::<$database, _>(text, arguments);
                let rows = rows.fetch_all(connection).await?;
                let read = |row: &_, (place, kind): (usize, &Option<$crate::Kind>)| {
                    read(row, place).map(|value| value.read_as(*kind))
                };
                rows.iter()
                    .map(|row| kinds.iter().enumerate().map(|column| read(row, column)).collect())
                    .collect()
            }
        }
    };
}
#[allow(unused_imports, reason = "no driver, no use")]
pub(super) use backend;

/// The arguments of a statement, each as its driver knows it.
macro_rules! arguments {
    ($arguments:ident, $value:ident => $moment:expr) => {
        fn arguments(values: &[Value]) -> Result<$arguments, sqlx::Error> {
            let mut arguments = $arguments::default();
            for value in values {
                match value {
                    // NULL is a word in the statement, and never bound.
                    Value::Null => arguments.add(None::<bool>),
                    Value::Bool(value) => arguments.add(*value),
                    Value::Int(value) => arguments.add(*value),
                    Value::Float(value) => arguments.add(*value),
                    Value::Text(value) => arguments.add(value.clone()),
                    Value::Bytes(value) => arguments.add(value.clone()),
                    Value::Moment($value) => arguments.add($moment),
                }
                .map_err(sqlx::Error::Encode)?;
            }
            Ok(arguments)
        }
    };
}
#[allow(unused_imports, reason = "no driver, no use")]
pub(super) use arguments;

/// The moment as the drivers know it.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) fn datetime(
    moment: crate::Moment,
) -> Result<sqlx::types::time::OffsetDateTime, sqlx::Error> {
    let nanos = i128::from(moment.micros()) * 1000;
    sqlx::types::time::OffsetDateTime::from_unix_timestamp_nanos(nanos)
        .map_err(|error| sqlx::Error::Encode(error.into()))
}

/// The moment, from what the drivers know.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) fn moment(datetime: sqlx::types::time::OffsetDateTime) -> Value {
    let micros = datetime.unix_timestamp_nanos().div_euclid(1000);
    Value::Moment(crate::Moment::from_micros(micros.try_into().unwrap_or(i64::MAX)))
}

/// A column of a type that none of our kinds can hold.
pub(super) fn unreadable(place: usize, type_name: &str) -> sqlx::Error {
    let says = format!("columns of type {type_name} cannot be read; leave it out of the resource");
    sqlx::Error::ColumnDecode { index: place.to_string(), source: says.into() }
}
