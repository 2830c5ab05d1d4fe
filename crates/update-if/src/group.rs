//! Several conditional updates of which all happen or none.

use sqlx::{Acquire, Connection, Transaction};

use crate::explain::Explanation;
use crate::{Answer, Backend, Error, Update, render};

/// Conditional updates in one transaction: all hold and happen, in their order, or none does.
///
/// Every group that names several rows should name them in one order. Where groups still get into each other's way, the
/// database undoes one of them, and it is tried again, a bounded number of times.
#[derive(Debug, Clone)]
#[must_use = "nothing happens until it is run"]
pub struct Group {
    updates: Vec<Update>,
    attempts: u32,
}

/// What came of a group.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a group that was refused has changed nothing"]
pub enum GroupAnswer {
    /// All updates matched and happened.
    Happened(Vec<Answer>),
    /// One did not match, so nothing has happened.
    Refused {
        /// Which one, from 0.
        place: usize,
        /// Why, as of the same transaction, with the effects of those before it.
        explanation: Box<Explanation>,
    },
}

impl GroupAnswer {
    /// Whether all of it happened.
    pub fn happened(&self) -> bool {
        matches!(self, Self::Happened(_))
    }
}

impl Default for Group {
    fn default() -> Self {
        Self { updates: Vec::new(), attempts: 5 }
    }
}

impl Group {
    /// A group of none.
    pub fn new() -> Self {
        Self::default()
    }

    /// And this one, after those before it.
    pub fn and(mut self, update: Update) -> Self {
        self.updates.push(update);
        self
    }

    /// How often it is tried when others are in the way (5 times unless said).
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// Runs the group. Inside a transaction of yours it is a part of it that is undone by itself, and is not tried
    /// again: a deadlock undoes the whole of your transaction.
    pub async fn run<'c, A, DB>(&self, at: A) -> Result<GroupAnswer, Error>
    where
        A: Acquire<'c, Database = DB> + Send,
        DB: Backend,
    {
        let mut connection = at.acquire().await.map_err(Error::Unavailable)?;
        self.run_on::<DB>(&mut connection).await
    }

    /// [`run`](Self::run), for code that is generic over the database.
    pub async fn run_on<DB: Backend>(
        &self,
        connection: &mut DB::Connection,
    ) -> Result<GroupAnswer, Error> {
        // Rendered first: a statement that cannot be meant must not be found out half way.
        for update in &self.updates {
            render::update(update, DB::DIALECT, &[])?;
        }
        let attempts = if connection.is_in_transaction() { 1 } else { self.attempts };
        let mut attempt = 1;
        loop {
            match self.attempt::<DB>(connection).await {
                Err(Error::Conflict(_)) if attempt < attempts => attempt += 1,
                outcome => return outcome,
            }
        }
    }

    async fn attempt<DB: Backend>(
        &self,
        connection: &mut DB::Connection,
    ) -> Result<GroupAnswer, Error> {
        let begun = match DB::BEGIN.filter(|_| !connection.is_in_transaction()) {
            Some(begin) => connection.begin_with(begin).await,
            None => connection.begin().await,
        };
        let mut transaction = begun.map_err(Error::unchanged::<DB>)?;
        match self.updates_in(&mut transaction).await {
            Ok(answer @ GroupAnswer::Happened(_)) => {
                transaction.commit().await.map_err(Error::of::<DB>)?;
                Ok(answer)
            }
            other => {
                // What comes of the undoing does not matter: without a commit there is nothing.
                let _ = transaction.rollback().await;
                other
            }
        }
    }

    async fn updates_in<DB: Backend>(
        &self,
        transaction: &mut Transaction<'_, DB>,
    ) -> Result<GroupAnswer, Error> {
        let mut answers = Vec::with_capacity(self.updates.len());
        for (place, update) in self.updates.iter().enumerate() {
            let sql = render::update(update, DB::DIALECT, &[])?;
            let matched = DB::run(transaction, sql).await.map_err(Error::unchanged::<DB>)?;
            if matched == 0 {
                let explanation = Box::new(update.explain_on::<DB>(transaction).await?);
                return Ok(GroupAnswer::Refused { place, explanation });
            }
            answers.push(Answer { matched });
        }
        Ok(GroupAnswer::Happened(answers))
    }
}
