//! The history: events get their positions when somebody reads them.
//!
//! **Problem.** Events of different resources are written by transactions that overlap. If each took its
//! position while it writes, a reader could see position 6 before 5 is there, and never come back for it.
//!
//! **Idea.** Decisions only write their events down. Whoever reads first gives out the positions, one
//! reader at a time, to what is committed by then: what comes later gets later positions. The events
//! of one resource are in order, because each decision on it begins after the one before has ended.

use std::time::Duration;

use claims::{Event, Stamp, Tally, Timestamp, WallTime};
use tokio::time::{sleep, timeout};
use update_if::{Backend, Dialect};

use super::Desk;
use super::keep::read;
use super::statement::{Statement, begin, commit};
use super::timeline::gone;
use super::trouble::Trouble;
use crate::store::{EventPage, Kept, Vitals};

/// How many decisions get their positions at once.
const AT_ONCE: i64 = 1_000;
/// Followers gather what happens for so long, and look this often at what others do.
const GATHER: Duration = Duration::from_millis(20);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The most events that are read at once.
const PAGE_MAX: usize = 2_000;

impl<DB: Backend> Desk<DB> {
    /// Gives out positions, and says which one comes next.
    pub(super) async fn publish(&self) -> Result<u64, Trouble> {
        let dialect = DB::DIALECT;
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let ask = "SELECT position, (SELECT COUNT(*) FROM (SELECT 1 AS new FROM tenure_batches WHERE \
                   position IS NULL LIMIT 1) AS fresh) FROM tenure_store";
        let rows = Statement::of(dialect, ask).rows::<DB>(&mut connection, 2).await?;
        let row = rows.first().ok_or_else(gone)?;
        if row.int(1)? == 0 {
            return row.count(0);
        }
        let _writer = self.writers.acquire().await;
        let mut transaction = begin::<DB>(&mut connection).await?;
        let alone = if dialect == Dialect::Sqlite { "" } else { " FOR UPDATE" };
        let ask = Statement::of(dialect, "SELECT position FROM tenure_store").text(alone);
        let rows = ask.rows::<DB>(&mut transaction, 1).await?;
        let next = rows.first().ok_or_else(gone)?.int(0)?;
        number(dialect, next).run::<DB>(&mut transaction).await?;
        let ask = "SELECT position + events FROM tenure_batches WHERE position IS NOT NULL \
                   ORDER BY position DESC LIMIT 1";
        let rows = Statement::of(dialect, ask).rows::<DB>(&mut transaction, 1).await?;
        let next = rows.first().map_or(Ok(next), |row| Ok(row.int(0)?.max(next)))?;
        let set = Statement::of(dialect, "UPDATE tenure_store SET position = ").int(next);
        set.run::<DB>(&mut transaction).await?;
        commit(transaction).await?;
        Ok(next as u64)
    }

    pub(super) async fn events(&self, position: u64, count: usize) -> Result<EventPage, Trouble> {
        let end = self.publish_patiently().await?;
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let from = i64::try_from(position).unwrap_or(i64::MAX);
        let count = count.min(PAGE_MAX);
        let ask = Statement::of(
            DB::DIALECT,
            "SELECT position, happened_at, happened_wall, body FROM tenure_batches WHERE position >= \
             COALESCE((SELECT MAX(position) FROM tenure_batches WHERE position <= ",
        );
        let ask = ask.int(from).text("), 0) ORDER BY position LIMIT ").int(count as i64 + 1);
        let rows = ask.rows::<DB>(&mut connection, 4).await?;
        let mut events = Vec::new();
        for row in &rows {
            let first = row.count(0)?;
            let at = Timestamp::from_micros(row.count(1)?);
            let stamp = Stamp { at, wall: WallTime(row.count(2)?) };
            let batch: Vec<Event> = read(row.bytes(3)?)?;
            let batch = (first..).zip(batch).filter(|(at, _)| *at >= position);
            events.extend(batch.map(|(position, event)| Kept { position, stamp, event }));
        }
        events.truncate(count);
        let first = events.first().map_or(end.max(position), |kept| kept.position);
        let next = events.last().map_or(first, |kept| kept.position + 1);
        Ok(EventPage { events, skipped: first.saturating_sub(position), next })
    }

    pub(super) async fn wait_for_event(&self, position: u64) -> Result<(), Trouble> {
        let mut written = self.written.subscribe();
        while self.publish_patiently().await? <= position {
            if let Ok(Ok(())) = timeout(LOOK_EVERY, written.changed()).await {
                sleep(GATHER).await;
            }
        }
        Ok(())
    }

    /// Another reader may be giving them out just now.
    async fn publish_patiently(&self) -> Result<u64, Trouble> {
        let mut attempt = 0;
        loop {
            match self.publish().await {
                Err(Trouble::Again(_)) if attempt < 20 => attempt += 1,
                other => return other,
            }
            sleep(GATHER).await;
        }
    }

    pub(super) async fn vitals(&self) -> Result<Vitals, Trouble> {
        let position = self.publish_patiently().await?;
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let now = self.now(&mut connection).await?.at;
        let ask =
            Statement::of(DB::DIALECT, "SELECT kind, COUNT(*) FROM tenure_claims GROUP BY kind");
        let mut tally = Tally::default();
        for row in ask.rows::<DB>(&mut connection, 2).await? {
            let count = row.count(1)? as usize;
            match row.int(0)? {
                super::keep::OVER => tally.ended += count,
                super::keep::HOLDING => tally.active += count,
                _ => tally.waiting += count,
            }
        }
        let commits = *self.commits.lock().expect("counting does not panic");
        Ok(Vitals { now, tally, position, commits })
    }
}

/// Numbers what has no position yet, from `next` on.
fn number(dialect: Dialect, next: i64) -> Statement {
    let new = "(SELECT seq, SUM(events) OVER (ORDER BY seq) - events AS ahead FROM (SELECT seq, events \
               FROM tenure_batches WHERE position IS NULL ORDER BY seq LIMIT ";
    match dialect {
        Dialect::Mysql => {
            let ask =
                Statement::of(dialect, "UPDATE tenure_batches b JOIN ").text(new).int(AT_ONCE);
            ask.text(") AS raw) AS n ON b.seq = n.seq SET b.position = n.ahead + ").int(next)
        }
        Dialect::Postgres | Dialect::Sqlite => {
            let whole = if dialect == Dialect::Postgres { "n.ahead::bigint" } else { "n.ahead" };
            let ask = Statement::of(dialect, "UPDATE tenure_batches SET position = ").int(next);
            let ask = ask.text(&format!(" + {whole} FROM ")).text(new).int(AT_ONCE);
            ask.text(") AS raw) AS n WHERE tenure_batches.seq = n.seq")
        }
    }
}
