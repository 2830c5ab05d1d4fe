//! Statements as data: what is updated, to what, and under which conditions.

mod column;
mod condition;
mod expr;
mod table;
mod update;
pub(crate) mod walk;

pub use column::{Assignment, Column, column};
pub use condition::{
    Comparison, Condition, Expectation, Expected, Nulls, Subselect, all, any, exists, not,
};
pub use expr::{Case, ColumnRef, Expr, Expression, Operator, case, now, value};
pub use table::{ColumnSpec, Resource, Role, Table, WrongColumn};
pub(crate) use update::Fence;
pub use update::{Compatibility, Deleted, Update};
