//! What an update means, in the plainest words: no SQL, no tricks. Random statements are compared with this.

use super::{Expect, Int, Other, Plan, Test, Text, Thing};

struct World<'a> {
    things: &'a [Thing],
    others: &'a [Other],
    cinder: bool,
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
}

impl<T: PartialEq> Expect<T> {
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
