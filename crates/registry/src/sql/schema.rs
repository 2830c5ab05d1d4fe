//! The tables, and how they came to be. A database knows how many of these steps it has taken.

use update_if::{Backend, Dialect};

use super::Desk;
use super::statement::{Statement, begin, commit};
use super::trouble::Trouble;

/// What each step is, in the words of each database. Steps are only ever added at the end.
const STEPS: &[fn(Dialect) -> Vec<String>] = &[first];

/// The tables' own words for types and for what follows a table.
struct Words {
    bytes: &'static str,
    name: &'static str,
    key: &'static str,
    counted: &'static str,
    end: &'static str,
}

fn words(dialect: Dialect) -> Words {
    match dialect {
        Dialect::Sqlite => Words {
            bytes: "BLOB",
            name: "BLOB",
            key: "BLOB",
            counted: "INTEGER PRIMARY KEY AUTOINCREMENT",
            end: "",
        },
        Dialect::Postgres => Words {
            bytes: "BYTEA",
            name: "BYTEA",
            key: "BYTEA",
            counted: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            end: "",
        },
        // Names are compared byte by byte, and an index takes no more than 3072 of them.
        Dialect::Mysql => Words {
            bytes: "LONGBLOB",
            name: "VARBINARY(1024)",
            key: "BINARY(16)",
            counted: "BIGINT AUTO_INCREMENT PRIMARY KEY",
            end: " ENGINE=InnoDB ROW_FORMAT=DYNAMIC",
        },
    }
}

fn first(dialect: Dialect) -> Vec<String> {
    let Words { bytes, name, key, counted, end } = words(dialect);
    let by_place = if dialect == Dialect::Sqlite { " WITHOUT ROWID" } else { end };
    let mut steps = vec![
        // One row for each resource that is held, wanted or remembered. Its revision guards every decision.
        format!(
            "CREATE TABLE IF NOT EXISTS tenure_resources (name {name} NOT NULL PRIMARY KEY, \
             revision BIGINT NOT NULL, fence BIGINT NOT NULL, waiting BIGINT NOT NULL, \
             touched_at BIGINT NOT NULL){end}"
        ),
        // The body is the claim; the other columns are for finding it.
        format!(
            "CREATE TABLE IF NOT EXISTS tenure_claims (id BIGINT NOT NULL PRIMARY KEY, \
             key_hash {key} NOT NULL UNIQUE, kind SMALLINT NOT NULL, status SMALLINT NOT NULL, \
             created_wall BIGINT NOT NULL, created_at BIGINT NOT NULL, active_at BIGINT, \
             ended_at BIGINT, due BIGINT, body {bytes} NOT NULL){end}"
        ),
        // Where a claim stands: 0 in line, 1 called, 2 passed over, 3 holding, 4 over.
        format!(
            "CREATE TABLE IF NOT EXISTS tenure_places (name {name} NOT NULL, kind SMALLINT NOT NULL, \
             id BIGINT NOT NULL, PRIMARY KEY (name, kind, id)){by_place}"
        ),
        // The events of one decision. They get their position in the history when somebody reads it.
        format!(
            "CREATE TABLE IF NOT EXISTS tenure_batches (seq {counted}, position BIGINT UNIQUE, \
             happened_at BIGINT NOT NULL, happened_wall BIGINT NOT NULL, events BIGINT NOT NULL, \
             body {bytes} NOT NULL){end}"
        ),
    ];
    let index =
        |on: &str| format!("CREATE INDEX tenure_{on} ON tenure_{}", on.replacen('_', " (", 1));
    match dialect {
        Dialect::Sqlite | Dialect::Postgres => steps.extend([
            "CREATE INDEX tenure_claims_due ON tenure_claims (due) WHERE due IS NOT NULL".to_owned(),
            "CREATE INDEX tenure_claims_ended ON tenure_claims (ended_at, id) WHERE ended_at IS NOT NULL"
                .to_owned(),
            "CREATE INDEX tenure_batches_new ON tenure_batches (seq) WHERE position IS NULL".to_owned(),
        ]),
        Dialect::Mysql => {
            steps.extend([index("claims_due") + ")", index("claims_ended_at") + ")"]);
            steps.push(
                "CREATE TABLE IF NOT EXISTS tenure_ids (id BIGINT AUTO_INCREMENT PRIMARY KEY) \
                 ENGINE=InnoDB"
                    .to_owned(),
            );
        }
    }
    if dialect == Dialect::Postgres {
        steps.push("CREATE SEQUENCE IF NOT EXISTS tenure_ids".to_owned());
    }
    steps
}

/// One row about the store itself.
fn cradle(dialect: Dialect) -> [String; 2] {
    let ignore = match dialect {
        Dialect::Sqlite | Dialect::Postgres => ("INSERT", " ON CONFLICT DO NOTHING"),
        Dialect::Mysql => ("INSERT IGNORE", ""),
    };
    [
        format!(
            "CREATE TABLE IF NOT EXISTS tenure_store (one SMALLINT NOT NULL PRIMARY KEY, \
             version BIGINT NOT NULL, next_id BIGINT NOT NULL, fence_floor BIGINT NOT NULL, \
             position BIGINT NOT NULL, started BIGINT NOT NULL, lost BIGINT NOT NULL, \
             seen BIGINT NOT NULL){}",
            words(dialect).end
        ),
        format!("{} INTO tenure_store VALUES (1, 0, 1, 0, 0, 0, 0, 0){}", ignore.0, ignore.1),
    ]
}

impl<DB: Backend> Desk<DB> {
    /// Makes the tables, or brings them up to date. Refuses those of a newer version.
    pub(super) async fn prepare(&self) -> Result<(), Trouble> {
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        match version::<DB>(&mut connection).await {
            Ok(version) if version as usize == STEPS.len() => return Ok(()),
            Ok(version) => fitting(version)?,
            // There is no table yet, or no database to ask: the next statement tells which.
            Err(Trouble::Refused(_)) => {}
            Err(trouble) => return Err(trouble),
        }
        let dialect = DB::DIALECT;
        let mut transaction = begin::<DB>(&mut connection).await?;
        let one_at_a_time = match dialect {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some("SELECT pg_advisory_xact_lock(8313469)"),
            Dialect::Mysql => Some("SELECT GET_LOCK('tenure schema', 60)"),
        };
        if let Some(lock) = one_at_a_time {
            Statement::of(dialect, lock).run::<DB>(&mut transaction).await?;
        }
        for text in cradle(dialect) {
            Statement::of(dialect, &text).run::<DB>(&mut transaction).await?;
        }
        let version = version::<DB>(&mut transaction).await?;
        fitting(version)?;
        for step in STEPS.iter().skip(version as usize) {
            for text in step(dialect) {
                Statement::of(dialect, &text).run::<DB>(&mut transaction).await?;
            }
        }
        let done = Statement::of(dialect, "UPDATE tenure_store SET version = ");
        done.int(STEPS.len() as i64).run::<DB>(&mut transaction).await?;
        commit(transaction).await?;
        if dialect == Dialect::Mysql {
            let unlock = Statement::of(dialect, "SELECT RELEASE_LOCK('tenure schema')");
            unlock.run::<DB>(&mut connection).await?;
        }
        Ok(())
    }
}

async fn version<DB: Backend>(connection: &mut DB::Connection) -> Result<i64, Trouble> {
    let ask = Statement::of(DB::DIALECT, "SELECT version FROM tenure_store WHERE one = 1");
    let rows = ask.rows::<DB>(connection, 1).await?;
    rows.first().map_or(Ok(0), |row| row.int(0))
}

fn fitting(version: i64) -> Result<(), Trouble> {
    let known = STEPS.len();
    if version as usize <= known {
        return Ok(());
    }
    Err(Trouble::Refused(format!(
        "its tables are of version {version}, made by a newer Tenure, and this one knows {known}: use \
         the newer one, or another database"
    )))
}
