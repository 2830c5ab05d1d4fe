//! A new epoch, after a restore from a backup: every later number is above any before (rule 8).

use claims::{Epoch, Event};
use update_if::{Backend, Dialect};

use super::keep::batch;
use super::statement::{Statement, begin, commit};
use super::trouble::Trouble;
use super::{Desk, SqlStore};
use crate::error::StoreError;

/// Numbers below this many bits belong to one epoch.
const EPOCH_SHIFT: u32 = 40;

impl<DB: Backend> SqlStore<DB> {
    /// Begins a new epoch.
    pub(crate) async fn begin_epoch(&self) -> Result<(), StoreError> {
        self.desk.begin_epoch().await.map_err(Trouble::told)
    }
}

impl<DB: Backend> Desk<DB> {
    async fn begin_epoch(&self) -> Result<(), Trouble> {
        let dialect = DB::DIALECT;
        let _writer = self.writers.acquire().await;
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let mut transaction = begin::<DB>(&mut connection).await?;
        let given = match dialect {
            Dialect::Sqlite => "next_id",
            Dialect::Postgres => "(SELECT last_value FROM tenure_ids)",
            Dialect::Mysql => "COALESCE((SELECT MAX(id) FROM tenure_ids), 0)",
        };
        let ask = format!(
            "SELECT {given}, fence_floor, COALESCE((SELECT MAX(fence) FROM tenure_resources), 0) FROM \
             tenure_store"
        );
        let rows = Statement::of(dialect, &ask).rows::<DB>(&mut transaction, 3).await?;
        let mut greatest = 0;
        for row in &rows {
            greatest = row.count(0)?.max(row.count(1)?).max(row.count(2)?);
        }
        let used_up = || Trouble::Refused("all epochs are used up: use a new database".to_owned());
        let epoch = u32::try_from((greatest >> EPOCH_SHIFT) + 1).ok();
        let epoch = epoch.and_then(Epoch::from_number).ok_or_else(used_up)?;
        let floor = i64::from(epoch.number()) << EPOCH_SHIFT;
        let raise = Statement::of(dialect, "UPDATE tenure_store SET fence_floor = ").int(floor);
        raise.text(", next_id = ").int(floor + 1).run::<DB>(&mut transaction).await?;
        match dialect {
            Dialect::Sqlite => {}
            Dialect::Postgres => {
                let raise = Statement::of(dialect, "SELECT setval('tenure_ids', ").int(floor);
                raise.text(")").run::<DB>(&mut transaction).await?;
            }
            Dialect::Mysql => {
                let raise = Statement::of(dialect, "INSERT INTO tenure_ids VALUES (").int(floor);
                raise.text(")").run::<DB>(&mut transaction).await?;
            }
        }
        let stamp = self.now(&mut transaction).await?;
        self.write(&mut transaction, vec![batch(&[Event::EpochBegan { epoch }], stamp)?]).await?;
        commit(transaction).await
    }
}
