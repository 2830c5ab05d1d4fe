//! Change a row only if it still is what you expect, in one statement, on SQLite, PostgreSQL, MySQL and MariaDB.
//!
//! ```
//! use update_if::{Dialect, Resource, exists};
//!
//! #[derive(Resource)]
//! #[resource(table = "volumes")]
//! struct Volume {
//!     #[resource(key)]
//!     id: String,
//!     status: String,
//!     previous_status: Option<String>,
//! }
//!
//! #[derive(Resource)]
//! #[resource(table = "snapshots")]
//! struct Snapshot {
//!     #[resource(key)]
//!     id: String,
//!     volume_id: String,
//! }
//!
//! let update = Volume::update("v1")
//!     .set(Volume::STATUS.to("deleting"))
//!     .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
//!     .expect(Volume::STATUS.is_any_of(["available", "error"]))
//!     .filter(!exists(Snapshot::TABLE).filter(Snapshot::VOLUME_ID.eq(Volume::ID)));
//!
//! let sql = update.render(Dialect::Sqlite).unwrap();
//! assert!(sql.text.starts_with(r#"UPDATE "volumes" SET "previous_status" = "volumes"."status", "status" = ?"#));
//! ```
//!
//! Building and rendering need no driver. With one of the features `sqlite`, `postgres` and `mysql` a statement is run
//! over your own pool, connection or transaction of `sqlx`: `update.run(&pool)` answers how many rows matched, and
//! `update.explain(&pool)` why none did. An object that was loaded knows what has changed since (`Loaded`), and several
//! updates happen together or not at all (`Group`).
//!
//! All conditions of a statement and its change are one step for the database, so nobody can come in between. What is
//! promised beyond that, and what is not, is in the project's `docs/guarantees.md`.
#![forbid(unsafe_code)]

// Lets the derive name this crate from inside it.
extern crate self as update_if;

#[cfg(feature = "execute")]
mod execute;
#[cfg(feature = "execute")]
mod explain;
#[cfg(feature = "execute")]
mod group;
mod invalid;
mod moment;
#[cfg(feature = "execute")]
mod object;
mod render;
mod statement;
mod value;

#[cfg(feature = "execute")]
pub use execute::{Answer, Backend, Error, Verdict};
#[cfg(feature = "execute")]
pub use explain::{Explanation, Finding};
#[cfg(feature = "execute")]
pub use group::{Group, GroupAnswer};
pub use invalid::Invalid;
pub use moment::{Moment, NotAMoment};
#[cfg(feature = "execute")]
pub use object::{ConditionalUpdate, Loaded};
pub use render::{Dialect, Sql};
pub use statement::{
    Assignment, Case, Column, ColumnRef, Comparison, Compatibility, Condition, Deleted,
    Expectation, Expected, Expr, Expression, Nulls, Operator, Resource, Subselect, Table, Update,
    WrongColumn, all, any, case, column, exists, not, now, value,
};
#[doc(hidden)]
pub use statement::{ColumnSpec, Role};
pub use update_if_derive::Resource;
pub use value::{Any, Field, Kind, Literal, Operand, Value, WrongType};
