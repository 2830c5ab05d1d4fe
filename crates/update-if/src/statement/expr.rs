//! Expressions: what a column is set to, or compared with.

use std::borrow::Cow;
use std::marker::PhantomData;

use crate::{Condition, Operand, Subselect, Value};

/// A column, as an expression names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRef {
    /// The table or alias; `None` is the table that the statement updates.
    pub table: Option<Cow<'static, str>>,
    /// The name of the column.
    pub name: Cow<'static, str>,
}

/// An expression. All of it sees the row as it was before the update, on every database.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A plain value.
    Value(Value),
    /// A column.
    Column(ColumnRef),
    /// The database's clock.
    Now,
    /// Two expressions and what to do with them.
    Arithmetic(Box<Expr>, Operator, Box<Expr>),
    /// The first branch whose condition is true.
    Case(Case),
    /// One column of one row of another table; NULL if there is none.
    Select(Box<Subselect>),
}

/// Arithmetic that means the same on every database. (Division does not: some cut off, some do not.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
}

/// `CASE WHEN … THEN … ELSE … END`: the first branch whose condition is true; without an else, NULL.
///
/// ```
/// use update_if::{Resource, case};
/// # #[derive(Resource)]
/// # #[resource(table = "volumes")]
/// # struct Volume { #[resource(key)] id: String, status: String }
/// let update = Volume::update("v1").set(Volume::STATUS.to(
///     case().when(Volume::STATUS.eq("available"), "maintenance").or_else(Volume::STATUS),
/// ));
/// # let _ = update;
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Case {
    pub(crate) branches: Vec<(Condition, Expr)>,
    pub(crate) otherwise: Option<Box<Expr>>,
}

/// Begins a [`Case`].
pub fn case<Base>() -> Expression<Base, Case> {
    Expression { inner: Case::default(), base: PhantomData }
}

/// The database's clock, in UTC: one clock for all writers.
pub fn now() -> Expression<crate::Moment> {
    Expression { inner: Expr::Now, base: PhantomData }
}

/// A plain value that begins an expression: `value(100) - Quota::IN_USE`.
pub fn value<Base>(literal: impl crate::Literal<Base>) -> Expression<Base> {
    Expression { inner: Expr::Value(literal.into_value()), base: PhantomData }
}

/// An expression that knows its type.
#[derive(Debug, Clone)]
pub struct Expression<Base, Inner = Expr> {
    inner: Inner,
    base: PhantomData<fn() -> Base>,
}

impl<Base> Expression<Base, Case> {
    /// If the condition is true (and none before it was), the value.
    pub fn when(mut self, condition: impl Into<Condition>, value: impl Operand<Base>) -> Self {
        self.inner.branches.push((condition.into(), value.into_expr()));
        self
    }

    /// If no condition was true, the value.
    pub fn or_else(mut self, value: impl Operand<Base>) -> Self {
        self.inner.otherwise = Some(Box::new(value.into_expr()));
        self
    }
}

impl<Base> Operand<Base> for Expression<Base, Case> {
    fn into_expr(self) -> Expr {
        Expr::Case(self.inner)
    }
}

impl<Base> Operand<Base> for Expression<Base> {
    fn into_expr(self) -> Expr {
        self.inner
    }
}

impl<Base> Expression<Base> {
    pub(crate) fn of(inner: Expr) -> Self {
        Self { inner, base: PhantomData }
    }

    pub(crate) fn arithmetic(left: Expr, operator: Operator, right: Expr) -> Self {
        Self::of(Expr::Arithmetic(Box::new(left), operator, Box::new(right)))
    }
}

macro_rules! operators {
    ($($trait:ident, $method:ident, $operator:ident;)*) => {$(
        impl<Base, O: Operand<Base>> std::ops::$trait<O> for Expression<Base> {
            type Output = Self;

            fn $method(self, other: O) -> Self {
                Self::arithmetic(self.inner, Operator::$operator, other.into_expr())
            }
        }

        impl<T: crate::Field, R, O: Operand<T::Base>> std::ops::$trait<O> for crate::Column<T, R> {
            type Output = Expression<T::Base>;

            fn $method(self, other: O) -> Expression<T::Base> {
                Expression::arithmetic(self.into(), Operator::$operator, other.into_expr())
            }
        }
    )*};
}

operators! {
    Add, add, Add;
    Sub, sub, Subtract;
    Mul, mul, Multiply;
}
