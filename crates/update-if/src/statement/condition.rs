//! Conditions: what must hold for the update to happen.

use std::borrow::Cow;

use crate::{ColumnRef, Expr, Table, Value};

/// What must hold. Three-valued, as SQL is: what is unknown because of a NULL does not hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// A column is what is expected. Never unknown, unless SQL's own rule was asked for.
    Is(ColumnRef, Expected),
    /// Two expressions compare. Unknown if either is NULL.
    Compare(Expr, Comparison, Expr),
    /// All hold.
    All(Vec<Condition>),
    /// At least one holds.
    Any(Vec<Condition>),
    /// It does not hold (unknown stays unknown).
    Not(Box<Condition>),
    /// There is such a row.
    Exists(Box<Subselect>),
    /// A condition with a sentence to be said when it does not hold.
    Because(String, Box<Condition>),
}

/// How two expressions compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    Different,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// What a column is expected to be. NULL is a value like any other here.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// This value.
    Value(Value),
    /// One of these, NULL perhaps among them. Of none: never.
    AnyOf(Vec<Value>),
    /// Not this value.
    NotValue(Value, Nulls),
    /// None of these. Of none: always.
    NoneOf(Vec<Value>, Nulls),
}

/// Whether a NULL in the row counts as different from a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// NULL differs from every value that is not NULL.
    Differ,
    /// SQL's own rule: it is not known whether NULL differs, so it does not match.
    Unknown,
}

/// A column and what it is expected to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    pub(crate) column: ColumnRef,
    pub(crate) expected: Expected,
}

impl Expectation {
    /// SQL's own rule for `is_not` and `is_none_of`: a NULL in the row does not match.
    pub fn unless_null(mut self) -> Self {
        if let Expected::NotValue(_, nulls) | Expected::NoneOf(_, nulls) = &mut self.expected {
            *nulls = Nulls::Unknown;
        }
        self
    }

    /// With a sentence to be said when it does not hold.
    pub fn because(self, sentence: impl Into<String>) -> Condition {
        Condition::from(self).because(sentence)
    }
}

/// Rows of another table (or of the same one, under an alias).
#[derive(Debug, Clone, PartialEq)]
pub struct Subselect {
    pub(crate) table: Table,
    pub(crate) alias: Option<Cow<'static, str>>,
    pub(crate) filters: Vec<Condition>,
    /// What to select; `None` if only its existence is asked for.
    pub(crate) column: Option<ColumnRef>,
}

/// There is a row in the table for which all filters hold: `exists(Snapshot::TABLE).filter(…)`.
pub fn exists(table: impl Into<Table>) -> Subselect {
    Subselect { table: table.into(), alias: None, filters: Vec::new(), column: None }
}

impl Subselect {
    /// Under another name: needed for rows of the table that is being updated.
    pub fn at(mut self, alias: impl Into<Cow<'static, str>>) -> Self {
        self.alias = Some(alias.into());
        self
    }

    /// Only rows for which this holds as well.
    pub fn filter(mut self, condition: impl Into<Condition>) -> Self {
        self.filters.push(condition.into());
        self
    }

    /// With a sentence to be said when it does not hold.
    pub fn because(self, sentence: impl Into<String>) -> Condition {
        Condition::from(self).because(sentence)
    }

    pub(crate) fn scope(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.table.name)
    }
}

impl Condition {
    /// With a sentence to be said when it does not hold: "it has snapshots".
    pub fn because(self, sentence: impl Into<String>) -> Self {
        Self::Because(sentence.into(), Box::new(self))
    }
}

/// All of these hold; of none: true.
pub fn all<C: Into<Condition>>(conditions: impl IntoIterator<Item = C>) -> Condition {
    Condition::All(conditions.into_iter().map(C::into).collect())
}

/// At least one of these holds; of none: false.
pub fn any<C: Into<Condition>>(conditions: impl IntoIterator<Item = C>) -> Condition {
    Condition::Any(conditions.into_iter().map(C::into).collect())
}

/// It does not hold. `!condition` is the same.
pub fn not(condition: impl Into<Condition>) -> Condition {
    Condition::Not(Box::new(condition.into()))
}

impl From<Expectation> for Condition {
    fn from(expectation: Expectation) -> Self {
        Self::Is(expectation.column, expectation.expected)
    }
}

impl From<Subselect> for Condition {
    fn from(subselect: Subselect) -> Self {
        Self::Exists(Box::new(subselect))
    }
}

macro_rules! logic {
    ($($type:ty),*) => {$(
        impl std::ops::Not for $type {
            type Output = Condition;

            fn not(self) -> Condition {
                not(self)
            }
        }

        impl<C: Into<Condition>> std::ops::BitAnd<C> for $type {
            type Output = Condition;

            fn bitand(self, other: C) -> Condition {
                Condition::All(vec![self.into(), other.into()])
            }
        }

        impl<C: Into<Condition>> std::ops::BitOr<C> for $type {
            type Output = Condition;

            fn bitor(self, other: C) -> Condition {
                Condition::Any(vec![self.into(), other.into()])
            }
        }
    )*};
}

logic!(Condition, Expectation, Subselect);
