//! Statements in each database's words. Needs no driver.

mod assign;
mod condition;
mod dialect;
mod subselect;
mod writer;

use std::borrow::Cow;

pub use dialect::Dialect;
pub(crate) use writer::Writer;

use crate::statement::{Fence, Role, walk};
use crate::{Condition, Expr, Invalid, Update, Value};

/// A statement in one database's words. The values are bound, never written into the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Sql {
    /// The text, with placeholders.
    pub text: String,
    /// What to bind, in the order of the placeholders.
    pub values: Vec<Value>,
}

/// The statement; where the database can, it answers the named columns of the rows as they are now.
pub(crate) fn update(
    update: &Update,
    dialect: Dialect,
    returning: &[&str],
) -> Result<Sql, Invalid> {
    let mut writer = Writer::new(update, dialect);
    writer.push("UPDATE ");
    writer.name(&update.table.name)?;
    writer.push(" SET ");
    writer.assignments(update)?;
    writer.push(" WHERE ");
    writer.reads_itself = false;
    writer.rows(update)?;
    writer.choose_all_first(update)?;
    if dialect.has_returning() && !returning.is_empty() {
        writer.push(" RETURNING ");
        writer.read_columns(returning)?;
    }
    writer.finish()
}

/// The named columns of the row with the key.
#[cfg_attr(not(feature = "execute"), allow(dead_code, reason = "only the drivers read"))]
pub(crate) fn read(update: &Update, dialect: Dialect, columns: &[&str]) -> Result<Sql, Invalid> {
    let mut writer = Writer::new(update, dialect);
    writer.push("SELECT ");
    writer.read_columns(columns)?;
    writer.push(" FROM ");
    writer.name(&update.table.name)?;
    writer.push(" WHERE ");
    writer.key(update)?;
    writer.finish()
}

impl<'a> Writer<'a> {
    /// Which rows: those of the key for which all conditions hold.
    fn rows(&mut self, update: &'a Update) -> Result<(), Invalid> {
        let mut first = true;
        if !update.key.is_empty() {
            self.key(update)?;
            first = false;
        }
        for part in parts(update) {
            if !std::mem::take(&mut first) {
                self.push(" AND ");
            }
            self.part(&part)?;
        }
        if first {
            self.push("1 = 1");
        }
        Ok(())
    }

    /// MySQL and MariaDB read other rows of the table when the first row needs them, and by then some may have been
    /// changed. Sorting by what no index has makes them choose every row before they change one.
    fn choose_all_first(&mut self, update: &'a Update) -> Result<(), Invalid> {
        let is_one = !update.key.is_empty();
        match update.assignments().first() {
            Some(first) if self.dialect == Dialect::Mysql && self.reads_itself && !is_one => {
                self.push(" ORDER BY HEX(");
                self.own_column(&first.column.name)?;
                self.push(")");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn key(&mut self, update: &'a Update) -> Result<(), Invalid> {
        let expected = update.table.in_role(Role::Key).count();
        if expected != update.key.len() {
            let (table, found) = (update.table.name.to_string(), update.key.len());
            return Err(Invalid::WrongKey { table, expected, found });
        }
        for (place, (column, value)) in update.table.in_role(Role::Key).zip(&update.key).enumerate()
        {
            if place > 0 {
                self.push(" AND ");
            }
            self.own_column(&column.name)?;
            self.push(" = ");
            self.value(value, Some(column))?;
        }
        Ok(())
    }

    pub(crate) fn part(&mut self, part: &Part<'_>) -> Result<(), Invalid> {
        match part {
            Part::Own(condition) => self.condition(condition),
            Part::Joined(tables, conditions) => self.joined(tables, conditions),
            Part::Fence(fence) => self.fence(fence),
        }
    }

    /// Columns as they are read back: those of an unusual type as text.
    pub(crate) fn read_columns(&mut self, names: &[&str]) -> Result<(), Invalid> {
        for (place, name) in names.iter().enumerate() {
            if place > 0 {
                self.push(", ");
            }
            let is_unusual = self.own.spec(name)?.postgres.is_some();
            if is_unusual && self.dialect == Dialect::Postgres {
                self.push("CAST(");
                self.own_column(name)?;
                self.push(" AS text)");
            } else {
                self.own_column(name)?;
            }
        }
        Ok(())
    }

    fn fence(&mut self, fence: &Fence) -> Result<(), Invalid> {
        let Ok(number) = i64::try_from(fence.fence) else {
            return Err(Invalid::FenceTooGreat { fence: fence.fence });
        };
        self.push("(");
        self.column(&fence.column)?;
        self.push(" IS NULL OR ");
        self.column(&fence.column)?;
        self.push(" <= ");
        let spec = self.spec_of(&Expr::Column(fence.column.clone()))?;
        self.value(&Value::Int(number), spec.as_ref())?;
        self.push(")");
        Ok(())
    }
}

/// One of the conditions that are joined by AND, each of which can be explained by itself.
#[derive(Debug, Clone)]
pub(crate) enum Part<'a> {
    /// Speaks of the updated row, and of others through subselects.
    Own(Cow<'a, Condition>),
    /// Speak of columns of other tables: there must be rows there for which all of these hold.
    Joined(Vec<String>, Vec<Condition>),
    /// No greater fence has been seen.
    Fence(&'a Fence),
}

/// All conditions of an update but its key. Those that mention other tables are one: they must hold for the same rows.
pub(crate) fn parts(update: &Update) -> Vec<Part<'_>> {
    let (mut parts, mut tables, mut joined) = (Vec::new(), Vec::<String>::new(), Vec::new());
    for condition in update.conditions() {
        let mut is_foreign = false;
        walk::of_condition(&condition, &mut |column| {
            let Some(table) = column.table.as_deref() else { return };
            if table != update.table.name {
                is_foreign = true;
                if !tables.iter().any(|known| known == table) {
                    tables.push(table.to_owned());
                }
            }
        });
        if is_foreign {
            joined.push(condition.into_owned());
        } else {
            parts.push(Part::Own(condition));
        }
    }
    if !joined.is_empty() {
        parts.push(Part::Joined(tables, joined));
    }
    parts.extend(update.fence.as_ref().map(Part::Fence));
    parts
}
