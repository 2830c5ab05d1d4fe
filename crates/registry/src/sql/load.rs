//! What a decision reads: one statement, so that all of it is of one moment.

use std::collections::{BTreeMap, BTreeSet};

use claims::engine::{Part, Shelf};
use claims::{ClaimId, Counters, Epoch, Fence, KeyHash, Name, Record, Stamp, Timestamp};
use update_if::{Backend, Dialect, Value};

use super::Desk;
use super::keep::{CALLED, HOLDING, IN_LINE, read_record};
use super::statement::{Row, Statement};
use super::timeline::{Reading, gone};
use super::trouble::Trouble;

const COLUMNS: usize = 9;

/// What to load.
pub(super) struct Wanted {
    pub(super) subject: Subject,
    pub(super) names: BTreeSet<Name>,
    /// How many of those in line.
    pub(super) depth: usize,
    /// Whether the place of the subject in its queues is asked for.
    pub(super) place: bool,
    /// Whether a number for a new claim is needed, if the database gives it with the rest.
    pub(super) number: bool,
}

/// Which claim is asked about.
#[derive(Clone, Copy)]
pub(super) enum Subject {
    Id(ClaimId),
    Key(KeyHash),
}

/// What was found.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) reading: Reading,
    pub(super) next_id: u64,
    floor: u64,
    pub(super) resources: BTreeMap<Name, Shown>,
    pub(super) claims: BTreeMap<ClaimId, Record>,
    pub(super) subject: Option<ClaimId>,
}

/// One resource as it was found.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) revision: i64,
    pub(super) fence: i64,
    pub(super) waiting: i64,
    touched_at: u64,
    ahead: Option<usize>,
    in_line: Vec<ClaimId>,
}

impl Loaded {
    /// The moment of the decision: never before the last one on any of these resources.
    pub(super) fn stamp(&self, dialect: Dialect) -> Stamp {
        let last = self.resources.values().map(|shown| shown.touched_at).max().unwrap_or(0);
        self.reading.stamp(dialect, Timestamp::from_micros(last))
    }

    /// What the engine runs on. A fence is greater than any that these resources ever had.
    pub(super) fn part(&self, depth: usize) -> Part {
        let given = self.resources.values().map(|shown| shown.fence.max(0) as u64).max();
        let next_fence = Fence(given.unwrap_or(0).max(self.floor) + 1);
        let counters =
            Counters { epoch: Epoch::default(), next_claim: ClaimId(self.next_id), next_fence };
        let shelf = |(name, shown): (&Name, &Shown)| Shelf {
            name: name.clone(),
            waiting: shown.waiting.max(0) as usize,
            ahead: shown.ahead,
            last: shown.in_line.last().copied().filter(|_| shown.in_line.len() >= depth),
        };
        let resources = self.resources.iter().map(shelf).collect();
        Part { counters, claims: self.claims.values().cloned().collect(), resources }
    }

    fn take(&mut self, row: &Row) -> Result<(), Trouble> {
        let claim = || read_record(row.bytes(8)?);
        match row.int(0)? {
            0 => {
                let (raw, lost, started) = (row.int(2)?, row.int(4)?, row.int(3)?);
                let started_before = row.int(5)?;
                self.reading = Reading { raw, started, lost, started_before };
                self.floor = row.count(6)?;
                self.next_id = row.count(7)?;
            }
            1 => {
                let shown = self.resources.entry(name(row)?).or_default();
                (shown.revision, shown.fence) = (row.int(2)?, row.int(3)?);
                (shown.waiting, shown.touched_at) = (row.int(4)?, row.count(5)?);
            }
            2 => drop(self.claims.insert(ClaimId(row.count(2)?), claim()?)),
            3 => {
                let id = ClaimId(row.count(2)?);
                self.claims.insert(id, claim()?);
                self.resources.entry(name(row)?).or_default().in_line.push(id);
            }
            4 => {
                let id = ClaimId(row.count(2)?);
                self.subject = Some(id);
                self.claims.insert(id, claim()?);
            }
            _ => {
                let ahead = row.count(2)? as usize;
                self.resources.entry(name(row)?).or_default().ahead = Some(ahead);
            }
        }
        Ok(())
    }
}

pub(super) fn name(row: &Row) -> Result<Name, Trouble> {
    read_name(row.bytes(1)?)
}

pub(super) fn read_name(bytes: &[u8]) -> Result<Name, Trouble> {
    let name = std::str::from_utf8(bytes).ok().and_then(|text| Name::new(text).ok());
    name.ok_or_else(|| Trouble::Corrupt("a resource has a name that cannot be one".to_owned()))
}

impl<DB: Backend> Desk<DB> {
    /// Loads what is wanted. The resources that are missing in the answer have no row yet.
    pub(super) async fn load(
        &self,
        on: &mut DB::Connection,
        wanted: &Wanted,
    ) -> Result<Loaded, Trouble> {
        let rows = self.question(wanted).rows::<DB>(on, COLUMNS).await?;
        let mut loaded = Loaded::default();
        if rows.is_empty() {
            return Err(gone());
        }
        for row in &rows {
            loaded.take(row)?;
        }
        for shown in loaded.resources.values_mut() {
            shown.in_line.sort_unstable();
        }
        Ok(loaded)
    }

    pub(super) fn question(&self, wanted: &Wanted) -> Statement {
        let dialect = DB::DIALECT;
        let none = match dialect {
            Dialect::Postgres => "''::bytea",
            Dialect::Sqlite | Dialect::Mysql => "x''",
        };
        let number = match dialect {
            Dialect::Postgres if wanted.number => "nextval('tenure_ids')",
            Dialect::Postgres | Dialect::Sqlite | Dialect::Mysql => "next_id",
        };
        let head = format!("SELECT 0 AS tag, {none} AS name, ");
        let mut ask = Statement::of(dialect, &head).clock(dialect, &self.machine).text(&format!(
            ", lost, started, fence_floor, {number}, {none} AS body FROM tenure_store"
        ));
        let of_claim = "SELECT 4, ''::bytea, id, 0, 0, 0, 0, 0, body FROM tenure_claims WHERE ";
        ask = ask.text(" UNION ALL ").text(&of_claim.replace("''::bytea", none));
        ask = match wanted.subject {
            Subject::Id(id) => ask.text("id = ").int(id.0 as i64),
            Subject::Key(key) => ask.text("key_hash = ").bytes(&key.0),
        };
        for (nth, name) in wanted.names.iter().enumerate() {
            let name = || Value::Bytes(name.as_str().as_bytes().to_vec());
            ask = ask
                .text(" UNION ALL SELECT 1, name, revision, fence, waiting, touched_at, 0, 0, ")
                .text(none)
                .text(" FROM tenure_resources WHERE name = ")
                .value(name());
            ask = ask
                .text(" UNION ALL SELECT 2, p.name, p.id, 0, 0, 0, 0, 0, c.body FROM tenure_places p ")
                .text("JOIN tenure_claims c ON c.id = p.id WHERE p.name = ")
                .value(name())
                .text(&format!(" AND p.kind IN ({CALLED}, {HOLDING})"));
            ask = ask
                .text(" UNION ALL SELECT * FROM (SELECT 3 AS tag, p.name, p.id, 0 AS b, 0 AS c, 0 AS d, ")
                .text("0 AS e, 0 AS f, c.body FROM tenure_places p JOIN tenure_claims c ON c.id = p.id ")
                .text("WHERE p.name = ")
                .value(name())
                .text(&format!(" AND p.kind = {IN_LINE} ORDER BY p.id LIMIT "))
                .int(wanted.depth as i64)
                .text(&format!(") AS head{nth}"));
            if let (Subject::Id(id), true) = (wanted.subject, wanted.place) {
                ask = ask
                    .text(" UNION ALL SELECT 5, ")
                    .value(name())
                    .text(", COUNT(*), 0, 0, 0, 0, 0, ")
                    .text(none)
                    .text(" FROM tenure_places WHERE name = ")
                    .value(name())
                    .text(" AND kind IN (0, 1, 2) AND id < ")
                    .int(id.0 as i64);
            }
        }
        ask
    }
}
