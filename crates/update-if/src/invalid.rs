//! Statements that cannot be meant. Nothing was sent.

use crate::Kind;

/// Why a statement was not sent: it cannot be what its author meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// The table has no such column.
    #[error("table {table} has no column {column} (it has {known})")]
    UnknownColumn {
        /// The table.
        table: String,
        /// The name that it does not have.
        column: String,
        /// The names that it has.
        known: String,
    },
    /// Columns of two tables are assigned.
    #[error(
        "this statement updates {table}, it cannot also set {column} of {other}: \
         one statement changes one table on every database; use a group of two"
    )]
    TwoTables {
        /// The table of the statement.
        table: String,
        /// The other table.
        other: String,
        /// Its column.
        column: String,
    },
    /// A value does not fit its column.
    #[error("column {column} holds {expected:?} and cannot be compared with or set to {found:?}")]
    WrongKind {
        /// The column.
        column: String,
        /// What it holds.
        expected: Kind,
        /// What it was given.
        found: Kind,
    },
    /// One column is set to two values.
    #[error("column {column} is set twice")]
    SetTwice {
        /// The column.
        column: String,
    },
    /// An object would get another key.
    #[error("an object cannot change its own key, {column}: update the row by a statement instead")]
    KeySet {
        /// The column.
        column: String,
    },
    /// An order names a column that is not set.
    #[error("the order names {column}, which this statement does not set")]
    NotSet {
        /// The column.
        column: String,
    },
    /// A value reads a table that is not there.
    #[error(
        "{column} of {table} cannot be read here: a value sees the updated row and its own \
         subselects; read other tables through `exists` or `of_row`"
    )]
    OutOfReach {
        /// The table.
        table: String,
        /// Its column.
        column: String,
    },
    /// A value of many rows reads the table that it changes.
    #[error(
        "{column} cannot be set to what is read from {table} itself while many of its rows are \
         updated: databases disagree whether the rows already updated are seen; name one row by its key"
    )]
    ReadsItsOwnRows {
        /// The table.
        table: String,
        /// The column that would be set.
        column: String,
    },
    /// A subselect has the name of a table around it.
    #[error(
        "a subselect on {table} inside a statement on {table} needs another name: `.at(\"other\")`"
    )]
    NeedsAlias {
        /// The table.
        table: String,
    },
    /// A name that no database can have.
    #[error("{name:?} cannot be a name: 1 to 63 bytes without control characters")]
    BadName {
        /// The name.
        name: String,
    },
    /// The number of key values is not that of key columns.
    #[error("the key of {table} has {expected} columns, {found} values were given")]
    WrongKey {
        /// The table.
        table: String,
        /// How many columns its key has.
        expected: usize,
        /// How many values were given.
        found: usize,
    },
    /// A value that the database cannot hold.
    #[error("{0}")]
    BadValue(&'static str),
    /// More values than a statement can carry.
    #[error("{found} values are more than one statement can carry on every database ({most})")]
    TooMany {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A fence that no column can hold.
    #[error("fence {fence} is greater than a column can hold (2^63 - 1)")]
    FenceTooGreat {
        /// The fence.
        fence: u64,
    },
    /// Conditions within conditions without end.
    #[error("conditions and expressions are nested deeper than {most}")]
    TooDeep {
        /// How deep they may be.
        most: usize,
    },
}
