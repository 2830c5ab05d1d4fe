//! The time of a store in a database.
//!
//! Leases are counted by one clock, the database's own; for a file that is the clock of the machine,
//! which counts sleep and which nobody can set. While the database is down nobody can renew, so that
//! time does not count (rule 11): after a restart the store's time goes on from the last moment that
//! was written down. No lease has to be touched for that, only the difference between the two.

use std::time::{SystemTime, UNIX_EPOCH};

use claims::{Stamp, Timestamp, WallTime};
use rustix::time::{ClockId, clock_gettime};
use update_if::{Backend, Dialect, Resource};

use super::Desk;
use super::statement::{Statement, begin, commit};
use super::trouble::Trouble;

/// When a database says it started may differ a little from one connection to the next.
const SAME_START: i64 = 5_000_000;

/// The row about the store itself.
#[derive(Resource)]
#[resource(table = "tenure_store")]
#[allow(dead_code, reason = "only its columns are used")]
pub(super) struct StoreRow {
    #[resource(key)]
    pub(super) one: i64,
    pub(super) started: i64,
    pub(super) lost: i64,
    pub(super) seen: i64,
}

/// This machine, whose clock counts if the database is a file.
pub(super) struct Machine {
    boot: i64,
}

impl Machine {
    pub(super) fn read() -> Self {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        // The first 60 bits of a random number: two boots do not have the same.
        let digits: String = id.chars().filter(char::is_ascii_hexdigit).take(15).collect();
        Self { boot: i64::from_str_radix(&digits, 16).unwrap_or(1).max(1) }
    }

    fn micros() -> i64 {
        let boot = clock_gettime(ClockId::Boottime);
        boot.tv_sec * 1_000_000 + boot.tv_nsec / 1_000
    }
}

impl Statement {
    /// The clock that counts, and since when it runs: two numbers.
    pub(super) fn clock(self, dialect: Dialect, machine: &Machine) -> Self {
        match dialect {
            Dialect::Sqlite => self.int(Machine::micros()).text(", ").int(machine.boot),
            Dialect::Postgres => self.text(
                "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint, \
                 (EXTRACT(EPOCH FROM pg_postmaster_start_time()) * 1000000)::bigint",
            ),
            // SYSDATE is the moment it is evaluated. When the server started is found out once for
            // each connection, because all end with it.
            Dialect::Mysql => self.text(
                "CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED), \
                 CAST(@tenure_started AS SIGNED)",
            ),
        }
    }
}

/// What the clock showed, and what the store knows about it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reading {
    pub(super) raw: i64,
    pub(super) started: i64,
    pub(super) lost: i64,
    pub(super) started_before: i64,
}

impl Reading {
    /// Whether the clock has stood still or begun anew since somebody looked.
    pub(super) fn is_of_another_start(&self) -> bool {
        (self.started - self.started_before).abs() > SAME_START
    }

    /// The moment, not before what has happened already.
    pub(super) fn stamp(&self, dialect: Dialect, not_before: Timestamp) -> Stamp {
        let at = Timestamp::from_micros((self.raw - self.lost).max(0) as u64).max(not_before);
        let wall = match dialect {
            Dialect::Sqlite => {
                let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                wall.as_millis() as u64
            }
            Dialect::Postgres | Dialect::Mysql => self.raw.max(0) as u64 / 1_000,
        };
        Stamp { at, wall: WallTime(wall) }
    }
}

impl<DB: Backend> Desk<DB> {
    /// What the clock shows now.
    pub(super) async fn reading(&self, on: &mut DB::Connection) -> Result<Reading, Trouble> {
        let ask = Statement::of(DB::DIALECT, "SELECT ").clock(DB::DIALECT, &self.machine);
        let rows = ask.text(", lost, started FROM tenure_store").rows::<DB>(on, 4).await?;
        let Some(row) = rows.first() else { return Err(gone()) };
        let (raw, started) = (row.int(0)?, row.int(1)?);
        Ok(Reading { raw, started, lost: row.int(2)?, started_before: row.int(3)? })
    }

    /// The moment, for those who only look.
    pub(super) async fn now(&self, on: &mut DB::Connection) -> Result<Stamp, Trouble> {
        Ok(self.reading(on).await?.stamp(DB::DIALECT, Timestamp::ZERO))
    }

    /// The database was down: its time goes on from the last moment that was written down.
    pub(super) async fn resume(&self) -> Result<(), Trouble> {
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let mut transaction = begin::<DB>(&mut connection).await?;
        let reading = self.reading(&mut transaction).await?;
        if !reading.is_of_another_start() {
            return Ok(());
        }
        let ask = "SELECT GREATEST(seen, COALESCE((SELECT happened_at FROM tenure_batches \
                   ORDER BY seq DESC LIMIT 1), 0)) FROM tenure_store";
        let ask = match DB::DIALECT {
            Dialect::Sqlite => ask.replace("GREATEST", "MAX"),
            Dialect::Postgres | Dialect::Mysql => ask.to_owned(),
        };
        let rows = Statement::of(DB::DIALECT, &ask).rows::<DB>(&mut transaction, 1).await?;
        let last = rows.first().ok_or_else(gone)?.int(0)?;
        // A store that is new has no time to go on from.
        let lost = if reading.started_before == 0 { 0 } else { reading.raw - last };
        let update = StoreRow::update(1)
            .set(StoreRow::STARTED.to(reading.started))
            .set(StoreRow::LOST.to(lost))
            .expect(StoreRow::STARTED.is(reading.started_before));
        let update = update.render(DB::DIALECT).map_err(|bad| Trouble::Refused(bad.to_string()))?;
        let matched = Statement::new(DB::DIALECT).embed(update).run::<DB>(&mut transaction).await?;
        if matched == 0 {
            return Err(Trouble::Again("somebody else noticed the restart first".to_owned()));
        }
        commit(transaction).await?;
        if reading.started_before != 0 {
            let gap_micros = lost - reading.lost;
            tracing::info!(gap_micros, "the store's clock goes on after a restart");
        }
        Ok(())
    }
}

pub(super) fn gone() -> Trouble {
    Trouble::Corrupt("tenure_store has no row: its tables were changed by somebody else".to_owned())
}
