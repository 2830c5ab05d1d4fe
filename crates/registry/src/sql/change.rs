//! Writing: one thing after the other inside a transaction, or all with one statement.

use update_if::{Backend, Dialect, Update, Value};

use super::Desk;
use super::statement::Statement;
use super::trouble::Trouble;

/// One thing to write.
pub(super) enum Change {
    /// Happens only if the resource is as it was loaded; else nothing does.
    Guard(Box<Update>),
    Insert {
        table: &'static str,
        values: Vec<(&'static str, Value)>,
    },
    Update {
        table: &'static str,
        set: Vec<(&'static str, Value)>,
        key: Vec<(&'static str, Value)>,
    },
}

impl<DB: Backend> Desk<DB> {
    /// Writes inside a transaction: each of these changes one row, or something is not as it was loaded.
    pub(super) async fn write(
        &self,
        on: &mut DB::Connection,
        changes: Vec<Change>,
    ) -> Result<(), Trouble> {
        if DB::DIALECT == Dialect::Sqlite {
            // All in one go: to a file's own thread and back takes longer than the work itself.
            let expected = changes.len() as u64;
            let mut all = Statement::new(DB::DIALECT);
            for change in changes {
                all = change.write(all, DB::DIALECT, false)?.text("; ");
            }
            let changed = all.run::<DB>(on).await?;
            return if changed == expected { Ok(()) } else { Err(outrun()) };
        }
        for change in changes {
            let alone = change.write(Statement::new(DB::DIALECT), DB::DIALECT, false)?;
            if alone.run::<DB>(on).await? != 1 {
                return Err(outrun());
            }
        }
        Ok(())
    }

    /// Writes everything with one statement, which is a transaction by itself. Whatever is not a guard
    /// happens only if all guards hold. Only PostgreSQL can.
    pub(super) async fn write_at_once(
        &self,
        on: &mut DB::Connection,
        changes: Vec<Change>,
        called: Option<String>,
    ) -> Result<(), Trouble> {
        let rows = at_once(changes, called)?.rows_kept::<DB>(on, 1).await?;
        if rows.is_empty() { Err(outrun()) } else { Ok(()) }
    }
}

/// One statement that answers a row if all guards hold.
pub(super) fn at_once(changes: Vec<Change>, called: Option<String>) -> Result<Statement, Trouble> {
    let dialect = Dialect::Postgres;
    let (guards, writes): (Vec<Change>, Vec<Change>) =
        changes.into_iter().partition(|change| matches!(change, Change::Guard(_)));
    let counts: Vec<String> =
        (0..guards.len()).map(|nth| format!("(SELECT COUNT(*) FROM guard{nth})")).collect();
    let held = format!("held AS (SELECT 1 WHERE {} = {})", counts.join(" + "), guards.len());
    let mut statement = Statement::of(dialect, "WITH ");
    for (nth, guard) in guards.into_iter().enumerate() {
        statement = statement.text(&format!("guard{nth} AS ("));
        statement = guard.write(statement, dialect, true)?.text(" RETURNING 1), ");
    }
    statement = statement.text(&held);
    for (nth, write) in writes.into_iter().enumerate() {
        statement = statement.text(&format!(", write{nth} AS ("));
        statement = write.write(statement, dialect, true)?.text(")");
    }
    Ok(match called {
        Some(called) => {
            let tell = statement.text(" SELECT 1 FROM held, LATERAL pg_notify('tenure', ");
            tell.value(Value::Text(called)).text(") AS told")
        }
        None => statement.text(" SELECT 1 FROM held"),
    })
}

/// Somebody else decided about one of the resources in between.
pub(super) fn outrun() -> Trouble {
    Trouble::Again("a resource changed in between".to_owned())
}

impl Change {
    /// Its words, as a statement of its own or as one that depends on what is `held`.
    fn write(self, ask: Statement, dialect: Dialect, held: bool) -> Result<Statement, Trouble> {
        Ok(match self {
            Self::Guard(update) => {
                let sql = update.render(dialect);
                ask.embed(sql.map_err(|bad| Trouble::Refused(bad.to_string()))?)
            }
            Self::Insert { table, values } => {
                let (columns, values): (Vec<&str>, Vec<Value>) = values.into_iter().unzip();
                let begin = format!("INSERT INTO {table} ({}) ", columns.join(", "));
                let ask = ask.text(&begin).text(if held { "SELECT " } else { "VALUES (" });
                ask.values(values).text(if held { " FROM held" } else { ")" })
            }
            Self::Update { table, set, key } => {
                let ask = pairs(ask.text(&format!("UPDATE {table} SET ")), set, ", ");
                pairs(ask.text(if held { " FROM held WHERE " } else { " WHERE " }), key, " AND ")
            }
        })
    }
}

fn pairs(mut ask: Statement, pairs: Vec<(&'static str, Value)>, between: &str) -> Statement {
    for (nth, (column, value)) in pairs.into_iter().enumerate() {
        ask = ask.text(if nth > 0 { between } else { "" }).text(column).text(" = ").value(value);
    }
    ask
}
