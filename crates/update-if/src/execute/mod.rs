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

use crate::explain::{Explanation, Question};
use crate::{Sql, Update, render};

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
        // What cannot be meant needs no connection to be refused.
        let sql = render::update(self, DB::DIALECT, &[])?;
        let mut connection = at.acquire().await.map_err(Error::Unavailable)?;
        send::<DB>(&mut connection, sql).await
    }

    /// [`run`](Self::run), for code that is generic over the database.
    pub async fn run_on<DB: Backend>(
        &self,
        connection: &mut DB::Connection,
    ) -> Result<Answer, Error> {
        send::<DB>(connection, render::update(self, DB::DIALECT, &[])?).await
    }

    /// Why it did not happen: one further statement, one snapshot. By then the row may have changed again; if all
    /// conditions hold by then, it says so.
    pub async fn explain<'c, A, DB>(&self, at: A) -> Result<Explanation, Error>
    where
        A: Acquire<'c, Database = DB> + Send,
        DB: Backend,
    {
        let mut connection = at.acquire().await.map_err(Error::Unavailable)?;
        self.explain_on::<DB>(&mut connection).await
    }

    /// [`explain`](Self::explain), for code that is generic over the database.
    pub async fn explain_on<DB: Backend>(
        &self,
        connection: &mut DB::Connection,
    ) -> Result<Explanation, Error> {
        let question = Question::new(self, DB::DIALECT)?;
        let rows = DB::fetch(connection, question.sql.clone(), &question.kinds).await;
        Ok(question.answer(rows.map_err(Error::unchanged::<DB>)?))
    }
}

async fn send<DB: Backend>(connection: &mut DB::Connection, sql: Sql) -> Result<Answer, Error> {
    let matched = DB::run(connection, sql).await.map_err(Error::of::<DB>)?;
    Ok(Answer { matched })
}
