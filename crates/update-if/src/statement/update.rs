//! The statement: which rows, under which conditions, become what.

use std::borrow::Cow;

use crate::render::{Dialect, Sql};
use crate::{
    Any, Assignment, Column, ColumnRef, Condition, Expectation, Expected, Expr, Field, Invalid,
    Literal, Table, Value,
};

/// One conditional update, as data. Nothing is sent until it is run.
///
/// ```
/// use update_if::{Dialect, Resource};
/// # #[derive(Resource)]
/// # #[resource(table = "volumes")]
/// # struct Volume { #[resource(key)] id: String, status: String, group_id: Option<String> }
/// let update = Volume::update("v1")
///     .set(Volume::STATUS.to("deleting"))
///     .expect(Volume::STATUS.is("available"))
///     .expect(Volume::GROUP_ID.is_null());
/// let sql = update.render(Dialect::Postgres).unwrap();
/// assert_eq!(
///     sql.text,
///     r#"UPDATE "volumes" SET "status" = $1 WHERE "volumes"."id" = $2 AND "volumes"."status" = $3 AND "volumes"."group_id" IS NULL"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "nothing happens until it is run"]
pub struct Update {
    pub(crate) table: Table,
    pub(crate) key: Vec<Value>,
    pub(crate) values: Vec<Assignment>,
    pub(crate) expected: Vec<Condition>,
    pub(crate) filters: Vec<Condition>,
    pub(crate) order: Vec<Cow<'static, str>>,
    pub(crate) fence: Option<Fence>,
    pub(crate) deleted: Deleted,
    pub(crate) compatibility: Compatibility,
}

/// A writer's fence, and the column that remembers the greatest one seen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fence {
    pub(crate) column: ColumnRef,
    pub(crate) fence: u64,
}

/// Whether rows that are marked as deleted are considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deleted {
    /// They are not.
    #[default]
    Excluded,
    /// They are, like all others.
    Included,
    /// Only they are.
    Only,
}

/// Whose meaning `is_none_of` has when NULL is among the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compatibility {
    /// NULL is excluded like the other values.
    #[default]
    Strict,
    /// A NULL in the row matches all the same, as it does in Cinder.
    Cinder,
}

impl Update {
    /// An update of all rows of a table for which the conditions hold; with [`key`](Self::key), of one row.
    pub fn of(table: impl Into<Table>) -> Self {
        Self {
            table: table.into(),
            key: Vec::new(),
            values: Vec::new(),
            expected: Vec::new(),
            filters: Vec::new(),
            order: Vec::new(),
            fence: None,
            deleted: Deleted::default(),
            compatibility: Compatibility::default(),
        }
    }

    /// Only the row with this key. For a key of several columns, once for each in their order.
    pub fn key(mut self, value: impl Literal<Any>) -> Self {
        self.key.push(value.into_value());
        self
    }

    #[doc(hidden)]
    pub fn keyed<Base>(mut self, value: impl Literal<Base>) -> Self {
        self.key.push(value.into_value());
        self
    }

    /// A column becomes something: `Volume::STATUS.to("deleting")`.
    pub fn set(mut self, assignment: Assignment) -> Self {
        self.values.push(assignment);
        self
    }

    /// A column must be something: `Volume::STATUS.is("available")`. All that is expected must hold.
    pub fn expect(mut self, expectation: Expectation) -> Self {
        self.expected.push(expectation.into());
        self
    }

    /// A condition must hold. Columns of other tables join them: there must be a row there for which it holds.
    pub fn filter(mut self, condition: impl Into<Condition>) -> Self {
        self.filters.push(condition.into());
        self
    }

    /// The columns to assign first. Right-hand sides see the old row in every order; what it can still decide is the
    /// order in which a trigger or a MySQL extension of your own sees the assignments.
    pub fn order<N: Into<Cow<'static, str>>>(
        mut self,
        columns: impl IntoIterator<Item = N>,
    ) -> Self {
        self.order = columns.into_iter().map(N::into).collect();
        self
    }

    /// Refuses this update if the row has seen a greater fence, and remembers this one. A row whose column is NULL has
    /// seen none. With this a lock that was lost in a pause is harmless: the late writer is refused.
    pub fn fenced_by<T: Field<Base = i64>, R>(mut self, column: Column<T, R>, fence: u64) -> Self {
        self.fence = Some(Fence { column: column.into(), fence });
        self
    }

    /// [`fenced_by`](Self::fenced_by), with the column by name.
    pub fn fenced_by_named(mut self, name: impl Into<Cow<'static, str>>, fence: u64) -> Self {
        self.fence = Some(Fence { column: crate::column(name).into(), fence });
        self
    }

    /// Whether rows marked as deleted are considered. By default they are not.
    pub fn deleted(mut self, deleted: Deleted) -> Self {
        self.deleted = deleted;
        self
    }

    /// Whose meaning `is_none_of` has when NULL is among the values. By default it is strict.
    pub fn compatibility(mut self, compatibility: Compatibility) -> Self {
        self.compatibility = compatibility;
        self
    }

    /// The statement in a database's words, with the values to bind. Needs no driver.
    pub fn render(&self, dialect: Dialect) -> Result<Sql, Invalid> {
        crate::render::update(self, dialect, &[])
    }

    /// The table it updates.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// All columns that it assigns: those named, the fence, and the time of the update.
    pub(crate) fn assignments(&self) -> Vec<Assignment> {
        let mut assignments = self.values.clone();
        if let Some(Fence { column, fence }) = &self.fence {
            let value = Expr::Value(Value::Int((*fence).try_into().unwrap_or(i64::MAX)));
            assignments.push(Assignment { column: column.clone(), value });
        }
        for touched in self.table.in_role(crate::Role::UpdatedAt) {
            if !assignments.iter().any(|assignment| assignment.column.name == touched.name) {
                let column = ColumnRef { table: None, name: touched.name.clone() };
                assignments.push(Assignment { column, value: Expr::Now });
            }
        }
        assignments
    }

    /// All conditions but the key, in the order in which they are explained.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = Cow<'_, Condition>> {
        let wanted = match self.deleted {
            Deleted::Excluded => Some(false),
            Deleted::Only => Some(true),
            Deleted::Included => None,
        };
        let marked =
            self.table.in_role(crate::Role::Deleted).zip(wanted).map(|(marker, wanted)| {
                let column = ColumnRef { table: None, name: marker.name.clone() };
                Cow::Owned(Condition::Is(column, Expected::Value(Value::Bool(wanted))))
            });
        marked.chain(self.expected.iter().chain(&self.filters).map(Cow::Borrowed))
    }
}
