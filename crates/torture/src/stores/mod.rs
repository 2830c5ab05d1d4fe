//! Where the server keeps its claims, and the databases that it needs for that.

mod database;
mod etcd;

use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use rustix::process::Signal;

pub(crate) use self::database::Database;
pub(crate) use self::etcd::{Cluster, MEMBERS};
use crate::network::Network;

/// The kinds of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// The log of the server's own.
    Embedded,
    Sqlite,
    Postgres,
    Mysql,
    /// Three members.
    Etcd,
}

impl Kind {
    /// How many claims that are over are remembered, if the server is told to remember so many.
    pub(crate) fn ended_max(self, told: usize) -> usize {
        match self {
            Self::Embedded | Self::Sqlite | Self::Postgres | Self::Mysql => told,
            // A record has a size: each resource remembers its latest.
            Self::Etcd => told.min(16),
        }
    }
}

/// A store, with the processes that belong to it.
pub(crate) enum Store {
    Embedded,
    Sqlite,
    Postgres(Database),
    MySql(Database),
    Etcd(Cluster),
}

impl Store {
    /// `files` is where its files are, `beside` for what need not survive a power cut. Returns its
    /// address, too, if the server is to be told one.
    pub(crate) fn open(
        kind: Kind,
        files: &Path,
        beside: &Path,
        members: Option<(Arc<Network>, usize)>,
    ) -> anyhow::Result<(Self, Option<String>)> {
        Ok(match kind {
            Kind::Embedded => (Self::Embedded, None),
            Kind::Sqlite => {
                (Self::Sqlite, Some(format!("sqlite:{}", files.join("claims.db").display())))
            }
            Kind::Postgres => {
                let database = Database::postgres(files, beside)?;
                let url = database.url();
                (Self::Postgres(database), Some(url))
            }
            Kind::Mysql => {
                let database = Database::mariadb(files, beside)?;
                let url = database.url();
                (Self::MySql(database), Some(url))
            }
            Kind::Etcd => {
                let Some((network, first)) = members else {
                    anyhow::bail!("etcd is run in networks of its own, and they are not permitted")
                };
                let cluster = Cluster::start(network, first, beside)?;
                let url = cluster.url();
                (Self::Etcd(cluster), Some(url))
            }
        })
    }

    /// Kills the database, if there is one.
    pub(crate) fn kill(&mut self) {
        match self {
            Self::Postgres(database) | Self::MySql(database) => database.kill(),
            Self::Embedded | Self::Sqlite | Self::Etcd(_) => {}
        }
    }

    /// Starts it again, and returns when it serves.
    pub(crate) fn again(&mut self) -> anyhow::Result<()> {
        match self {
            Self::Postgres(database) | Self::MySql(database) => database.again(),
            Self::Embedded | Self::Sqlite | Self::Etcd(_) => Ok(()),
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        match self {
            Self::Postgres(database) | Self::MySql(database) => database.signal(signal),
            Self::Embedded | Self::Sqlite | Self::Etcd(_) => {}
        }
    }
}
