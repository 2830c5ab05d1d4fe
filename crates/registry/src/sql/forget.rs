//! Forgetting (rule 12), a batch at a time: ended claims, idle resources, old history.

use std::collections::BTreeSet;

use claims::{Event, Name, Stamp, Timestamp, WallTime};
use update_if::{Backend, Dialect, Value};

use super::Desk;
use super::keep::{OVER, batch, read_claim};
use super::statement::{Statement, begin, commit};
use super::trouble::Trouble;

/// The most claims that are forgotten in one transaction.
const CLAIMS: i64 = 100;
/// How many decisions can be read back, and how many are forgotten at once.
const HISTORY: i64 = 20_000;
const HISTORY_BATCH: i64 = 2_000;

impl<DB: Backend> Desk<DB> {
    pub(super) async fn forget(&self, now: i64) -> Result<(), Trouble> {
        // What has no position has not been offered to anybody yet.
        self.publish().await?;
        while self.forget_claims(now).await? == CLAIMS {}
        self.forget_history().await
    }

    /// Forgets the claims that ended first, if that is long ago or there are too many.
    async fn forget_claims(&self, now: i64) -> Result<i64, Trouble> {
        let dialect = DB::DIALECT;
        let faded =
            now.saturating_sub(i64::try_from(self.rules.retain.as_micros()).unwrap_or(i64::MAX));
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let ask = "SELECT ended_at FROM tenure_claims WHERE ended_at IS NOT NULL ORDER BY ended_at DESC, \
                   id DESC LIMIT 1 OFFSET ";
        let ask = Statement::of(dialect, ask).int(self.rules.ended_max.min(1 << 40) as i64);
        let rows = ask.rows::<DB>(&mut connection, 1).await?;
        let surplus = rows.first().map_or(Ok(i64::MIN), |row| row.int(0))?;
        let ask = Statement::of(dialect, "SELECT id, body FROM tenure_claims WHERE ended_at <= ");
        let ask = ask.int(faded.max(surplus)).text(" ORDER BY ended_at, id LIMIT ").int(CLAIMS);
        let rows = ask.rows::<DB>(&mut connection, 2).await?;
        if rows.is_empty() {
            return Ok(0);
        }
        let _writer = self.writers.acquire().await;
        let mut transaction = begin::<DB>(&mut connection).await?;
        let mut names = BTreeSet::new();
        let mut count = 0;
        for row in &rows {
            let (id, claim) = (row.int(0)?, read_claim(row.bytes(1)?)?);
            let gone = Statement::of(dialect, "DELETE FROM tenure_claims WHERE id = ").int(id);
            count += gone.run::<DB>(&mut transaction).await?;
            for name in claim.resources.as_slice() {
                let gone = Statement::of(dialect, "DELETE FROM tenure_places WHERE name = ");
                let gone = gone.bytes(name.as_str().as_bytes());
                let gone = gone.text(&format!(" AND kind = {OVER} AND id = ")).int(id);
                gone.run::<DB>(&mut transaction).await?;
                names.insert(name.clone());
            }
        }
        self.forget_idle(&mut transaction, &names).await?;
        if count > 0 {
            let events = [Event::Forgotten { count: count as u32 }];
            let reading = self.reading(&mut transaction).await?;
            let at = Timestamp::from_micros(now.max(0) as u64);
            let wall = reading.stamp(dialect, Timestamp::ZERO).wall;
            let stamp = Stamp { at, wall: WallTime(wall.0) };
            self.write(&mut transaction, vec![batch(&events, stamp)?]).await?;
        }
        commit(transaction).await?;
        Ok(rows.len() as i64)
    }

    /// Forgets resources that nobody holds, wants or remembers. Their fences must never come again, so
    /// the floor under all fences rises first (rule 8). One that was touched meanwhile has another
    /// revision, and stays.
    async fn forget_idle(
        &self,
        on: &mut DB::Connection,
        names: &BTreeSet<Name>,
    ) -> Result<(), Trouble> {
        let name = |name: &Name| Value::Bytes(name.as_str().as_bytes().to_vec());
        let ask = Statement::of(
            DB::DIALECT,
            "SELECT name, revision, fence FROM tenure_resources r WHERE NOT EXISTS (SELECT 1 FROM \
             tenure_places p WHERE p.name = r.name) AND name IN (",
        );
        let idle = ask.values(names.iter().map(name)).text(")").rows::<DB>(on, 3).await?;
        let mut floor = 0;
        for row in &idle {
            floor = floor.max(row.int(2)?);
        }
        if floor > 0 {
            let raise =
                Statement::of(DB::DIALECT, "UPDATE tenure_store SET fence_floor = ").int(floor);
            raise.text(" WHERE fence_floor < ").int(floor).run::<DB>(on).await?;
        }
        for row in &idle {
            let gone = Statement::of(DB::DIALECT, "DELETE FROM tenure_resources WHERE name = ");
            let gone = gone.bytes(row.bytes(0)?).text(" AND revision = ").int(row.int(1)?);
            gone.run::<DB>(on).await?;
        }
        Ok(())
    }

    async fn forget_history(&self) -> Result<(), Trouble> {
        let dialect = DB::DIALECT;
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let ask = Statement::of(dialect, "SELECT MIN(seq), MAX(seq) FROM tenure_batches");
        let rows = ask.rows::<DB>(&mut connection, 2).await?;
        let Some(row) = rows.first() else { return Ok(()) };
        let (first, last) = (row.int_or(0, 0)?, row.int_or(1, 0)?);
        let _writer = self.writers.acquire().await;
        let old = (last - HISTORY).min(first + HISTORY_BATCH);
        if old > first {
            let gone = Statement::of(dialect, "DELETE FROM tenure_batches WHERE seq < ").int(old);
            let gone = gone.text(" AND position IS NOT NULL");
            gone.run::<DB>(&mut connection).await?;
        }
        if dialect == Dialect::Mysql {
            // The greatest stays: it is what the next number is counted from.
            let gone = "DELETE FROM tenure_ids WHERE id < (SELECT MAX(id) FROM (SELECT MAX(id) AS id FROM \
                        tenure_ids) AS greatest) LIMIT 1000";
            Statement::of(dialect, gone).run::<DB>(&mut connection).await?;
        }
        Ok(())
    }
}
