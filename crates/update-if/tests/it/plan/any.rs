//! Random plans, and rows for them.

use proptest::prelude::*;

use super::{Expect, Int, Other, Plan, Test, Text, Thing};

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
