//! Text and values, written together.

use std::fmt::Write as _;

use crate::statement::{ColumnSpec, walk};
use crate::{
    ColumnRef, Compatibility, Dialect, Expr, Invalid, Operator, Sql, Subselect, Table, Update,
    Value,
};

/// SQLite carries 32,766 values, the others twice as many.
const MOST_VALUES: usize = 32_766;
const MOST_DEPTH: usize = 64;

pub(crate) struct Writer<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) compatibility: Compatibility,
    pub(crate) own: &'a Table,
    /// Columns whose old value has been saved in a variable, because they are already assigned.
    pub(super) saved: Vec<String>,
    /// Tables and aliases around us, beside our own. Of joined tables only the name is known.
    pub(super) scopes: Vec<(String, Option<Table>)>,
    /// Inside a NOT, where unknown and false are not the same.
    pub(super) negated: bool,
    /// Other rows of the updated table are read, too.
    pub(super) reads_itself: bool,
    depth: usize,
    text: String,
    values: Vec<Value>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(update: &'a Update, dialect: Dialect) -> Self {
        Self {
            dialect,
            compatibility: update.compatibility,
            own: &update.table,
            saved: Vec::new(),
            scopes: Vec::new(),
            negated: false,
            reads_itself: false,
            depth: 0,
            text: String::with_capacity(256),
            values: Vec::with_capacity(16),
        }
    }

    pub(crate) fn finish(self) -> Result<Sql, Invalid> {
        if self.values.len() > MOST_VALUES {
            return Err(Invalid::TooMany { found: self.values.len(), most: MOST_VALUES });
        }
        Ok(Sql { text: self.text, values: self.values })
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// A name in quotes. PostgreSQL cuts longer names off silently, so that they would name something else.
    pub(crate) fn name(&mut self, name: &str) -> Result<(), Invalid> {
        let is_control = |byte: u8| byte < b' ' || byte == 0x7f;
        if name.is_empty() || name.len() > 63 || name.bytes().any(is_control) {
            return Err(Invalid::BadName { name: name.to_owned() });
        }
        let quote = self.dialect.quote();
        self.text.push(quote);
        if name.contains(quote) {
            self.text.push_str(&name.replace(quote, &format!("{quote}{quote}")));
        } else {
            self.text.push_str(name);
        }
        self.text.push(quote);
        Ok(())
    }

    /// A column of the updated table. Always with its table: SQLite takes a lone `"name"` that it does not know for a
    /// text.
    pub(crate) fn own_column(&mut self, name: &str) -> Result<(), Invalid> {
        let kind = self.own.spec(name)?.kind;
        if let Some(place) = self.saved.iter().position(|saved| saved == name) {
            self.push(&Dialect::saved(kind, place));
            return Ok(());
        }
        self.name(&self.own.name)?;
        self.push(".");
        self.name(name)
    }

    pub(crate) fn column(&mut self, column: &ColumnRef) -> Result<(), Invalid> {
        let Some(table) = column.table.as_deref() else { return self.own_column(&column.name) };
        let Some((_, spec)) = self.scopes.iter().rev().find(|(scope, _)| scope == table) else {
            if table == self.own.name {
                return self.own_column(&column.name);
            }
            let (table, column) = (table.to_owned(), column.name.to_string());
            return Err(Invalid::OutOfReach { table, column });
        };
        if let Some(spec) = spec {
            spec.spec(&column.name)?;
        }
        self.name(table)?;
        self.push(".");
        self.name(&column.name)
    }

    /// What is known of a column that stands alone.
    pub(crate) fn spec_of(&self, expr: &Expr) -> Result<Option<ColumnSpec>, Invalid> {
        let Expr::Column(column) = expr else { return Ok(None) };
        let scope = |table: &str| self.scopes.iter().rev().find(|(scope, _)| scope == table);
        let table = match column.table.as_deref().and_then(scope) {
            Some((_, Some(table))) => table,
            Some((_, None)) => return Ok(None),
            None if walk::is_own(column, &self.own.name) => self.own,
            None => return Ok(None),
        };
        table.spec(&column.name).cloned().map(Some)
    }

    /// A placeholder for the value, cast to the type of the column that it stands beside. NULL is a word.
    pub(crate) fn value(
        &mut self,
        value: &Value,
        beside: Option<&ColumnSpec>,
    ) -> Result<(), Invalid> {
        self.fits(value, beside)?;
        if value.is_null() {
            return self.null_beside(beside);
        }
        match beside.and_then(|column| column.postgres.as_deref()) {
            Some(cast) if self.dialect == Dialect::Postgres => {
                self.push("CAST(");
                self.placeholder(value);
                self.push(" AS ");
                self.type_name(cast)?;
                self.push(")");
            }
            _ => self.placeholder(value),
        }
        Ok(())
    }

    /// NULL, with a type where PostgreSQL would guess one: a `CASE` of nothing but NULL is a text to it.
    fn null_beside(&mut self, beside: Option<&ColumnSpec>) -> Result<(), Invalid> {
        let type_name = beside.filter(|_| self.dialect == Dialect::Postgres).and_then(|column| {
            column.postgres.as_deref().or_else(|| column.kind.map(Dialect::postgres_type))
        });
        let Some(type_name) = type_name else {
            self.push("NULL");
            return Ok(());
        };
        self.push("CAST(NULL AS ");
        self.type_name(type_name)?;
        self.push(")");
        Ok(())
    }

    /// An expression. `beside` is the column that it is assigned to or compared with.
    pub(crate) fn expr(&mut self, expr: &Expr, beside: Option<&ColumnSpec>) -> Result<(), Invalid> {
        self.deeper(|writer| match expr {
            Expr::Value(value) => writer.value(value, beside),
            Expr::Column(column) => writer.column(column),
            Expr::Now => {
                let now = writer.dialect.now();
                writer.push(now);
                Ok(())
            }
            Expr::Arithmetic(left, operator, right) => {
                writer.push("(");
                writer.expr(left, beside)?;
                writer.push(match operator {
                    Operator::Add => " + ",
                    Operator::Subtract => " - ",
                    Operator::Multiply => " * ",
                });
                writer.expr(right, beside)?;
                writer.push(")");
                Ok(())
            }
            Expr::Case(case) if case.branches.is_empty() => match &case.otherwise {
                Some(value) => writer.expr(value, beside),
                None => writer.value(&Value::Null, None),
            },
            Expr::Case(case) => {
                writer.push("CASE");
                for (condition, value) in &case.branches {
                    writer.push(" WHEN ");
                    writer.condition(condition)?;
                    writer.push(" THEN ");
                    writer.expr(value, beside)?;
                }
                if let Some(value) = &case.otherwise {
                    writer.push(" ELSE ");
                    writer.expr(value, beside)?;
                }
                writer.push(" END");
                Ok(())
            }
            Expr::Select(subselect) => writer.scalar(subselect),
        })
    }

    /// Bounded: what is nested without end must not end the process.
    pub(super) fn deeper(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), Invalid>,
    ) -> Result<(), Invalid> {
        if self.depth == MOST_DEPTH {
            return Err(Invalid::TooDeep { most: MOST_DEPTH });
        }
        self.depth += 1;
        let written = write(self);
        self.depth -= 1;
        written
    }

    /// Inside a subselect, its columns can be named.
    pub(super) fn within(
        &mut self,
        subselect: &Subselect,
        write: impl FnOnce(&mut Self) -> Result<(), Invalid>,
    ) -> Result<(), Invalid> {
        let scope = subselect.scope();
        if scope == self.own.name || self.scopes.iter().any(|(known, _)| known == scope) {
            return Err(Invalid::NeedsAlias { table: scope.to_owned() });
        }
        self.scopes.push((scope.to_owned(), Some(subselect.table.clone())));
        let written = self.deeper(write);
        self.scopes.pop();
        written
    }

    fn placeholder(&mut self, value: &Value) {
        self.values.push(value.clone());
        match self.dialect {
            Dialect::Sqlite | Dialect::Mysql => self.text.push('?'),
            Dialect::Postgres => {
                let _ = write!(self.text, "${}", self.values.len());
            }
        }
    }

    fn type_name(&mut self, name: &str) -> Result<(), Invalid> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ' ' | '.');
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(Invalid::BadName { name: name.to_owned() });
        }
        self.push(name);
        Ok(())
    }

    fn fits(&self, value: &Value, beside: Option<&ColumnSpec>) -> Result<(), Invalid> {
        if let (Some(column), Some(found)) = (beside, value.kind())
            && let Some(expected) = column.kind
            && !expected.takes(found)
        {
            return Err(Invalid::WrongKind { column: column.name.to_string(), expected, found });
        }
        // SQLite would take NaN for NULL.
        if value.as_float().is_some_and(|number| !number.is_finite()) {
            return Err(Invalid::BadValue("a number that is NaN or infinite cannot be stored"));
        }
        let has_nul = value.as_text().is_some_and(|text| text.contains('\0'));
        if has_nul && self.dialect == Dialect::Postgres {
            return Err(Invalid::BadValue("PostgreSQL cannot hold a text with a NUL character"));
        }
        Ok(())
    }
}
