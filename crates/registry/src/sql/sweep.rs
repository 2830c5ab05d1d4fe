//! What happens by itself: leases that ended, turns that are over, memories that fade.
//!
//! No answer depends on this, so one process a second is enough: whoever writes down first that this
//! second has come does the work. That row is also the heartbeat of the store's clock.

use std::sync::{Arc, Weak};
use std::time::Duration;

use claims::ClaimId;
use update_if::Backend;

use super::Desk;
use super::decide::Act;
use super::keep::micros;
use super::statement::Statement;
use super::timeline::StoreRow;
use super::trouble::Trouble;

const EVERY: Duration = Duration::from_secs(1);
/// The most claims that one sweep looks at.
const AT_ONCE: i64 = 200;

/// The last claim that a sweep of this process looked at. Overdue claims that nobody wants stay, so the
/// next sweep goes on behind them.
#[derive(Default, Clone, Copy)]
pub(super) struct Cursor {
    due: i64,
    id: i64,
}

impl<DB: Backend> Desk<DB> {
    /// Sweeps now and then for as long as the store is used.
    pub(super) fn sweep_in_the_background(self: &Arc<Self>) {
        let desk = Arc::downgrade(self);
        if let Some(mut heard) = self.bell.take() {
            let desk = desk.clone();
            tokio::spawn(async move {
                while let Some(claim) = heard.recv().await {
                    let Some(desk) = Weak::upgrade(&desk) else { return };
                    match claim {
                        // The line was down: anything may have happened.
                        ClaimId(0) => desk.waits.wake_all(),
                        claim => desk.waits.wake(claim),
                    }
                }
            });
        }
        tokio::spawn(async move {
            while let Some(desk) = Weak::upgrade(&desk) {
                if let Err(trouble) = desk.sweep().await {
                    tracing::debug!(?trouble, "nothing was swept this time");
                }
                drop(desk);
                tokio::time::sleep(EVERY).await;
            }
        });
    }

    /// Does what is due, unless somebody else has just done so.
    pub(super) async fn sweep(&self) -> Result<Duration, Trouble> {
        let Some(now) = self.beat().await? else { return Ok(EVERY) };
        for claim in self.due(now).await? {
            self.decide(Act::Settle(claim)).await?;
        }
        self.forget(now).await?;
        Ok(EVERY)
    }

    /// Writes down that the store is alive. Nothing if somebody else has within this second.
    async fn beat(&self) -> Result<Option<i64>, Trouble> {
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let reading = self.reading(&mut connection).await?;
        if reading.is_of_another_start() {
            drop(connection);
            self.resume().await?;
            return Ok(None);
        }
        let now = micros(reading.stamp(DB::DIALECT, claims::Timestamp::ZERO).at);
        // Looked at first: whoever tries to write waits for all others who do.
        let ask = Statement::of(DB::DIALECT, "SELECT seen FROM tenure_store");
        let rows = ask.rows::<DB>(&mut connection, 1).await?;
        let seen = rows.first().map_or(Ok(0), |row| row.int(0))?;
        if seen > now - EVERY.as_micros() as i64 {
            return Ok(None);
        }
        let _writer = self.writers.acquire().await;
        let beat = StoreRow::update(1)
            .set(StoreRow::SEEN.to(now))
            .filter(StoreRow::SEEN.le(now - EVERY.as_micros() as i64))
            .expect(StoreRow::STARTED.is(reading.started_before));
        let beat = beat.render(DB::DIALECT).map_err(|bad| Trouble::Refused(bad.to_string()))?;
        let matched = Statement::new(DB::DIALECT).embed(beat).run::<DB>(&mut connection).await?;
        Ok((matched > 0).then_some(now))
    }

    async fn due(&self, now: i64) -> Result<Vec<ClaimId>, Trouble> {
        let Cursor { due, id } = *self.swept_to.lock().expect("a cursor does not panic");
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let ask =
            Statement::of(DB::DIALECT, "SELECT due, id FROM tenure_claims WHERE due <= ").int(now);
        let ask = ask.text(" AND (due > ").int(due).text(" OR due = ").int(due).text(" AND id > ");
        let ask = ask.int(id).text(") ORDER BY due, id LIMIT ").int(AT_ONCE);
        let rows = ask.rows::<DB>(&mut connection, 2).await?;
        let next = match rows.last() {
            Some(last) if rows.len() as i64 == AT_ONCE => {
                Cursor { due: last.int(0)?, id: last.int(1)? }
            }
            _ => Cursor::default(),
        };
        *self.swept_to.lock().expect("a cursor does not panic") = next;
        rows.iter().map(|row| Ok(ClaimId(row.count(1)?))).collect()
    }
}
