//! Where the databases differ in words.

/// Whose SQL it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// SQLite from 3.35.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL from 5.6, and MariaDB.
    Mysql,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sqlite, Self::Postgres, Self::Mysql];

    pub(crate) fn quote(self) -> char {
        match self {
            Self::Sqlite | Self::Postgres => '"',
            Self::Mysql => '`',
        }
    }

    pub(crate) fn has_returning(self) -> bool {
        match self {
            Self::Sqlite | Self::Postgres => true,
            Self::Mysql => false,
        }
    }

    /// Evaluates `SET a = 1, b = a` from left to right, against the standard.
    pub(crate) fn assigns_in_order(self) -> bool {
        self == Self::Mysql
    }

    /// The clock, in UTC, as the column keeps it. In SQLite that is text with six digits, as [`Moment`](crate::Moment)
    /// is written, so that both compare; in PostgreSQL it is the time of the statement, not of the transaction's start.
    pub(crate) fn now(self) -> &'static str {
        match self {
            Self::Sqlite => "strftime('%Y-%m-%d %H:%M:%f000', 'now')",
            Self::Postgres => "clock_timestamp()",
            Self::Mysql => "UTC_TIMESTAMP(6)",
        }
    }

    pub(crate) fn postgres_type(kind: crate::Kind) -> &'static str {
        match kind {
            crate::Kind::Bool => "boolean",
            crate::Kind::Int => "bigint",
            crate::Kind::Float => "double precision",
            crate::Kind::Text => "text",
            crate::Kind::Bytes => "bytea",
            crate::Kind::Moment => "timestamptz",
        }
    }

    /// The variable of MySQL in which an old value is saved. A variable has the type of what it last held, as far as a
    /// statement knows that is prepared then; so each kind has its own.
    pub(crate) fn variable(kind: Option<crate::Kind>, place: usize) -> String {
        let kind = kind.map_or_else(|| "any".to_owned(), |kind| format!("{kind:?}").to_lowercase());
        format!("@update_if_{kind}_{place}")
    }

    /// The old value, of the type that it had.
    pub(crate) fn saved(kind: Option<crate::Kind>, place: usize) -> String {
        let variable = Self::variable(kind, place);
        match kind {
            Some(crate::Kind::Bool | crate::Kind::Int) => format!("CAST({variable} AS SIGNED)"),
            Some(crate::Kind::Float) => format!("({variable} + 0e0)"),
            Some(crate::Kind::Bytes) => format!("CAST({variable} AS BINARY)"),
            Some(crate::Kind::Moment) => format!("CAST({variable} AS DATETIME(6))"),
            Some(crate::Kind::Text) | None => variable,
        }
    }

    /// Keeps a derived table a table. From 5.7 on MySQL merges it into the statement, and then refuses to read what it
    /// updates; a limit is what it cannot merge.
    pub(crate) fn unmerged(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres => "",
            Self::Mysql => " LIMIT 18446744073709551615",
        }
    }
}
