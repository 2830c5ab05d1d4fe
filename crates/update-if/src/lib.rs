//! Change a row only if it still is what you expect, in one statement, on SQLite, PostgreSQL and MySQL.
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
    WrongColumn, all, any, case, column, exists, not, now,
};
#[doc(hidden)]
pub use statement::{ColumnSpec, Role};
pub use update_if_derive::Resource;
pub use value::{Any, Field, Kind, Literal, Operand, Value, WrongType};
