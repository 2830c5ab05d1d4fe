//! SQLite.

use std::future::Future;

use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments, Row, Sqlite, TypeInfo, ValueRef};

use super::Verdict;
use super::backend::{self, Backend};
use crate::{Dialect, Value};

impl Backend for Sqlite {
    const DIALECT: Dialect = Dialect::Sqlite;

    /// A transaction that begins by reading and then writes cannot wait for another writer, it can only fail.
    const BEGIN: Option<&'static str> = Some("BEGIN IMMEDIATE");

    backend::backend!(Sqlite);

    fn verdict(error: &dyn sqlx::error::DatabaseError) -> Verdict {
        let code = error.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or(0);
        // The low byte is the kind of error, the rest its detail.
        match code & 0xff {
            5 | 6 => Verdict::Conflict, // busy, locked
            10 => Verdict::Unknown,     // the disk failed, perhaps in the middle of a commit
            _ => Verdict::Refused,
        }
    }
}

// SQLite has no type for moments: they are text, as they are written.
backend::arguments!(SqliteArguments, moment => moment.to_string());

/// Values have types here, columns do not.
fn read(row: &SqliteRow, place: usize) -> Result<Value, sqlx::Error> {
    let value = row.try_get_raw(place)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let type_info = value.type_info();
    Ok(match type_info.name() {
        "INTEGER" | "INT8" | "BOOLEAN" => Value::Int(row.try_get_unchecked(place)?),
        "REAL" => Value::Float(row.try_get_unchecked(place)?),
        "TEXT" | "DATETIME" | "DATE" | "TIME" => Value::Text(row.try_get_unchecked(place)?),
        "BLOB" => Value::Bytes(row.try_get_unchecked(place)?),
        other => return Err(backend::unreadable(place, other)),
    })
}
