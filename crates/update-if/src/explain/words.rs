//! Conditions in plain words.

use crate::render::Part;
use crate::statement::{Role, walk};
use crate::{Comparison, Condition, Expected, Expr, Operator, Subselect, Update, Value};

/// A value without quotes, as part of a name.
pub(super) fn plain(value: &Value) -> String {
    value.as_text().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is said of a condition that does not hold.
pub(super) fn unmet(
    update: &Update,
    part: &Part<'_>,
    actual: &[(String, Value)],
    count: Option<u64>,
) -> String {
    match part {
        Part::Own(condition) => of_condition(update, condition, actual, count),
        Part::Joined(tables, conditions) => {
            let wanted: Vec<String> = conditions.iter().map(describe).collect();
            format!("there is nothing in {} with {}", tables.join(", "), wanted.join(" and "))
        }
        Part::Fence(fence) => match actual.first() {
            Some((_, seen)) => {
                format!("fence {} is older than {seen}, which it has already seen", fence.fence)
            }
            None => format!("fence {} is older than one already seen", fence.fence),
        },
    }
}

fn of_condition(
    update: &Update,
    condition: &Condition,
    actual: &[(String, Value)],
    count: Option<u64>,
) -> String {
    match condition {
        Condition::Because(sentence, _) => sentence.clone(),
        Condition::Is(column, Expected::Value(Value::Bool(expected)))
            if update.table.in_role(Role::Deleted).any(|marker| marker.name == column.name) =>
        {
            if *expected { "it is not marked as deleted" } else { "it is marked as deleted" }.into()
        }
        Condition::Is(column, expected) => {
            told(&column.name, actual, &format!("expected {}", of_expected(expected)))
        }
        Condition::Compare(Expr::Column(column), comparison, other) => {
            let expected = format!("expected {}{}", of_comparison(*comparison), of_expr(other));
            let mut says = told(&column.name, actual, &expected);
            for (name, value) in actual.iter().filter(|(name, _)| *name != column.name) {
                says += &format!(" ({name} is {value})");
            }
            says
        }
        Condition::Exists(subselect) => {
            format!("{} no {}", there_is(update, subselect, false), subselect.table.noun)
        }
        Condition::Not(inner) if matches!(**inner, Condition::Exists(_)) => {
            let Condition::Exists(subselect) = &**inner else { return String::new() };
            let (count, table) = (count.unwrap_or(1), &subselect.table);
            let noun = if count == 1 { &table.noun } else { &table.name };
            format!("{} {count} {noun}", there_is(update, subselect, count != 1))
        }
        Condition::Compare(..) | Condition::All(_) | Condition::Any(_) | Condition::Not(_) => {
            let found: Vec<String> =
                actual.iter().map(|(name, value)| format!("{name} is {value}")).collect();
            let found = if found.is_empty() { String::new() } else { found.join(", ") + ", " };
            format!("{found}expected {}", describe(condition))
        }
    }
}

fn told(column: &str, actual: &[(String, Value)], expected: &str) -> String {
    match actual.iter().find(|(name, _)| name == column) {
        Some((_, value)) => format!("{column} is {value}, {expected}"),
        None => format!("{column}: {expected}"),
    }
}

/// Rows that belong to this one are had; others are there.
fn there_is(update: &Update, subselect: &Subselect, many: bool) -> &'static str {
    let mut is_ours = false;
    for filter in &subselect.filters {
        walk::of_condition(filter, &mut |column| {
            is_ours |= walk::is_own(column, &update.table.name);
        });
    }
    match (is_ours, many) {
        (true, _) => "it has",
        (false, true) => "there are",
        (false, false) => "there is",
    }
}

/// A condition in words: "size at least 3".
fn describe(condition: &Condition) -> String {
    let list = |conditions: &[Condition], between: &str| {
        conditions.iter().map(describe).collect::<Vec<_>>().join(between)
    };
    match condition {
        Condition::Is(column, expected) => format!("{} {}", column.name, of_expected(expected)),
        Condition::Compare(left, comparison, right) => {
            format!("{} {}{}", of_expr(left), of_comparison(*comparison), of_expr(right))
        }
        Condition::All(conditions) if conditions.is_empty() => "anything".into(),
        Condition::Any(conditions) if conditions.is_empty() => "something that cannot be".into(),
        Condition::All(conditions) => list(conditions, " and "),
        Condition::Any(conditions) => list(conditions, " or "),
        Condition::Not(condition) => format!("not ({})", describe(condition)),
        Condition::Exists(subselect) => format!("a row in {}", subselect.table.name),
        Condition::Because(_, condition) => describe(condition),
    }
}

fn of_expected(expected: &Expected) -> String {
    let list =
        |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    match expected {
        Expected::Value(value) => value.to_string(),
        Expected::AnyOf(values) if values.is_empty() => "what cannot be: one of nothing".into(),
        Expected::AnyOf(values) => format!("one of {}", list(values)),
        Expected::NotValue(value, _) => format!("anything but {value}"),
        Expected::NoneOf(values, _) => format!("none of {}", list(values)),
    }
}

fn of_comparison(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "",
        Comparison::Different => "anything but ",
        Comparison::Less => "less than ",
        Comparison::AtMost => "at most ",
        Comparison::Greater => "more than ",
        Comparison::AtLeast => "at least ",
    }
}

fn of_expr(expr: &Expr) -> String {
    match expr {
        Expr::Value(value) => value.to_string(),
        Expr::Column(column) => column.name.to_string(),
        Expr::Now => "now".into(),
        Expr::Arithmetic(left, operator, right) => {
            let operator = match operator {
                Operator::Add => "+",
                Operator::Subtract => "-",
                Operator::Multiply => "*",
            };
            format!("{} {operator} {}", of_expr(left), of_expr(right))
        }
        Expr::Case(_) => "a value that depends".into(),
        Expr::Select(subselect) => format!("what is in {}", subselect.table.name),
    }
}
