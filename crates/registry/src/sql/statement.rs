//! A statement being written, in the words of one database. Values are bound, never written.

use sqlx::{Connection, Transaction};
use update_if::{Backend, Dialect, Sql, Value};

use super::trouble::Trouble;

/// A statement being written.
pub(super) struct Statement {
    dialect: Dialect,
    sql: Sql,
}

impl Statement {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, sql: Sql { text: String::new(), values: Vec::new() } }
    }

    pub(super) fn of(dialect: Dialect, text: &str) -> Self {
        Self::new(dialect).text(text)
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.sql.text.push_str(text);
        self
    }

    /// Binds a value. NULL is a word, because a value without a type fits no column.
    pub(super) fn value(mut self, value: Value) -> Self {
        if value.is_null() {
            return self.text("NULL");
        }
        self.sql.values.push(value);
        match self.dialect {
            Dialect::Postgres => {
                let place = format!("${}", self.sql.values.len());
                self.text(&place)
            }
            Dialect::Sqlite | Dialect::Mysql => self.text("?"),
        }
    }

    pub(super) fn int(self, number: i64) -> Self {
        self.value(Value::Int(number))
    }

    pub(super) fn bytes(self, bytes: &[u8]) -> Self {
        self.value(Value::Bytes(bytes.to_vec()))
    }

    /// A list of values, with commas.
    pub(super) fn values(mut self, values: impl IntoIterator<Item = Value>) -> Self {
        for (nth, value) in values.into_iter().enumerate() {
            self = if nth > 0 { self.text(", ") } else { self };
            self = self.value(value);
        }
        self
    }

    /// Another statement inside this one: its values are numbered on.
    pub(super) fn embed(mut self, other: Sql) -> Self {
        let before = self.sql.values.len();
        self.sql.values.extend(other.values);
        if self.dialect != Dialect::Postgres {
            return self.text(&other.text);
        }
        let mut pieces = other.text.split('$');
        self.sql.text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let digits = piece.find(|c: char| !c.is_ascii_digit()).unwrap_or(piece.len());
            let (number, rest) = piece.split_at(digits);
            let number: usize = number.parse().expect("a placeholder has a number");
            self = self.text(&format!("${}", before + number)).text(rest);
        }
        self
    }

    #[cfg(all(test, feature = "sqlite"))]
    pub(super) fn into_sql(self) -> Sql {
        self.sql
    }

    pub(super) async fn run<DB: Backend>(self, on: &mut DB::Connection) -> Result<u64, Trouble> {
        DB::run(on, self.sql).await.map_err(Trouble::undone::<DB>)
    }

    /// Reads rows of so many columns.
    pub(super) async fn rows<DB: Backend>(
        self,
        on: &mut DB::Connection,
        columns: usize,
    ) -> Result<Vec<Row>, Trouble> {
        let kinds = vec![None; columns];
        let rows = DB::fetch(on, self.sql, &kinds).await.map_err(Trouble::undone::<DB>)?;
        Ok(rows.into_iter().map(Row).collect())
    }

    /// The same for a statement that is its own transaction: a lost answer may have happened.
    pub(super) async fn rows_kept<DB: Backend>(
        self,
        on: &mut DB::Connection,
        columns: usize,
    ) -> Result<Vec<Row>, Trouble> {
        let kinds = vec![None; columns];
        let rows = DB::fetch(on, self.sql, &kinds).await.map_err(Trouble::of::<DB>)?;
        Ok(rows.into_iter().map(Row).collect())
    }
}

/// A row that was read.
pub(super) struct Row(Vec<Value>);

impl Row {
    pub(super) fn int(&self, place: usize) -> Result<i64, Trouble> {
        self.0[place].as_int().ok_or_else(|| odd(place, "a number"))
    }

    /// Numbers that are never negative.
    pub(super) fn count(&self, place: usize) -> Result<u64, Trouble> {
        self.int(place).map(|number| number.max(0) as u64)
    }

    pub(super) fn int_or(&self, place: usize, nothing: i64) -> Result<i64, Trouble> {
        if self.0[place].is_null() { Ok(nothing) } else { self.int(place) }
    }

    pub(super) fn bytes(&self, place: usize) -> Result<&[u8], Trouble> {
        self.0[place].as_bytes().ok_or_else(|| odd(place, "bytes"))
    }

    #[cfg_attr(not(feature = "mysql"), allow(dead_code, reason = "only MySQL answers text"))]
    pub(super) fn text(&self, place: usize) -> Option<&str> {
        self.0[place].as_text()
    }
}

fn odd(place: usize, expected: &str) -> Trouble {
    let said =
        format!("column {} of an answer is not {expected}: its tables were changed", place + 1);
    Trouble::Corrupt(said)
}

/// Begins a transaction that will write.
pub(super) async fn begin<DB: Backend>(
    connection: &mut DB::Connection,
) -> Result<Transaction<'_, DB>, Trouble> {
    let begun = match DB::BEGIN {
        Some(begin) => connection.begin_with(begin).await,
        None => connection.begin().await,
    };
    begun.map_err(Trouble::undone::<DB>)
}

pub(super) async fn commit<DB: Backend>(transaction: Transaction<'_, DB>) -> Result<(), Trouble> {
    transaction.commit().await.map_err(Trouble::of::<DB>)
}
