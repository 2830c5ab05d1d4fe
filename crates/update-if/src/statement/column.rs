//! Columns with their types: `Volume::STATUS.is("available")` compiles, `.is(3)` does not.

use std::borrow::Cow;
use std::marker::PhantomData;

use crate::{
    Any, ColumnRef, Comparison, Condition, Expectation, Expected, Expr, Expression, Field, Literal,
    Nulls, Operand, Resource, Subselect, Value,
};

/// A column of type `T`, of the resource `R`. The derive makes one for each field; [`column`] makes one by name.
#[derive(Debug)]
pub struct Column<T, R = ()> {
    table: Option<Cow<'static, str>>,
    name: Cow<'static, str>,
    types: PhantomData<fn() -> (T, R)>,
}

/// A column of the updated table, by name. It is looked up when the statement is rendered.
pub fn column(name: impl Into<Cow<'static, str>>) -> Column<Any> {
    Column { table: None, name: name.into(), types: PhantomData }
}

/// A column set to an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub(crate) column: ColumnRef,
    pub(crate) value: Expr,
}

impl<T: Field, R> Column<T, R> {
    #[doc(hidden)]
    pub const fn derived(table: &'static str, name: &'static str) -> Self {
        Self { table: Some(Cow::Borrowed(table)), name: Cow::Borrowed(name), types: PhantomData }
    }

    pub(crate) fn of(table: Cow<'static, str>, name: Cow<'static, str>) -> Self {
        Self { table: Some(table), name, types: PhantomData }
    }

    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same column of the table under an alias (see [`Subselect::at`]).
    pub fn at(mut self, alias: impl Into<Cow<'static, str>>) -> Self {
        self.table = Some(alias.into());
        self
    }

    /// It is this value; `None` is NULL.
    pub fn is(self, value: impl Literal<T::Base>) -> Expectation {
        self.expect(Expected::Value(value.into_value()))
    }

    /// It is NULL.
    pub fn is_null(self) -> Expectation {
        self.expect(Expected::Value(Value::Null))
    }

    /// It is one of these; NULL (`None`) may be among them. Of none: never.
    pub fn is_any_of<L: Literal<T::Base>>(
        self,
        values: impl IntoIterator<Item = L>,
    ) -> Expectation {
        self.expect(Expected::AnyOf(values.into_iter().map(L::into_value).collect()))
    }

    /// It is not this value; NULL counts as different. `is_not(None)` is [`is_not_null`](Self::is_not_null).
    pub fn is_not(self, value: impl Literal<T::Base>) -> Expectation {
        self.expect(Expected::NotValue(value.into_value(), Nulls::Differ))
    }

    /// It is not NULL.
    pub fn is_not_null(self) -> Expectation {
        self.expect(Expected::NotValue(Value::Null, Nulls::Differ))
    }

    /// It is none of these; NULL counts as different unless it is among them. Of none: always.
    pub fn is_none_of<L: Literal<T::Base>>(
        self,
        values: impl IntoIterator<Item = L>,
    ) -> Expectation {
        let values = values.into_iter().map(L::into_value).collect();
        self.expect(Expected::NoneOf(values, Nulls::Differ))
    }

    /// Set to this.
    pub fn to(self, value: impl Operand<T::Base>) -> Assignment {
        Assignment { column: self.into(), value: value.into_expr() }
    }

    /// `=`, as SQL has it: not true if either is NULL.
    pub fn eq(self, other: impl Operand<T::Base>) -> Condition {
        self.compare(Comparison::Equal, other)
    }

    /// `<>`, as SQL has it: not true if either is NULL.
    pub fn ne(self, other: impl Operand<T::Base>) -> Condition {
        self.compare(Comparison::Different, other)
    }

    /// `<`, as SQL has it: not true if either is NULL.
    pub fn lt(self, other: impl Operand<T::Base>) -> Condition {
        self.compare(Comparison::Less, other)
    }

    /// `<=`, as SQL has it: not true if either is NULL.
    pub fn le(self, other: impl Operand<T::Base>) -> Condition {
        self.compare(Comparison::AtMost, other)
    }

    /// `>`, as SQL has it: not true if either is NULL.
    pub fn gt(self, other: impl Operand<T::Base>) -> Condition {
        self.compare(Comparison::Greater, other)
    }

    /// `>=`, as SQL has it: not true if either is NULL.
    pub fn ge(self, other: impl Operand<T::Base>) -> Condition {
        self.compare(Comparison::AtLeast, other)
    }

    fn expect(self, expected: Expected) -> Expectation {
        Expectation { column: self.into(), expected }
    }

    fn compare(self, comparison: Comparison, other: impl Operand<T::Base>) -> Condition {
        Condition::Compare(self.into(), comparison, other.into_expr())
    }
}

impl<T: Field, R: Resource> Column<T, R> {
    /// The column of the one row for which the condition holds, as a value: a scalar subquery. NULL if there is none;
    /// more than one is an error of the database.
    pub fn of_row(self, condition: impl Into<Condition>) -> Expression<T::Base> {
        let table = R::TABLE.clone();
        let filters = vec![condition.into()];
        let alias = self.table.clone().filter(|alias| *alias != table.name);
        let column = Some(self.into());
        Expression::of(Expr::Select(Box::new(Subselect { table, alias, filters, column })))
    }
}

impl<T, R> Clone for Column<T, R> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), name: self.name.clone(), types: PhantomData }
    }
}

impl<T: Field, R> Operand<T::Base> for Column<T, R> {
    fn into_expr(self) -> Expr {
        self.into()
    }
}

impl<T, R> From<Column<T, R>> for ColumnRef {
    fn from(column: Column<T, R>) -> Self {
        Self { table: column.table, name: column.name }
    }
}

impl<T, R> From<Column<T, R>> for Expr {
    fn from(column: Column<T, R>) -> Self {
        Self::Column(column.into())
    }
}
