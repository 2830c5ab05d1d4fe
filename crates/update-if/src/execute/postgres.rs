//! PostgreSQL.

use std::future::Future;

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::types::time::{OffsetDateTime, PrimitiveDateTime};
use sqlx::{Arguments, Postgres, Row, TypeInfo, ValueRef};

use super::Verdict;
use super::backend::{self, Backend, datetime, moment};
use crate::{Dialect, Value};

impl Backend for Postgres {
    const DIALECT: Dialect = Dialect::Postgres;

    backend::backend!(Postgres);

    fn verdict(error: &dyn sqlx::error::DatabaseError) -> Verdict {
        match error.code().as_deref() {
            // Serialisation failure, deadlock, lock not available.
            Some("40001" | "40P01" | "55P03") => Verdict::Conflict,
            // Completion unknown; connection failures; a server that ends or has ended this session.
            Some("40003" | "57P01" | "57P02" | "57P03" | "57P05") => Verdict::Unknown,
            Some(code) if code.starts_with("08") => Verdict::Unknown,
            Some(_) => Verdict::Refused,
            None => Verdict::Unknown,
        }
    }
}

backend::arguments!(PgArguments, value => datetime(*value)?);

fn read(row: &PgRow, place: usize) -> Result<Value, sqlx::Error> {
    let value = row.try_get_raw(place)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let type_info = value.type_info();
    Ok(match type_info.name() {
        "BOOL" => Value::Bool(row.try_get(place)?),
        "INT2" => Value::Int(row.try_get::<i16, _>(place)?.into()),
        "INT4" => Value::Int(row.try_get::<i32, _>(place)?.into()),
        "INT8" => Value::Int(row.try_get(place)?),
        "FLOAT4" => Value::Float(row.try_get::<f32, _>(place)?.into()),
        "FLOAT8" => Value::Float(row.try_get(place)?),
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" => Value::Text(row.try_get(place)?),
        "BYTEA" => Value::Bytes(row.try_get(place)?),
        "TIMESTAMPTZ" => moment(row.try_get::<OffsetDateTime, _>(place)?),
        "TIMESTAMP" => moment(row.try_get::<PrimitiveDateTime, _>(place)?.assume_utc()),
        other => return Err(backend::unreadable(place, other)),
    })
}
