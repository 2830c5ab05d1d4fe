//! One statement that asks for every condition by itself, and for what it reads.

use std::borrow::Cow;

use super::{Explanation, Finding, words};
use crate::render::{self, Part, Writer};
use crate::statement::walk;
use crate::{Condition, Dialect, Expr, Invalid, Kind, Sql, Subselect, Update, Value};

/// The statement, and how to read its answer.
pub(crate) struct Question<'a> {
    pub(crate) sql: Sql,
    /// What the columns of the answer hold.
    pub(crate) kinds: Vec<Option<Kind>>,
    update: &'a Update,
    parts: Vec<Part<'a>>,
    /// The columns of the row that conditions read.
    columns: Vec<String>,
}

impl<'a> Question<'a> {
    /// For one row: each condition (1 or 0), the columns they read, and the rows counted. For all: how many rows there
    /// are, and for how many each condition holds.
    pub(crate) fn new(update: &'a Update, dialect: Dialect) -> Result<Self, Invalid> {
        let parts: Vec<Part<'_>> = render::parts(update).into_iter().flat_map(apart).collect();
        let is_one = !update.key.is_empty();
        let columns = if is_one { columns(update, &parts) } else { Vec::new() };
        let mut kinds = vec![Some(Kind::Int); parts.len() + 1];
        let mut writer = Writer::new(update, dialect);
        writer.push(if is_one { "SELECT 1" } else { "SELECT COUNT(*)" });
        for part in &parts {
            writer.push(if is_one { ", CASE WHEN " } else { ", COUNT(CASE WHEN " });
            writer.part(part)?;
            writer.push(if is_one { " THEN 1 ELSE 0 END" } else { " THEN 1 END)" });
        }
        if !columns.is_empty() {
            writer.push(", ");
            writer.read_columns(&columns.iter().map(String::as_str).collect::<Vec<_>>())?;
            for column in &columns {
                kinds.push(update.table.spec(column)?.kind);
            }
        }
        for subselect in parts.iter().filter_map(counted).filter(|_| is_one) {
            writer.push(", ");
            writer.count(subselect)?;
            kinds.push(Some(Kind::Int));
        }
        writer.push(" FROM ");
        writer.name(&update.table.name)?;
        if is_one {
            writer.push(" WHERE ");
            writer.key(update)?;
        }
        Ok(Self { sql: writer.finish()?, kinds, update, parts, columns })
    }

    /// What the answer says.
    pub(crate) fn answer(self, rows: Vec<Vec<Value>>) -> Explanation {
        let mut explanation = Explanation {
            noun: self.update.table.noun.to_string(),
            key: self.update.key.clone(),
            rows: 0,
            findings: Vec::new(),
        };
        let Some(row) = rows.into_iter().next() else { return explanation };
        let mut row = row.into_iter();
        let mut number = || row.next().as_ref().and_then(Value::as_int).unwrap_or(0).unsigned_abs();
        explanation.rows = number();
        let held: Vec<u64> = self.parts.iter().map(|_| number()).collect();
        let read: Vec<(String, Value)> = self.columns.into_iter().zip(row.by_ref()).collect();
        for (part, held) in self.parts.iter().zip(held) {
            let mut actual = Vec::new();
            own_columns(self.update, part, &mut |name| {
                let found = read.iter().find(|(column, _)| column == name);
                actual.extend(found.cloned());
            });
            let is_counted = counted(part).is_some() && !self.update.key.is_empty();
            let count = is_counted.then(|| row.next().as_ref().and_then(Value::as_int)).flatten();
            let count = count.map(i64::unsigned_abs);
            let says = words::unmet(self.update, part, &actual, count);
            let is_fence = matches!(part, Part::Fence(_));
            explanation.findings.push(Finding { held, says, actual, count, is_fence });
        }
        explanation
    }
}

/// Conditions that were joined by AND are explained one by one.
fn apart(part: Part<'_>) -> Vec<Part<'_>> {
    if let Part::Own(condition) = &part
        && let Condition::All(conditions) = &**condition
    {
        let each = conditions.iter().map(|condition| Part::Own(Cow::Owned(condition.clone())));
        return each.flat_map(apart).collect();
    }
    vec![part]
}

/// The rows whose number explains the condition.
fn counted<'p>(part: &'p Part<'_>) -> Option<&'p Subselect> {
    fn of(condition: &Condition) -> Option<&Subselect> {
        match condition {
            Condition::Exists(subselect) => Some(subselect),
            Condition::Not(condition) | Condition::Because(_, condition) => of(condition),
            Condition::Is(..) | Condition::Compare(..) | Condition::All(_) | Condition::Any(_) => {
                None
            }
        }
    }
    if let Part::Own(condition) = part { of(condition) } else { None }
}

fn columns(update: &Update, parts: &[Part<'_>]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for part in parts {
        own_columns(update, part, &mut |name| {
            if !columns.iter().any(|known| known == name) {
                columns.push(name.to_owned());
            }
        });
    }
    columns
}

/// Tells the columns of the updated row that a condition reads, each once.
fn own_columns(update: &Update, part: &Part<'_>, tell: &mut dyn FnMut(&str)) {
    let mut told: Vec<String> = Vec::new();
    let mut tell = |column: &crate::ColumnRef| {
        let is_known = told.iter().any(|known| *known == column.name);
        if walk::is_own(column, &update.table.name) && !is_known {
            told.push(column.name.to_string());
            tell(&column.name);
        }
    };
    match part {
        Part::Own(condition) => walk::of_condition(condition, &mut tell),
        Part::Joined(_, conditions) => {
            conditions.iter().for_each(|condition| walk::of_condition(condition, &mut tell));
        }
        Part::Fence(fence) => walk::of_expr(&Expr::Column(fence.column.clone()), &mut |_| {
            tell(&fence.column);
        }),
    }
}
