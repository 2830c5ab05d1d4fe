//! A place of one's own in the user's store: nothing of theirs is touched, nothing of ours stays.

use std::sync::Arc;

use claims::Rules;
use registry::{Store, StoreError, etcd, object, place, trial};

use crate::exit::Exit;
use crate::keys::random;

/// The stores there are, by what they can do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Database,
    Etcd,
    Objects,
}

/// An address below the one to verify, which nobody else uses.
pub(super) struct Trial {
    pub(super) url: String,
    kind: Kind,
    /// The store beside which it is, and its name, if that is all that a database needs.
    beside: Option<(String, String)>,
}

impl Trial {
    pub(super) fn below(url: &str) -> anyhow::Result<Self> {
        let (plain, parameters) = match url.split_once('?') {
            Some((plain, parameters)) => (plain, format!("?{parameters}")),
            None => (url, String::new()),
        };
        let kind = kind(plain)?;
        if let Some(path) = plain.strip_prefix("file://")
            && !std::path::Path::new(path).is_dir()
        {
            let said = format!("{path} is not a directory: make it first");
            return Err(Exit::Usage.because(said));
        }
        let name = u64::from_le_bytes(random()?);
        if kind == Kind::Database {
            let name = format!("tenure_verify_{name:016x}");
            let there = trial::beside(url, &name)?;
            return Ok(Self { url: there, kind, beside: Some((url.to_owned(), name)) });
        }
        let url = format!("{}/verify-{name:016x}{parameters}", plain.trim_end_matches('/'));
        Ok(Self { url, kind, beside: None })
    }

    /// One that another process has made.
    pub(super) fn at(url: &str) -> anyhow::Result<Self> {
        Ok(Self { url: url.to_owned(), kind: kind(url)?, beside: None })
    }

    pub(super) async fn open(&self) -> Result<Arc<dyn Store>, StoreError> {
        place::open(&self.url, Rules::default()).await
    }

    /// Makes room for it, and refuses a store whose conditional puts lie, before anything else is tried
    /// there.
    pub(super) async fn probe(&self) -> Result<(), StoreError> {
        match self.kind {
            Kind::Etcd => Ok(()),
            Kind::Database => match &self.beside {
                Some((url, name)) => trial::make(url, name).await,
                None => Ok(()),
            },
            Kind::Objects => object::probe(&self.url).await,
        }
    }

    pub(super) async fn remove(&self) -> Result<(), StoreError> {
        match self.kind {
            Kind::Etcd => etcd::remove(&self.url).await,
            Kind::Database => match &self.beside {
                Some((url, name)) => trial::remove(url, name).await,
                None => Ok(()),
            },
            Kind::Objects => object::remove(&self.url).await,
        }
    }

    /// Whether the store knows what time it is.
    pub(super) fn has_clock(&self) -> bool {
        self.kind == Kind::Database
    }

    /// Whether a claim may cover several resources.
    pub(super) fn keeps_several(&self) -> bool {
        self.kind != Kind::Objects
    }
}

fn kind(url: &str) -> anyhow::Result<Kind> {
    match url.split_once(':').map(|(scheme, _)| scheme) {
        Some("sqlite" | "postgres" | "postgresql" | "mysql" | "mariadb") => Ok(Kind::Database),
        Some("etcd") => Ok(Kind::Etcd),
        Some("s3" | "az" | "gs" | "file") => Ok(Kind::Objects),
        Some("memory") => {
            Err(Exit::Usage.because("memory: is gone with its process: nobody can contend there"))
        }
        _ => Err(Exit::Usage.because(format!(
            "{url}: no such store; there are sqlite:, postgres://, mysql://, etcd://, s3://, az://, gs:// and \
             file:///"
        ))),
    }
}
