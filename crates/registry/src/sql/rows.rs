//! The rows that decisions meet at: made when they are needed, locked when others keep being faster.

use std::collections::BTreeSet;

use claims::Name;
use update_if::{Backend, Dialect, Value};

use super::Desk;
use super::statement::Statement;
use super::trouble::Trouble;

impl<DB: Backend> Desk<DB> {
    /// Keeps others away from these resources until the transaction ends.
    pub(super) async fn lock(
        &self,
        on: &mut DB::Connection,
        names: &BTreeSet<Name>,
    ) -> Result<(), Trouble> {
        if DB::DIALECT == Dialect::Sqlite || names.is_empty() {
            return Ok(());
        }
        let name = |name: &Name| Value::Bytes(name.as_str().as_bytes().to_vec());
        let lock =
            Statement::of(DB::DIALECT, "SELECT revision FROM tenure_resources WHERE name IN (")
                .values(names.iter().map(name))
                .text(") ORDER BY name FOR UPDATE");
        lock.rows::<DB>(on, 1).await.map(drop)
    }

    /// Makes the rows of resources that nobody has used before.
    pub(super) async fn make(
        &self,
        on: &mut DB::Connection,
        names: &[&Name],
    ) -> Result<(), Trouble> {
        for name in names {
            let (insert, or_not) = match DB::DIALECT {
                Dialect::Sqlite | Dialect::Postgres => ("INSERT", " ON CONFLICT DO NOTHING"),
                Dialect::Mysql => ("INSERT IGNORE", ""),
            };
            let make = Statement::of(DB::DIALECT, insert)
                .text(
                    " INTO tenure_resources (name, revision, fence, waiting, touched_at) VALUES (",
                )
                .bytes(name.as_str().as_bytes())
                .text(", 0, 0, 0, 0)")
                .text(or_not);
            make.run::<DB>(on).await?;
        }
        Ok(())
    }
}

/// A number for a new claim, where the database gives it with a statement of its own.
pub(super) async fn draw<DB: Backend>(on: &mut DB::Connection) -> Result<u64, Trouble> {
    Statement::of(DB::DIALECT, "INSERT INTO tenure_ids VALUES (NULL)").run::<DB>(on).await?;
    let ask = Statement::of(DB::DIALECT, "SELECT CAST(LAST_INSERT_ID() AS SIGNED)");
    let rows = ask.rows::<DB>(on, 1).await?;
    rows.first().map_or(Ok(0), |row| row.count(0))
}
