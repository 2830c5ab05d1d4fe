//! Which columns an expression or condition reads.

use crate::{ColumnRef, Condition, Expr, Subselect};

/// Tells every column that is read and not bound by a subselect inside.
pub(crate) fn of_condition<'a>(condition: &'a Condition, tell: &mut dyn FnMut(&'a ColumnRef)) {
    match condition {
        Condition::Is(column, _) => tell(column),
        Condition::Compare(left, _, right) => {
            of_expr(left, tell);
            of_expr(right, tell);
        }
        Condition::All(conditions) | Condition::Any(conditions) => {
            conditions.iter().for_each(|condition| of_condition(condition, tell));
        }
        Condition::Not(condition) | Condition::Because(_, condition) => {
            of_condition(condition, tell);
        }
        Condition::Exists(subselect) => of_subselect(subselect, tell),
    }
}

/// Tells every column that is read and not bound by a subselect inside.
pub(crate) fn of_expr<'a>(expr: &'a Expr, tell: &mut dyn FnMut(&'a ColumnRef)) {
    match expr {
        Expr::Value(_) | Expr::Now => {}
        Expr::Column(column) => tell(column),
        Expr::Arithmetic(left, _, right) => {
            of_expr(left, tell);
            of_expr(right, tell);
        }
        Expr::Case(case) => {
            for (condition, value) in &case.branches {
                of_condition(condition, tell);
                of_expr(value, tell);
            }
            if let Some(value) = &case.otherwise {
                of_expr(value, tell);
            }
        }
        Expr::Select(subselect) => of_subselect(subselect, tell),
    }
}

fn of_subselect<'a>(subselect: &'a Subselect, tell: &mut dyn FnMut(&'a ColumnRef)) {
    let bound = subselect.scope();
    let mut outside = |column: &'a ColumnRef| {
        if column.table.as_deref() != Some(bound) {
            tell(column);
        }
    };
    subselect.column.iter().for_each(&mut outside);
    subselect.filters.iter().for_each(|condition| of_condition(condition, &mut outside));
}

/// Tells every subselect inside an expression, those within others too.
pub(crate) fn subselects<'a>(expr: &'a Expr, tell: &mut dyn FnMut(&'a Subselect)) {
    match expr {
        Expr::Value(_) | Expr::Now | Expr::Column(_) => {}
        Expr::Arithmetic(left, _, right) => {
            subselects(left, tell);
            subselects(right, tell);
        }
        Expr::Case(case) => {
            for (condition, value) in &case.branches {
                subselects_of(condition, tell);
                subselects(value, tell);
            }
            if let Some(value) = &case.otherwise {
                subselects(value, tell);
            }
        }
        Expr::Select(subselect) => inside(subselect, tell),
    }
}

fn subselects_of<'a>(condition: &'a Condition, tell: &mut dyn FnMut(&'a Subselect)) {
    match condition {
        Condition::Is(..) => {}
        Condition::Compare(left, _, right) => {
            subselects(left, tell);
            subselects(right, tell);
        }
        Condition::All(conditions) | Condition::Any(conditions) => {
            conditions.iter().for_each(|condition| subselects_of(condition, tell));
        }
        Condition::Not(condition) | Condition::Because(_, condition) => {
            subselects_of(condition, tell);
        }
        Condition::Exists(subselect) => inside(subselect, tell),
    }
}

fn inside<'a>(subselect: &'a Subselect, tell: &mut dyn FnMut(&'a Subselect)) {
    tell(subselect);
    subselect.filters.iter().for_each(|condition| subselects_of(condition, tell));
}

/// Whether the condition speaks of this table or alias alone.
pub(crate) fn speaks_only_of(condition: &Condition, scope: &str) -> bool {
    let mut only = true;
    of_condition(condition, &mut |column| only &= column.table.as_deref() == Some(scope));
    only
}

/// Whether the column is one of the table that the statement updates.
pub(crate) fn is_own(column: &ColumnRef, table: &str) -> bool {
    column.table.as_deref().is_none_or(|name| name == table)
}
