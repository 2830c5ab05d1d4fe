//! A new epoch, after a restore from a backup: every later number is above any before (rule 8).

use claims::engine::begin_epoch;
use claims::{ClaimId, Counters, Epoch, Fence, State};
use update_if::{Backend, Dialect};

use super::keep::batch;
use super::statement::{Statement, begin, commit};
use super::trouble::Trouble;
use super::{Desk, SqlStore};
use crate::error::StoreError;

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
        let mut given = (0, 0);
        for row in &rows {
            given = (row.count(0)?, row.count(1)?.max(row.count(2)?));
        }
        let (next_claim, next_fence) = (ClaimId(given.0 + 1), Fence(given.1 + 1));
        let counters = Counters { epoch: Epoch::default(), next_claim, next_fence };
        let mut state = State::restore(self.rules.clone(), counters, []);
        let stamp = self.now(&mut transaction).await?;
        let mut events = Vec::new();
        if !begin_epoch(&mut state, stamp, &mut events) {
            let why = "all epochs are used up: use a new database";
            return Err(Trouble::Refused(why.to_owned()));
        }
        let next = state.counters();
        let (floor, last) = (next.next_fence.0 as i64 - 1, next.next_claim.0 as i64 - 1);
        let raise = Statement::of(dialect, "UPDATE tenure_store SET fence_floor = ").int(floor);
        raise.text(", next_id = ").int(last + 1).run::<DB>(&mut transaction).await?;
        match dialect {
            Dialect::Sqlite => {}
            Dialect::Postgres => {
                let raise = Statement::of(dialect, "SELECT setval('tenure_ids', ").int(last);
                raise.text(")").run::<DB>(&mut transaction).await?;
            }
            Dialect::Mysql => {
                let raise = Statement::of(dialect, "INSERT INTO tenure_ids VALUES (").int(last);
                raise.text(")").run::<DB>(&mut transaction).await?;
            }
        }
        self.write(&mut transaction, vec![batch(&events, stamp)?]).await?;
        commit(transaction).await
    }
}
