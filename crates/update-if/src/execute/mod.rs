//! Running statements on a database, over the user's own connection, pool or transaction.

mod backend;
mod error;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use backend::Backend;
pub use error::{Error, Verdict};
use sqlx::Acquire;

use crate::explain::Explanation;
use crate::{Update, render};

/// What came of a conditional update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "an update that did not match has changed nothing"]
pub struct Answer {
    /// How many rows were what was expected, and were changed. (Rows that already were what they became count too.)
    pub matched: u64,
}

impl Answer {
    /// Whether at least one row was what was expected: whether it happened.
    pub fn happened(self) -> bool {
        self.matched > 0
    }
}

impl Update {
    /// Runs the statement. Rows that are not what is expected are no error: nothing has happened, and the answer says
    /// so. `at` is a pool, a connection or a transaction of yours.
    pub async fn run<'c, A, DB>(&self, at: A) -> Result<Answer, Error>
    where
        A: Acquire<'c, Database = DB> + Send,
        DB: Backend,
    {
        let sql = render::update(self, DB::DIALECT, &[])?;
        let mut connection = at.acquire().await.map_err(Error::Unavailable)?;
        let matched = DB::run(&mut connection, sql).await.map_err(Error::of::<DB>)?;
        Ok(Answer { matched })
    }

    /// Why it did not happen: one further statement, one snapshot. By then the row may have changed again; if all
    /// conditions hold by then, it says so.
    pub async fn explain<'c, A, DB>(&self, at: A) -> Result<Explanation, Error>
    where
        A: Acquire<'c, Database = DB> + Send,
        DB: Backend,
    {
        let question = crate::explain::Question::new(self, DB::DIALECT)?;
        let mut connection = at.acquire().await.map_err(Error::Unavailable)?;
        let rows = DB::fetch(&mut connection, question.sql.clone(), &question.kinds).await;
        Ok(question.answer(rows.map_err(Error::unchanged::<DB>)?))
    }
}
