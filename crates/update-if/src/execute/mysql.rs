//! MySQL and MariaDB. The driver asks for matched rows, not changed ones, so that the answer means the same everywhere.

use std::future::Future;

use sqlx::mysql::{MySqlArguments, MySqlDatabaseError, MySqlRow};
use sqlx::types::time::PrimitiveDateTime;
use sqlx::{Arguments, MySql, Row, TypeInfo, ValueRef};

use super::Verdict;
use super::backend::{self, Backend, datetime, moment};
use crate::{Dialect, Value};

impl Backend for MySql {
    const DIALECT: Dialect = Dialect::Mysql;

    backend::backend!(MySql);

    fn verdict(error: &dyn sqlx::error::DatabaseError) -> Verdict {
        let number = error.try_downcast_ref::<MySqlDatabaseError>().map(MySqlDatabaseError::number);
        match number {
            // Lock wait timeout, deadlock, lock not available, record changed (MariaDB's snapshot isolation).
            Some(1205 | 1213 | 3572 | 1020) => Verdict::Conflict,
            // Shutdown, connection killed, connection aborted.
            Some(1053 | 1927 | 1152 | 3169 | 4031) => Verdict::Unknown,
            Some(_) => Verdict::Refused,
            None => Verdict::Unknown,
        }
    }
}

backend::arguments!(MySqlArguments, value => datetime(*value)?);

fn read(row: &MySqlRow, place: usize) -> Result<Value, sqlx::Error> {
    let value = row.try_get_raw(place)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let type_info = value.type_info();
    let name = type_info.name().to_owned();
    Ok(match name.as_str() {
        "BIGINT UNSIGNED" => {
            let number = row.try_get::<u64, _>(place)?;
            Value::Int(number.try_into().map_err(|_| backend::unreadable(place, &name))?)
        }
        "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => {
            Value::Int(row.try_get_unchecked::<i64, _>(place)?)
        }
        "TINYINT UNSIGNED" | "SMALLINT UNSIGNED" | "MEDIUMINT UNSIGNED" | "INT UNSIGNED" => {
            Value::Int(row.try_get_unchecked::<i64, _>(place)?)
        }
        "FLOAT" => Value::Float(row.try_get::<f32, _>(place)?.into()),
        "DOUBLE" => Value::Float(row.try_get(place)?),
        "CHAR" | "VARCHAR" | "TINYTEXT" | "TEXT" | "MEDIUMTEXT" | "LONGTEXT" | "ENUM" => {
            Value::Text(row.try_get_unchecked(place)?)
        }
        "BINARY" | "VARBINARY" | "TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB" => {
            Value::Bytes(row.try_get_unchecked(place)?)
        }
        "DATETIME" | "TIMESTAMP" => {
            moment(row.try_get_unchecked::<PrimitiveDateTime, _>(place)?.assume_utc())
        }
        other => return Err(backend::unreadable(place, other)),
    })
}
