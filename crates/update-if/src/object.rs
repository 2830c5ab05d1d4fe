//! Objects: a row as it was loaded, and what has been changed since.

use std::ops::{Deref, DerefMut};

use sqlx::{Acquire, Connection};

use crate::statement::Role;
use crate::{
    Answer, Assignment, Backend, ColumnRef, Condition, Error, Expectation, Expected, Expr, Kind,
    Resource, Sql, Update, Value, render,
};

/// A resource as it was loaded. Change its fields as you like: those that differ from what was loaded are *dirty*, and
/// are written only when asked for.
#[derive(Debug, Clone)]
pub struct Loaded<R> {
    resource: R,
    original: Vec<Value>,
}

impl<R: Resource> Loaded<R> {
    /// A resource whose fields are what is in the database.
    pub fn new(resource: R) -> Self {
        Self { original: resource.values(), resource }
    }

    /// Loads the row that an update of it would change: `Loaded::<Volume>::of(&Volume::update("v1"), &pool)`.
    pub async fn of<'c, A, DB>(row: &Update, at: A) -> Result<Option<Self>, Error>
    where
        A: Acquire<'c, Database = DB> + Send,
        DB: Backend,
    {
        let columns: Vec<&str> = R::TABLE.columns.iter().map(|column| &*column.name).collect();
        let sql = render::read(row, DB::DIALECT, &columns)?;
        let mut connection = at.acquire().await.map_err(Error::Unavailable)?;
        let rows = DB::fetch(&mut connection, sql, &kinds::<R>(&columns)).await;
        let row = rows.map_err(Error::unchanged::<DB>)?.into_iter().next();
        row.map(|values| Ok(Self::new(R::from_values(values)?))).transpose()
    }

    /// The columns whose fields differ from what was loaded.
    pub fn dirty(&self) -> Vec<&'static str> {
        let current = self.resource.values();
        let columns = R::TABLE.columns.iter().zip(current.iter().zip(&self.original));
        columns.filter(|(_, (now, then))| now != then).map(|(column, _)| &*column.name).collect()
    }

    /// A conditional update of this object's row. Without expectations it means: no field has changed since it was
    /// loaded, the dirty ones included.
    pub fn conditional_update(&mut self) -> ConditionalUpdate<'_, R> {
        let mut update = Update::of(R::TABLE);
        let columns = R::TABLE.columns.iter().zip(&self.original);
        let key = columns.filter(|(column, _)| column.role == Role::Key);
        update.key = key.map(|(_, value)| value.clone()).collect();
        let (save_all, reflect) = (false, true);
        ConditionalUpdate { object: self, update, is_default: true, save_all, reflect }
    }

    /// Gives the fields, changed ones as they are.
    pub fn into_inner(self) -> R {
        self.resource
    }

    fn reflect(&mut self, columns: &[&str], values: Vec<Value>) -> Result<(), Error> {
        let (mut current, mut original) = (self.resource.values(), self.original.clone());
        for (name, value) in columns.iter().zip(values) {
            let place = R::TABLE.columns.iter().position(|column| column.name == *name);
            if let Some(place) = place {
                current[place] = value.clone();
                original[place] = value;
            }
        }
        self.resource = R::from_values(current)?;
        self.original = original;
        Ok(())
    }
}

impl<R> Deref for Loaded<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.resource
    }
}

impl<R> DerefMut for Loaded<R> {
    fn deref_mut(&mut self) -> &mut R {
        &mut self.resource
    }
}

/// A conditional update of an object's row, and of the object if it happens.
#[derive(Debug)]
#[must_use = "nothing happens until it is run"]
pub struct ConditionalUpdate<'o, R> {
    object: &'o mut Loaded<R>,
    update: Update,
    is_default: bool,
    save_all: bool,
    reflect: bool,
}

impl<R: Resource> ConditionalUpdate<'_, R> {
    /// A column becomes something.
    pub fn set(mut self, assignment: Assignment) -> Self {
        self.update = self.update.set(assignment);
        self
    }

    /// A column must be something. The first of these replaces "no field has changed".
    pub fn expect(mut self, expectation: Expectation) -> Self {
        self.update = self.update.expect(expectation);
        self.expect_nothing()
    }

    /// Nothing is expected but that the row is there, and what filters say.
    pub fn expect_nothing(mut self) -> Self {
        self.is_default = false;
        self
    }

    /// A condition must hold, beside what is expected.
    pub fn filter(mut self, condition: impl Into<Condition>) -> Self {
        self.update = self.update.filter(condition);
        self
    }

    /// Dirty fields are written too. What was `set` wins over them.
    pub fn save_all(mut self) -> Self {
        self.save_all = true;
        self
    }

    /// Leaves the object as it is also when the update happens.
    pub fn without_reflecting(mut self) -> Self {
        self.reflect = false;
        self
    }

    /// Anything else that a statement can do: its order, its fence.
    pub fn with(mut self, change: impl FnOnce(Update) -> Update) -> Self {
        self.update = change(self.update);
        self
    }

    /// The statement.
    pub fn statement(&self) -> Update {
        let mut update = self.update.clone();
        let expected = R::TABLE.columns.iter().zip(&self.object.original);
        if self.is_default {
            for (column, value) in expected.filter(|(column, _)| column.role != Role::Key) {
                let column = ColumnRef { table: None, name: column.name.clone() };
                let expected = Expected::Value(value.clone());
                update.expected.push(Condition::Is(column, expected));
            }
        }
        if self.save_all {
            let dirty = self.object.dirty();
            let current = self.object.resource.values();
            for (column, value) in R::TABLE.columns.iter().zip(current) {
                let is_set = update.values.iter().any(|set| set.column.name == column.name);
                if dirty.contains(&&*column.name) && !is_set {
                    let column = ColumnRef { table: None, name: column.name.clone() };
                    update.values.push(Assignment { column, value: Expr::Value(value) });
                }
            }
        }
        update
    }

    /// Runs it. If it happens, the columns that it set are in the object as the database has them now: read by the same
    /// statement, or in the same transaction, so that it is never another writer's value. If not, the object is as it
    /// was.
    pub async fn run<'c, A, DB>(self, at: A) -> Result<Answer, Error>
    where
        A: Acquire<'c, Database = DB> + Send,
        DB: Backend,
    {
        let update = self.statement();
        if !self.reflect {
            return update.run(at).await;
        }
        let assignments = update.assignments();
        let columns: Vec<&str> = assignments.iter().map(|set| &*set.column.name).collect();
        if let Some(key) = R::TABLE.in_role(Role::Key).find(|key| columns.contains(&&*key.name)) {
            let column = key.name.to_string();
            return Err(crate::Invalid::KeySet { column }.into());
        }
        let sql = render::update(&update, DB::DIALECT, &columns)?;
        let mut connection = at.acquire().await.map_err(Error::Unavailable)?;
        let row = if DB::DIALECT.has_returning() {
            let rows = DB::fetch(&mut connection, sql, &kinds::<R>(&columns)).await;
            rows.map_err(Error::of::<DB>)?.into_iter().next()
        } else if let Some(plain) = plain(&assignments) {
            let matched = DB::run(&mut connection, sql).await.map_err(Error::of::<DB>)?;
            (matched > 0).then_some(plain)
        } else {
            let read = render::read(&update, DB::DIALECT, &columns)?;
            read_back::<R, DB>(&mut connection, sql, read, &columns).await?
        };
        let Some(values) = row else { return Ok(Answer { matched: 0 }) };
        self.object.reflect(&columns, values)?;
        Ok(Answer { matched: 1 })
    }
}

/// The values, if the database has nothing to decide.
fn plain(assignments: &[Assignment]) -> Option<Vec<Value>> {
    assignments
        .iter()
        .map(|set| if let Expr::Value(value) = &set.value { Some(value.clone()) } else { None })
        .collect()
}

/// The update, and the row as the update left it: the row is locked until the commit.
async fn read_back<R: Resource, DB: Backend>(
    connection: &mut DB::Connection,
    update: Sql,
    read: Sql,
    columns: &[&str],
) -> Result<Option<Vec<Value>>, Error> {
    let kinds = kinds::<R>(columns);
    if connection.is_in_transaction() {
        let matched = DB::run(connection, update).await.map_err(Error::of::<DB>)?;
        if matched == 0 {
            return Ok(None);
        }
        let rows = DB::fetch(connection, read, &kinds).await.map_err(Error::of::<DB>)?;
        return Ok(rows.into_iter().next());
    }
    let mut transaction = connection.begin().await.map_err(Error::unchanged::<DB>)?;
    let matched = DB::run(&mut transaction, update).await.map_err(Error::unchanged::<DB>)?;
    let mut row = None;
    if matched > 0 {
        let rows = DB::fetch(&mut transaction, read, &kinds).await;
        row = rows.map_err(Error::unchanged::<DB>)?.into_iter().next();
    }
    transaction.commit().await.map_err(Error::of::<DB>)?;
    Ok(row)
}

fn kinds<R: Resource>(columns: &[&str]) -> Vec<Option<Kind>> {
    let kind = |name: &&str| R::TABLE.spec(name).ok().and_then(|column| column.kind);
    columns.iter().map(kind).collect()
}
