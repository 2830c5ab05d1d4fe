//! Assignments, in an order in which every right-hand side sees the old row.
//!
//! The standard says so, SQLite and PostgreSQL do so. MySQL and MariaDB assign from left to right: after
//! `SET status = 'retyping', previous_status = status` both columns are 'retyping'. Sorting helps where nothing reads
//! what is assigned before it. It cannot help a swap (`a = b, b = a`), nor an order that was asked for. There the old
//! value is saved in a variable by the very assignment that overwrites it, and read from there: both happen in the same
//! row while it is locked, so no isolation level and no other writer can come between.

use super::Writer;
use crate::statement::{ColumnSpec, walk};
use crate::{Assignment, Dialect, Expr, Invalid, Update, Value};

impl<'a> Writer<'a> {
    pub(super) fn assignments(&mut self, update: &'a Update) -> Result<(), Invalid> {
        let assignments = update.assignments();
        self.check(&assignments, update.key.is_empty())?;
        let order = order(update, &assignments, self.dialect)?;
        for (place, &index) in order.iter().enumerate() {
            if place > 0 {
                self.push(", ");
            }
            let Assignment { column, value } = &assignments[index];
            let mut later = order[place + 1..].iter();
            let is_read_later =
                later.any(|&later| reads(&assignments[later].value, update, &column.name));
            self.name(&column.name)?;
            self.push(" = ");
            let spec = self.own.spec(&column.name)?;
            if matches!(value, Expr::Value(Value::Null)) && !is_read_later {
                self.push("NULL");
            } else if is_read_later && self.dialect.assigns_in_order() {
                self.saving(spec, value)?;
            } else {
                self.expr(value, Some(spec))?;
            }
        }
        if order.is_empty() {
            self.nothing()?;
        }
        self.saved.clear();
        Ok(())
    }

    /// A statement that only checks: a column becomes what it is.
    fn nothing(&mut self) -> Result<(), Invalid> {
        let name = self.own.columns.first().map_or("", |column| &column.name);
        self.own.spec(name)?;
        self.name(name)?;
        self.push(" = ");
        self.own_column(name)
    }

    /// The value, and the old value of the column in a variable. Both branches are the same: the test only saves. (A test
    /// by `IS NULL` would not: MySQL leaves it out, and the assignment in it, where the column cannot be NULL.)
    fn saving(&mut self, column: &ColumnSpec, value: &Expr) -> Result<(), Invalid> {
        let variable = Dialect::variable(column.kind, self.saved.len());
        self.push(&format!("IF(({variable} := "));
        self.own_column(&column.name)?;
        self.push(") <=> ");
        self.own_column(&column.name)?;
        self.push(", ");
        self.expr(value, Some(column))?;
        self.push(", ");
        self.expr(value, Some(column))?;
        self.push(")");
        self.saved.push(column.name.to_string());
        Ok(())
    }

    fn check(&self, assignments: &[Assignment], is_many: bool) -> Result<(), Invalid> {
        for (place, Assignment { column, value }) in assignments.iter().enumerate() {
            if !walk::is_own(column, &self.own.name) {
                return Err(Invalid::TwoTables {
                    table: self.own.name.to_string(),
                    other: column.table.as_deref().unwrap_or_default().to_owned(),
                    column: column.name.to_string(),
                });
            }
            self.own.spec(&column.name)?;
            let is_same = |other: &Assignment| other.column.name == column.name;
            if assignments[..place].iter().any(is_same) {
                return Err(Invalid::SetTwice { column: column.name.to_string() });
            }
            let mut reads_own = false;
            walk::subselects(value, &mut |inner| reads_own |= inner.table.name == self.own.name);
            if reads_own && is_many {
                let (table, column) = (self.own.name.to_string(), column.name.to_string());
                return Err(Invalid::ReadsItsOwnRows { table, column });
            }
        }
        Ok(())
    }
}

/// Named columns first; then columns, cases and plain values. Where the database assigns from left to right, those that
/// were not named give way to each other: a column that others still read is assigned after them.
fn order(
    update: &Update,
    assignments: &[Assignment],
    dialect: Dialect,
) -> Result<Vec<usize>, Invalid> {
    let mut order = Vec::with_capacity(assignments.len());
    for name in &update.order {
        let place = assignments.iter().position(|assignment| assignment.column.name == *name);
        let place = place.ok_or_else(|| Invalid::NotSet { column: name.to_string() })?;
        if !order.contains(&place) {
            order.push(place);
        }
    }
    let mut rest: Vec<usize> = (0..assignments.len()).filter(|i| !order.contains(i)).collect();
    rest.sort_by_key(|&index| rank(&assignments[index].value));
    if !dialect.assigns_in_order() {
        order.append(&mut rest);
    }
    while !rest.is_empty() {
        let is_free = |&index: &usize| {
            let name = &assignments[index].column.name;
            let mut others = rest.iter().filter(|&&other| other != index);
            !others.any(|&other| reads(&assignments[other].value, update, name))
        };
        let free = rest.iter().position(is_free).unwrap_or(0);
        order.push(rest.remove(free));
    }
    Ok(order)
}

fn rank(value: &Expr) -> u8 {
    match value {
        Expr::Column(_) | Expr::Arithmetic(..) | Expr::Select(_) => 0,
        Expr::Case(_) => 1,
        Expr::Value(_) | Expr::Now => 2,
    }
}

fn reads(value: &Expr, update: &Update, name: &str) -> bool {
    let mut reads = false;
    walk::of_expr(value, &mut |column| {
        reads |= column.name == name && walk::is_own(column, &update.table.name);
    });
    reads
}
