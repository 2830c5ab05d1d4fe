//! The audit log: one line of JSON for each change of a claim and for each request that was denied.
//!
//! **Problem.** Who changed a claim is known while it is asked; that it changed is known when it is
//! committed; and some changes are asked by nobody. A line written by the request would be missing
//! when its client hangs up, and a line written ahead would tell what never happened.
//!
//! **Idea.** Changes are told by the history of the store and by nothing else, so each is there
//! exactly once. Before a request asks the store, it leaves its name with the [`askers`]; the
//! [`follow`]er of the history finds it there.

mod askers;
mod follow;
mod line;
mod writer;

pub(crate) use self::askers::{Act, Asking};
pub(crate) use self::follow::follow;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use claims::{ClaimId, Name, Verb};

use self::askers::{Asker, Askers};
use self::line::Line;
use self::writer::Writer;
use crate::access::{Caller, now};
use crate::files::FileProblem;

/// An audit log that is open.
#[derive(Debug)]
pub struct Audit {
    writer: Writer,
    askers: Askers,
    /// Tells the requests of one start of the server from those of another.
    start: u64,
    requests: AtomicU64,
}

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) peer: Option<SocketAddr>,
    /// Its number; 0 while there is no audit log.
    pub(crate) request: u64,
}

/// A request that was denied.
pub(crate) struct Denied<'a> {
    pub(crate) caller: Option<&'a str>,
    pub(crate) origin: Origin,
    pub(crate) verb: Option<Verb>,
    pub(crate) claim: Option<ClaimId>,
    pub(crate) resources: &'a [Name],
    pub(crate) status: u16,
    /// Why, in words that hold nothing secret.
    pub(crate) why: &'a str,
}

impl Audit {
    /// Writes to a file, at its end; `-` is the error stream.
    pub fn open(path: &Path) -> Result<Self, FileProblem> {
        Ok(Self {
            writer: Writer::open(path)?,
            askers: Askers::default(),
            start: now().0 / 1_000,
            requests: AtomicU64::new(0),
        })
    }

    /// Opens the file again under its name: the old one was moved away.
    pub fn reopen(&self) {
        self.writer.reopen();
    }

    /// Waits until all that was said is written.
    pub fn flush(&self) {
        self.writer.flush();
    }

    pub(crate) fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The name of a request in the log and in its answer.
    pub(crate) fn request_name(&self, number: u64) -> Option<String> {
        (number > 0).then(|| format!("{:x}-{number}", self.start))
    }

    /// Leaves the name of whoever is about to ask the store.
    pub(crate) fn enter(&self, act: Act, caller: &Caller, origin: Origin) -> Asking<'_> {
        let token = caller.name().map(Into::into);
        self.askers.enter(act, Asker { token, origin })
    }

    /// Never waits: a flood of these must not slow down those who are let in.
    pub(crate) fn denied(&self, denied: &Denied<'_>) {
        let request = self.request_name(denied.origin.request);
        let line = Line {
            outcome: "denied",
            token: denied.caller,
            peer: denied.origin.peer,
            request: request.as_deref(),
            verb: denied.verb.map(Verb::as_str),
            claim_id: denied.claim.map(|claim| claim.0),
            resources: denied.resources,
            status: Some(denied.status),
            detail: Some(denied.why),
            ..Line::new("denied", now())
        };
        self.writer.offer(line.written());
    }
}
