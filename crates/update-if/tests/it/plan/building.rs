//! A plan as a statement of the library.

use update_if::{
    Assignment, Case, Column, Compatibility, Condition, Expectation, Expression, Field, Resource,
    Update, all, any, case, exists, not, value,
};

use super::{Expect, Int, Other, Plan, Test, Text, Thing};

impl Plan {
    /// The statement.
    pub(crate) fn build(&self) -> Update {
        let mut update = self.key.map_or_else(Thing::update_all, Thing::update);
        let mut set: Vec<Assignment> = Vec::new();
        set.extend(self.a.as_ref().map(|value| value.assigned(Thing::A)));
        set.extend(self.b.as_ref().map(|value| value.assigned(Thing::B)));
        set.extend(self.s.as_ref().map(|value| value.assigned(Thing::S)));
        set.extend(self.t.as_ref().map(|value| value.assigned(Thing::T)));
        for assignment in set {
            update = update.set(assignment);
        }
        for test in &self.conditions {
            update = update.filter(test.build());
        }
        if self.cinder {
            update = update.compatibility(Compatibility::Cinder);
        }
        let names = [
            ("a", self.a.is_some()),
            ("b", self.b.is_some()),
            ("s", self.s.is_some()),
            ("t", self.t.is_some()),
        ];
        let is_set = |name: &&str| names.contains(&(*name, true));
        update.order(self.order.iter().copied().filter(is_set))
    }
}

impl Int {
    fn assigned(&self, column: Column<Option<i64>, Thing>) -> Assignment {
        match self {
            Self::Literal(value) => column.to(*value),
            Self::Case(..) => column.to(self.case()),
            Self::A | Self::B | Self::Add(..) | Self::Subtract(..) | Self::Multiply(..) => {
                column.to(self.build())
            }
        }
    }

    fn compared(&self, column: Column<Option<i64>, Thing>, comparison: u8) -> Condition {
        match self {
            Self::Literal(value) => compare(column, comparison, *value),
            Self::Case(..) => compare(column, comparison, self.case()),
            Self::A | Self::B | Self::Add(..) | Self::Subtract(..) | Self::Multiply(..) => {
                compare(column, comparison, self.build())
            }
        }
    }

    /// Anything but a case, as an expression that begins with a column.
    fn build(&self) -> Expression<i64> {
        match self {
            Self::A => Thing::A + 0,
            Self::B => Thing::B + 0,
            Self::Literal(literal) => value(*literal),
            Self::Add(left, right) => left.build() + right.build(),
            Self::Subtract(left, right) => left.build() - right.build(),
            Self::Multiply(left, right) => left.build() * right.build(),
            Self::Case(..) => value(0) + self.case(),
        }
    }

    fn case(&self) -> Expression<i64, Case> {
        let Self::Case(branches, otherwise) = self else { panic!("{self:?}") };
        let mut built = case();
        for (test, value) in branches {
            built = match value {
                Self::Literal(value) => built.when(test.build(), *value),
                Self::A => built.when(test.build(), Thing::A),
                Self::B => built.when(test.build(), Thing::B),
                Self::Add(..) | Self::Subtract(..) | Self::Multiply(..) | Self::Case(..) => {
                    built.when(test.build(), value.build())
                }
            };
        }
        match otherwise.as_deref() {
            Some(Self::Literal(value)) => built.or_else(*value),
            Some(Self::B) => built.or_else(Thing::B),
            Some(value) => built.or_else(value.build()),
            None => built,
        }
    }
}

impl Text {
    fn assigned(&self, column: Column<Option<String>, Thing>) -> Assignment {
        match self {
            Self::Literal(value) => column.to(value.clone()),
            Self::S => column.to(Thing::S),
            Self::T => column.to(Thing::T),
            Self::Case(..) => column.to(self.case()),
        }
    }

    fn compared(&self, column: Column<Option<String>, Thing>, comparison: u8) -> Condition {
        match self {
            Self::Literal(value) => compare(column, comparison, value.clone()),
            Self::S => compare(column, comparison, Thing::S),
            Self::T => compare(column, comparison, Thing::T),
            Self::Case(..) => compare(column, comparison, self.case()),
        }
    }

    fn case(&self) -> Expression<String, Case> {
        let Self::Case(branches, otherwise) = self else { panic!("{self:?}") };
        let mut built = case();
        for (test, value) in branches {
            built = match value {
                Self::Literal(value) => built.when(test.build(), value.clone()),
                Self::S => built.when(test.build(), Thing::S),
                Self::T => built.when(test.build(), Thing::T),
                Self::Case(..) => built.when(test.build(), value.case()),
            };
        }
        match otherwise.as_deref() {
            Some(Self::Literal(value)) => built.or_else(value.clone()),
            Some(Self::S) => built.or_else(Thing::S),
            Some(Self::T) => built.or_else(Thing::T),
            Some(value @ Self::Case(..)) => built.or_else(value.case()),
            None => built,
        }
    }
}

impl Test {
    fn build(&self) -> Condition {
        match self {
            Self::Int(first, expect) => {
                expect.build(if *first { Thing::A } else { Thing::B }).into()
            }
            Self::Text(first, expect) => {
                expect.build(if *first { Thing::S } else { Thing::T }).into()
            }
            Self::CompareInt(first, comparison, other) => {
                other.compared(if *first { Thing::A } else { Thing::B }, *comparison)
            }
            Self::CompareText(first, comparison, other) => {
                other.compared(if *first { Thing::S } else { Thing::T }, *comparison)
            }
            Self::All(tests) => all(tests.iter().map(Self::build)),
            Self::Any(tests) => any(tests.iter().map(Self::build)),
            Self::Not(test) => not(test.build()),
            Self::Other(ours, least) => {
                let there = exists(Other::TABLE).filter(Other::N.ge(*least));
                if *ours { there.filter(Other::THING_ID.eq(Thing::ID)) } else { there }.into()
            }
            Self::Same(s) => exists(Thing::TABLE)
                .at("same")
                .filter(Thing::S.at("same").is(s.clone()))
                .filter(Thing::B.at("same").eq(Thing::A))
                .into(),
        }
    }
}

impl<T: Clone> Expect<T> {
    fn build<F: Field>(&self, column: Column<F, Thing>) -> Expectation
    where
        T: update_if::Literal<F::Base>,
    {
        let unless = |expectation: Expectation, sql: bool| {
            if sql { expectation.unless_null() } else { expectation }
        };
        match self {
            Self::Value(value) => column.is(value.clone()),
            Self::AnyOf(values) => column.is_any_of(values.clone()),
            Self::NotValue(value, sql) => unless(column.is_not(value.clone()), *sql),
            Self::NoneOf(values, sql) => unless(column.is_none_of(values.clone()), *sql),
        }
    }
}

fn compare<F: Field>(
    column: Column<F, Thing>,
    comparison: u8,
    other: impl update_if::Operand<F::Base>,
) -> Condition {
    match comparison {
        0 => column.eq(other),
        1 => column.ne(other),
        2 => column.lt(other),
        3 => column.le(other),
        4 => column.gt(other),
        _ => column.ge(other),
    }
}
