//! Tables and their columns, as far as statements need to know them.

use std::borrow::Cow;

use crate::{Any, Column, Field, Invalid, Kind, Value, WrongType};

type Name = Cow<'static, str>;

/// A table: its name, its key, its columns. [`Resource`] gives a struct its own; the dynamic form is built by name.
///
/// ```
/// use update_if::{Kind, Table, Update, column};
/// let volumes = Table::new("volumes")
///     .key("id", Kind::Text)
///     .column("status", Kind::Text)
///     .column("size", Kind::Int);
/// let update = Update::of(&volumes).key("v1").set(column("statos").to("deleting"));
/// let error = update.render(update_if::Dialect::Sqlite).unwrap_err();
/// assert_eq!(error.to_string(), "table volumes has no column statos (it has id, status, size)");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub(crate) name: Name,
    pub(crate) noun: Name,
    pub(crate) columns: Cow<'static, [ColumnSpec]>,
}

/// What is known of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    pub(crate) name: Name,
    pub(crate) kind: Option<Kind>,
    pub(crate) role: Role,
    pub(crate) postgres: Option<Name>,
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Role {
    /// Holds a value like any other.
    Plain,
    /// Is (part of) the key.
    Key,
    /// Is set to the database's clock by every update that does not name it.
    UpdatedAt,
    /// Marks rows as deleted: such rows are not considered.
    Deleted,
}

impl Table {
    /// A table known by name. Add its key and its columns.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        Self { noun: name.clone(), name, columns: Cow::Borrowed(&[]) }
    }

    /// What one row is called in explanations: "volume" for the table `volumes`.
    pub fn noun(mut self, noun: impl Into<Cow<'static, str>>) -> Self {
        self.noun = noun.into();
        self
    }

    /// A column of the key, which names one row.
    pub fn key(self, name: impl Into<Cow<'static, str>>, kind: Kind) -> Self {
        self.with(name.into(), kind, Role::Key)
    }

    /// A column.
    pub fn column(self, name: impl Into<Cow<'static, str>>, kind: Kind) -> Self {
        self.with(name.into(), kind, Role::Plain)
    }

    /// The column that every update sets to the database's clock unless it is named.
    pub fn updated_at(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.with(name.into(), Kind::Moment, Role::UpdatedAt)
    }

    /// The column that marks rows as deleted; such rows are not considered unless asked for.
    pub fn deleted(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.with(name.into(), Kind::Bool, Role::Deleted)
    }

    /// The PostgreSQL type of the column last added, if it is none of the usual: `uuid`, an enum.
    /// Values for it are sent as text and cast.
    pub fn postgres_type(mut self, type_name: impl Into<Cow<'static, str>>) -> Self {
        if let Some(last) = self.columns.to_mut().last_mut() {
            last.postgres = Some(type_name.into());
        }
        self
    }

    /// A column of this table by name, for conditions in statements about other tables.
    pub fn named(&self, name: &str) -> Result<Column<Any>, Invalid> {
        let spec = self.spec(name)?;
        Ok(Column::of(self.name.clone(), spec.name.clone()))
    }

    /// The name of the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    #[doc(hidden)]
    pub const fn derived(
        name: &'static str,
        noun: &'static str,
        columns: &'static [ColumnSpec],
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            noun: Cow::Borrowed(noun),
            columns: Cow::Borrowed(columns),
        }
    }

    pub(crate) fn spec(&self, name: &str) -> Result<&ColumnSpec, Invalid> {
        self.columns.iter().find(|column| column.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.columns.iter().map(|column| &*column.name).collect();
            Invalid::UnknownColumn {
                table: self.name.to_string(),
                column: name.to_owned(),
                known: known.join(", "),
            }
        })
    }

    pub(crate) fn in_role(&self, role: Role) -> impl Iterator<Item = &ColumnSpec> {
        self.columns.iter().filter(move |column| column.role == role)
    }

    fn with(mut self, name: Name, kind: Kind, role: Role) -> Self {
        let spec = ColumnSpec { name, kind: Some(kind), role, postgres: None };
        self.columns.to_mut().push(spec);
        self
    }
}

/// A table of a resource costs nothing to clone; one built by name costs its columns.
impl From<&Table> for Table {
    fn from(table: &Self) -> Self {
        table.clone()
    }
}

impl ColumnSpec {
    #[doc(hidden)]
    pub const fn derived<T: Field>(
        name: &'static str,
        role: Role,
        postgres: Option<&'static str>,
    ) -> Self {
        let postgres = match postgres {
            Some(name) => Some(Cow::Borrowed(name)),
            None => None,
        };
        Self { name: Cow::Borrowed(name), kind: T::KIND, role, postgres }
    }
}

/// A struct whose fields are columns of a table. Derive it:
///
/// ```
/// use update_if::{Moment, Resource};
///
/// #[derive(Debug, Clone, Resource)]
/// #[resource(table = "volumes")]
/// struct Volume {
///     #[resource(key)]
///     id: String,
///     status: String,
///     previous_status: Option<String>,
///     #[resource(column = "size_gb")]
///     size: i64,
///     #[resource(updated_at)]
///     updated_at: Option<Moment>,
///     #[resource(deleted)]
///     deleted: bool,
/// }
///
/// let update = Volume::update("v1")
///     .set(Volume::STATUS.to("deleting"))
///     .expect(Volume::STATUS.is("available"));
/// # let _ = update;
/// ```
///
/// A wrong type does not compile:
///
/// ```compile_fail
/// # use update_if::Resource;
/// # #[derive(Debug, Clone, Resource)]
/// # #[resource(table = "volumes")]
/// # struct Volume { #[resource(key)] id: String, status: String }
/// let expected = Volume::STATUS.is(3);
/// ```
pub trait Resource: Sized {
    /// Its table.
    const TABLE: &'static Table;

    /// The fields, in the order of the table's columns.
    fn values(&self) -> Vec<Value>;

    /// The struct, from values in the order of the table's columns.
    fn from_values(values: Vec<Value>) -> Result<Self, WrongColumn>;
}

/// A column held what its field cannot.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("column {column}: {problem}")]
pub struct WrongColumn {
    /// The column.
    pub column: String,
    /// What was wrong with its value.
    pub problem: WrongType,
}
