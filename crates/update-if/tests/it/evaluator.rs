//! What an update means, in the plainest words: no SQL, no tricks. Random statements are compared with this.

use proptest::prelude::*;
use update_if::{
    Assignment, Case, Column, Compatibility, Condition, Expectation, Expression, Field, Resource,
    Update, all, any, case, exists, not, value,
};

/// A row, as the plain evaluator keeps it.
#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "things")]
pub(crate) struct Thing {
    #[resource(key)]
    pub(crate) id: i64,
    pub(crate) a: Option<i64>,
    pub(crate) b: Option<i64>,
    pub(crate) s: Option<String>,
    pub(crate) t: Option<String>,
}

/// A row of another table.
#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "others")]
pub(crate) struct Other {
    #[resource(key)]
    pub(crate) id: i64,
    pub(crate) thing_id: i64,
    pub(crate) n: Option<i64>,
}

/// A statement, before it is built.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) key: Option<i64>,
    pub(crate) a: Option<Int>,
    pub(crate) b: Option<Int>,
    pub(crate) s: Option<Text>,
    pub(crate) t: Option<Text>,
    pub(crate) conditions: Vec<Test>,
    pub(crate) order: Vec<&'static str>,
    pub(crate) cinder: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Int {
    Literal(Option<i64>),
    A,
    B,
    Add(Box<Int>, Box<Int>),
    Subtract(Box<Int>, Box<Int>),
    Multiply(Box<Int>, Box<Int>),
    Case(Vec<(Test, Int)>, Option<Box<Int>>),
}

#[derive(Debug, Clone)]
pub(crate) enum Text {
    Literal(Option<String>),
    S,
    T,
    Case(Vec<(Test, Text)>, Option<Box<Text>>),
}

#[derive(Debug, Clone)]
pub(crate) enum Test {
    Int(bool, Expect<i64>),
    Text(bool, Expect<String>),
    CompareInt(bool, u8, Int),
    CompareText(bool, u8, Text),
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    /// There is another row of the other table, ours or anybody's, with n at least this.
    Other(bool, i64),
    /// There is another row of the same table with b equal to our a.
    Same(Option<String>),
}

#[derive(Debug, Clone)]
pub(crate) enum Expect<T> {
    Value(Option<T>),
    AnyOf(Vec<Option<T>>),
    NotValue(Option<T>, bool),
    NoneOf(Vec<Option<T>>, bool),
}

pub(crate) struct World<'a> {
    pub(crate) things: &'a [Thing],
    pub(crate) others: &'a [Other],
    pub(crate) cinder: bool,
}

impl Plan {
    /// What the rows become, and how many matched.
    pub(crate) fn evaluate(&self, things: &[Thing], others: &[Other]) -> (Vec<Thing>, u64) {
        let world = World { things, others, cinder: self.cinder };
        let mut matched = 0;
        let mut after = things.to_vec();
        for (old, new) in things.iter().zip(&mut after) {
            let is_key = self.key.is_none_or(|key| key == old.id);
            if is_key && self.conditions.iter().all(|test| test.holds(old, &world) == Some(true)) {
                matched += 1;
                // Every right-hand side sees the old row.
                if let Some(value) = &self.a {
                    new.a = value.evaluate(old, &world)
                }
                if let Some(value) = &self.b {
                    new.b = value.evaluate(old, &world)
                }
                if let Some(value) = &self.s {
                    new.s = value.evaluate(old, &world)
                }
                if let Some(value) = &self.t {
                    new.t = value.evaluate(old, &world)
                }
            }
        }
        (after, matched)
    }

    /// The same, as a statement.
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
    fn evaluate(&self, row: &Thing, world: &World<'_>) -> Option<i64> {
        let both =
            |left: &Self, right: &Self| left.evaluate(row, world).zip(right.evaluate(row, world));
        match self {
            Self::Literal(value) => *value,
            Self::A => row.a,
            Self::B => row.b,
            Self::Add(left, right) => both(left, right).map(|(left, right)| left + right),
            Self::Subtract(left, right) => both(left, right).map(|(left, right)| left - right),
            Self::Multiply(left, right) => both(left, right).map(|(left, right)| left * right),
            Self::Case(branches, otherwise) => {
                let first = branches.iter().find(|(test, _)| test.holds(row, world) == Some(true));
                let chosen = first.map(|(_, value)| value).or(otherwise.as_deref());
                chosen.and_then(|value| value.evaluate(row, world))
            }
        }
    }

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
    fn evaluate(&self, row: &Thing, world: &World<'_>) -> Option<String> {
        match self {
            Self::Literal(value) => value.clone(),
            Self::S => row.s.clone(),
            Self::T => row.t.clone(),
            Self::Case(branches, otherwise) => {
                let first = branches.iter().find(|(test, _)| test.holds(row, world) == Some(true));
                let chosen = first.map(|(_, value)| value).or(otherwise.as_deref());
                chosen.and_then(|value| value.evaluate(row, world))
            }
        }
    }

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
    /// True, false or unknown.
    fn holds(&self, row: &Thing, world: &World<'_>) -> Option<bool> {
        match self {
            Self::Int(first, expect) => expect.holds(if *first { &row.a } else { &row.b }, world),
            Self::Text(first, expect) => expect.holds(if *first { &row.s } else { &row.t }, world),
            Self::CompareInt(first, comparison, other) => {
                let column = if *first { row.a } else { row.b };
                compared(column, *comparison, other.evaluate(row, world))
            }
            Self::CompareText(first, comparison, other) => {
                let column = if *first { row.s.clone() } else { row.t.clone() };
                compared(column, *comparison, other.evaluate(row, world))
            }
            Self::All(tests) => {
                let found: Vec<_> = tests.iter().map(|test| test.holds(row, world)).collect();
                if found.contains(&Some(false)) {
                    return Some(false);
                }
                if found.contains(&None) { None } else { Some(true) }
            }
            Self::Any(tests) => {
                let found: Vec<_> = tests.iter().map(|test| test.holds(row, world)).collect();
                if found.contains(&Some(true)) {
                    return Some(true);
                }
                if found.contains(&None) { None } else { Some(false) }
            }
            Self::Not(test) => test.holds(row, world).map(|holds| !holds),
            Self::Other(ours, least) => Some(world.others.iter().any(|other| {
                (!ours || other.thing_id == row.id) && other.n.is_some_and(|n| n >= *least)
            })),
            Self::Same(s) => Some(
                world
                    .things
                    .iter()
                    .any(|thing| thing.s == *s && thing.b.is_some() && thing.b == row.a),
            ),
        }
    }

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

impl<T: PartialEq + Clone> Expect<T> {
    fn holds(&self, found: &Option<T>, world: &World<'_>) -> Option<bool> {
        match self {
            Self::Value(value) => Some(found == value),
            Self::AnyOf(values) => Some(values.contains(found)),
            Self::NotValue(Some(_), true) if found.is_none() => None,
            Self::NotValue(value, _) => Some(found != value),
            Self::NoneOf(values, _) if values.is_empty() => Some(true),
            Self::NoneOf(values, true) if found.is_none() && !values.contains(&None) => None,
            Self::NoneOf(_, false) if found.is_none() && world.cinder => Some(true),
            Self::NoneOf(values, _) => Some(!values.contains(found)),
        }
    }

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

fn compared<T: PartialOrd>(left: Option<T>, comparison: u8, right: Option<T>) -> Option<bool> {
    let (left, right) = left.zip(right)?;
    Some(match comparison {
        0 => left == right,
        1 => left != right,
        2 => left < right,
        3 => left <= right,
        4 => left > right,
        _ => left >= right,
    })
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

fn number() -> impl Strategy<Value = Option<i64>> + Clone {
    prop_oneof![1 => Just(None), 4 => (0..4_i64).prop_map(Some)]
}

fn word() -> impl Strategy<Value = Option<String>> + Clone {
    let words = proptest::sample::select(vec!["", "x", "y", "it's", "a\"b", "a`b", "%", "ü"]);
    prop_oneof![1 => Just(None), 4 => words.prop_map(|word| Some(word.to_owned()))]
}

fn expect<T: Clone + std::fmt::Debug>(
    value: impl Strategy<Value = Option<T>> + Clone,
) -> impl Strategy<Value = Expect<T>> {
    let many = proptest::collection::vec(value.clone(), 0..4);
    prop_oneof![
        value.clone().prop_map(Expect::Value),
        many.clone().prop_map(Expect::AnyOf),
        (value, any_bool()).prop_map(|(value, sql)| Expect::NotValue(value, sql)),
        (many, any_bool()).prop_map(|(values, sql)| Expect::NoneOf(values, sql)),
    ]
}

fn any_bool() -> impl Strategy<Value = bool> + Clone {
    proptest::bool::ANY
}

fn leaf_test() -> BoxedStrategy<Test> {
    let int = prop_oneof![number().prop_map(Int::Literal), Just(Int::A), Just(Int::B)];
    let text = prop_oneof![word().prop_map(Text::Literal), Just(Text::S), Just(Text::T)];
    prop_oneof![
        (any_bool(), expect(number())).prop_map(|(first, expect)| Test::Int(first, expect)),
        (any_bool(), expect(word())).prop_map(|(first, expect)| Test::Text(first, expect)),
        (any_bool(), 0..6_u8, int)
            .prop_map(|(first, by, other)| Test::CompareInt(first, by, other)),
        (any_bool(), 0..2_u8, text)
            .prop_map(|(first, by, other)| Test::CompareText(first, by, other)),
        (any_bool(), 0..4_i64).prop_map(|(ours, least)| Test::Other(ours, least)),
        word().prop_map(Test::Same),
    ]
    .boxed()
}

fn test() -> BoxedStrategy<Test> {
    leaf_test()
        .prop_recursive(3, 12, 3, |inner| {
            let many = proptest::collection::vec(inner.clone(), 0..3);
            prop_oneof![
                many.clone().prop_map(Test::All),
                many.prop_map(Test::Any),
                inner.prop_map(|test| Test::Not(Box::new(test))),
            ]
        })
        .boxed()
}

fn int() -> BoxedStrategy<Int> {
    prop_oneof![number().prop_map(Int::Literal), Just(Int::A), Just(Int::B)]
        .prop_recursive(3, 10, 2, |inner| {
            let pair = (inner.clone().prop_map(Box::new), inner.clone().prop_map(Box::new));
            let branches = proptest::collection::vec((leaf_test(), inner.clone()), 1..3);
            prop_oneof![
                pair.clone().prop_map(|(left, right)| Int::Add(left, right)),
                pair.clone().prop_map(|(left, right)| Int::Subtract(left, right)),
                pair.prop_map(|(left, right)| Int::Multiply(left, right)),
                (branches, proptest::option::of(inner.prop_map(Box::new)))
                    .prop_map(|(branches, otherwise)| Int::Case(branches, otherwise)),
            ]
        })
        .boxed()
}

fn text() -> BoxedStrategy<Text> {
    prop_oneof![word().prop_map(Text::Literal), Just(Text::S), Just(Text::T)]
        .prop_recursive(2, 6, 2, |inner| {
            let branches = proptest::collection::vec((leaf_test(), inner.clone()), 1..3);
            (branches, proptest::option::of(inner.prop_map(Box::new)))
                .prop_map(|(branches, otherwise)| Text::Case(branches, otherwise))
        })
        .boxed()
}

pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let key = proptest::option::of(0..5_i64);
    let set = (
        proptest::option::of(int()),
        proptest::option::of(int()),
        proptest::option::of(text()),
        proptest::option::of(text()),
    );
    let conditions = proptest::collection::vec(test(), 0..3);
    let order = proptest::sample::subsequence(vec!["a", "b", "s", "t"], 0..4).prop_shuffle();
    (key, set, conditions, order, any_bool()).prop_map(
        |(key, (a, b, s, t), conditions, order, cinder)| Plan {
            key,
            a,
            b,
            s,
            t,
            conditions,
            order,
            cinder,
        },
    )
}

pub(crate) fn things() -> impl Strategy<Value = Vec<Thing>> {
    let thing = (number(), number(), word(), word());
    proptest::collection::vec(thing, 1..5).prop_map(|things| {
        let numbered = (0..).zip(things);
        numbered.map(|(id, (a, b, s, t))| Thing { id, a, b, s, t }).collect()
    })
}

pub(crate) fn others() -> impl Strategy<Value = Vec<Other>> {
    proptest::collection::vec((0..4_i64, number()), 0..4).prop_map(|others| {
        (0..).zip(others).map(|(id, (thing_id, n))| Other { id, thing_id, n }).collect()
    })
}
