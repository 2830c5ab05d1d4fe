//! From a contest to a lease.

use std::convert::Infallible;
use std::future::Future;

use claims::contest::{
    CannotKeep, Contest, Heard, Joining, Machine, NotAcquired, Step, Terms, Why, WriterId,
};
use object_store::path::Path;
use thiserror::Error;

use super::blob::Blob;
use super::lease::Lease;
use super::{LEASE_FILE, lease_file};
use crate::fault::{random_name, random_seed};
use crate::{Fault, Place, clock};

/// A lock on a lease file. Making one does nothing yet.
#[derive(Debug, Clone)]
pub struct LastWriter {
    place: Place,
    path: Path,
    terms: Terms,
}

/// Why there is no lease.
#[derive(Debug, Error)]
pub enum NotHeld {
    /// The contest was not won.
    #[error("{at}: {why}{}", advice(.why))]
    NotAcquired {
        /// Where the lease file is.
        at: String,
        /// Why not.
        why: NotAcquired,
    },
    /// The lease that was handed over cannot be kept.
    #[error("{at}: {why}")]
    CannotKeep {
        /// Where the lease file is.
        at: String,
        /// Why not.
        why: CannotKeep,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Fault(#[from] Fault),
}

fn advice(why: &NotAcquired) -> &'static str {
    match why {
        NotAcquired::Unreadable => {
            "; look at it, and if nobody can be at work, remove it with `tenure blob break`"
        }
        NotAcquired::Held(_) => "; see who it is with `tenure blob status`",
        NotAcquired::Outwritten | NotAcquired::NoAnswer | NotAcquired::Stopped => "",
    }
}

/// What came first.
#[derive(Debug)]
pub enum Unless<T> {
    /// The result is there. Nothing is held.
    Done(T),
    /// The lease is ours, and the result is not there.
    Acquired(Lease),
}

impl LastWriter {
    /// The lease in this directory of the place.
    pub fn new(place: Place, directory: &str, terms: Terms) -> Result<Self, Fault> {
        let path = match directory.trim_matches('/') {
            "" => place.object(LEASE_FILE)?,
            directory => place.object(&format!("{directory}/{LEASE_FILE}"))?,
        };
        Ok(Self { place, path, terms })
    }

    /// Waits for the lease, as long as the terms say.
    pub async fn acquire(&self) -> Result<Lease, NotHeld> {
        match self.acquire_unless(|| std::future::ready(None::<Infallible>)).await? {
            Unless::Acquired(lease) => Ok(lease),
            Unless::Done(never) => match never {},
        }
    }

    /// Waits for the result of somebody else's work or for the lease, whichever comes first. `done` is
    /// asked before every look at somebody else's lease, and once more when the lease is ours: who
    /// had it before may have finished just then.
    pub async fn acquire_unless<T, F>(
        &self,
        mut done: impl FnMut() -> F,
    ) -> Result<Unless<T>, NotHeld>
    where
        F: Future<Output = Option<T>>,
    {
        if let Some(result) = done().await {
            return Ok(Unless::Done(result));
        }
        let host: String = lease_file::host_name().replace('/', "_");
        let name =
            format!("{host}-{}.{}", std::process::id(), random_name(12).map_err(Fault::from)?);
        let name = WriterId::new(&name).expect("neither empty nor with a slash");
        let mut contest = Contest::new(self.terms, name, random_seed().map_err(Fault::from)?);
        let mut blob = Blob::new(self.place.clone(), self.path.clone());
        let mut heard = Heard::Go;
        let holding = loop {
            let step = contest.step(heard, clock::now());
            match step {
                Step::Done(Ok(holding)) => break holding,
                Step::Done(Err(why)) => {
                    return Err(NotHeld::NotAcquired { at: self.shown(), why });
                }
                Step::Wait { until, why } => {
                    clock::sleep_until(until).await;
                    // Not while our own name is written: it would be left behind.
                    if why != Why::Settling
                        && let Some(result) = done().await
                    {
                        return Ok(Unless::Done(result));
                    }
                    heard = Heard::Go;
                }
                Step::Read { .. } | Step::Write { .. } => heard = blob.perform(&step).await?,
            }
        };
        let lease = Lease::keep(holding, blob);
        match done().await {
            Some(result) => {
                lease.release().await;
                Ok(Unless::Done(result))
            }
            None => Ok(Unless::Acquired(lease)),
        }
    }

    /// Keeps somebody else's lease alive, as the second owner: `writer` is the name it was handed.
    pub async fn join(&self, writer: Option<WriterId>) -> Result<Lease, NotHeld> {
        let seed = random_seed().map_err(Fault::from)?;
        let mut joining = Joining::new(writer, self.terms.margin(), seed);
        let mut blob = Blob::new(self.place.clone(), self.path.clone());
        let mut heard = Heard::Go;
        loop {
            let step = joining.step(heard, clock::now());
            match step {
                Step::Done(Ok(holding)) => return Ok(Lease::keep(holding, blob)),
                Step::Done(Err(why)) => {
                    return Err(NotHeld::CannotKeep { at: self.shown(), why });
                }
                Step::Wait { until, .. } => {
                    clock::sleep_until(until).await;
                    heard = Heard::Go;
                }
                Step::Read { .. } | Step::Write { .. } => heard = blob.perform(&step).await?,
            }
        }
    }

    /// Where the lease file is, for people.
    pub fn shown(&self) -> String {
        match self.place.file(&self.path) {
            Some(file) => file.display().to_string(),
            None => format!("{} ({})", self.path, self.place),
        }
    }
}
