//! Claims at a store without a lock server: the same words (HTTP v1), answered in this process.
//!
//! What a request means and how its answer is written is in `claims::wire`; what is decided is the
//! store's. So a program cannot tell whether a server is in between, and whoever holds a claim here
//! excludes those who come through a server over the same store.

use std::sync::Arc;
use std::time::Duration;

use claims::claimant::Class;
use claims::wire::{
    Change, Fields, Handle, Media, NewClaim, Problem, View, WishedStatus, number, write_claim,
    write_text,
};
use claims::{
    Claim, Command, Farewell, KeyHash, Name, Owner, Place, Refusal, Registration, Rules, Standing,
    Status,
};
use hyper::Method;
use hyper::body::Bytes;
use registry::{Store, StoreError};
use tokio::sync::OnceCell;

use crate::exchange::{Reply, Silence};
use crate::key::Key;

/// How many waiters are shown.
const QUEUE: usize = 100;

/// The way to a store. It is opened when it is first needed, and again if that failed.
#[derive(Clone)]
pub(crate) struct Direct {
    url: Arc<str>,
    shown: Arc<str>,
    store: Arc<OnceCell<Arc<dyn Store>>>,
}

impl std::fmt::Debug for Direct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Direct({})", self.shown)
    }
}

/// Why there is no answer, or what the answer that is not yes is.
enum Not {
    Refused(Box<Problem>),
    Silent(Silence),
}

impl From<Problem> for Not {
    fn from(problem: Problem) -> Self {
        Self::Refused(Box::new(problem))
    }
}

impl Direct {
    pub(crate) fn at(url: &str, shown: &str) -> Self {
        Self { url: url.into(), shown: shown.into(), store: Arc::default() }
    }

    pub(crate) async fn ask(
        &self,
        method: &Method,
        target: &str,
        json: &str,
    ) -> Result<Reply, Silence> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pieces: Vec<&str> = path.trim_matches('/').split('/').collect();
        let answer = match (method.as_str(), &pieces[..]) {
            ("POST", ["v1", "claims"]) => self.register(json).await,
            ("PATCH", ["v1", "claims", handle]) => self.change(handle, json, query).await,
            ("GET", ["v1", "resources", name]) => self.look_at(name).await,
            // Many renewals at once are one after the other here.
            _ => Err(Problem::new(404, "Nothing there", "").into()),
        };
        match answer {
            Ok(reply) => Ok(reply),
            Err(Not::Silent(silence)) => Err(silence),
            Err(Not::Refused(problem)) => {
                let mut body = String::new();
                problem.write(&mut body);
                Ok(reply(problem.status, body))
            }
        }
    }

    async fn store(&self) -> Result<&Arc<dyn Store>, Not> {
        let open = || registry::place::open(&self.url, Rules::default());
        self.store.get_or_try_init(open).await.map_err(|error| self.silent(&error))
    }

    fn silent(&self, error: &StoreError) -> Not {
        let class = match error {
            StoreError::Conflict | StoreError::Unavailable(_) => Class::NotSent,
            StoreError::Unknown(_) | StoreError::Corrupt(_) => Class::Unknown,
        };
        Not::Silent(Silence { class, why: format!("{}: {error}", self.shown) })
    }

    async fn register(&self, json: &str) -> Result<Reply, Not> {
        let fields = Fields::parse(Media::Json, json.as_bytes(), "")?;
        let NewClaim { key, resources, limit, ttl, data } = NewClaim::parse(&fields)?;
        let key = key.unwrap_or_else(|| Key::random().reveal().to_owned());
        let registration = Registration { key: hash_of(&key), resources, limit, ttl, data };
        let standing = self.submit(Command::Register(registration), None).await?;
        let status = match standing.claim.status() {
            Status::Active => 201,
            Status::Waiting => 202,
            Status::Released
            | Status::Expired
            | Status::Aborted
            | Status::Revoked
            | Status::Withdrawn => 200,
        };
        Ok(reply(status, shown(&standing, &key)))
    }

    async fn change(&self, piece: &str, json: &str, query: &str) -> Result<Reply, Not> {
        let not_found = || Problem::new(404, "No such claim", "there is no claim with this key");
        let handle = Handle::parse(piece).ok_or_else(not_found)?;
        let key = handle.key.ok_or_else(not_found)?;
        let fields = Fields::parse(Media::Json, json.as_bytes(), query)?;
        let owner = Owner { claim: handle.claim, key: hash_of(key) };
        let end = |farewell| Command::End(owner, farewell);
        let command = match Change::parse(&fields)? {
            Change::Ttl(ttl) => Command::Renew(owner, Some(ttl)),
            Change::Keeper(keeper) => Command::Appoint(owner, hash_of(&keeper)),
            Change::Status(WishedStatus::Active) => Command::Activate(owner),
            Change::Status(WishedStatus::Released) => end(Farewell::Release),
            Change::Status(WishedStatus::Aborted) => end(Farewell::Abort),
            Change::Status(WishedStatus::Withdrawn) => end(Farewell::Withdraw),
            Change::Status(WishedStatus::Revoked) => return Err(not_found().into()),
        };
        let ends = matches!(command, Command::End(..));
        let wait = fields.get("wait").and_then(|field| number(&field));
        let wait = wait.and_then(|secs| Duration::try_from_secs_f64(secs).ok());
        let wait = wait.filter(|_| matches!(command, Command::Activate(_)));
        let standing = self.submit(command, wait).await?;
        Ok(if ends { reply(204, String::new()) } else { reply(200, shown(&standing, key)) })
    }

    async fn submit(&self, command: Command, wait: Option<Duration>) -> Result<Standing, Not> {
        let store = self.store().await?;
        let answer = match wait {
            Some(patience) => store.submit_and_wait(command, patience).await,
            None => store.submit(command).await,
        };
        let answer = answer.map_err(|error| self.silent(&error))?;
        answer.map_err(|refusal: Refusal| Problem::refused(&refusal).into())
    }

    /// Who holds a resource and who waits for it.
    async fn look_at(&self, encoded: &str) -> Result<Reply, Not> {
        let query = format!("name={encoded}");
        let fields = Fields::parse(Media::Other, b"", &query)?;
        let name = Name::new(fields.text("name").unwrap_or(""));
        let name = name.map_err(|refusal| Problem::refused(&refusal))?;
        let store = self.store().await?;
        let silent = |error| self.silent(&error);
        let report = store.resource(name, QUEUE).await.map_err(silent)?;
        let now = store.vitals().await.map_err(silent)?.now;
        let mut body = String::from("{\"resource\":");
        write_text(&mut body, report.name.as_str());
        body.push_str(",\"holders\":[");
        let show = |body: &mut String, claim: &Claim, place: Option<&Place>| {
            if !body.ends_with('[') {
                body.push(',');
            }
            write_claim(body, &View { claim, place, base: "", key: None, now });
        };
        report.holders.iter().for_each(|holder| show(&mut body, holder, None));
        body.push_str("],\"queue\":[");
        let ids: Vec<_> = report.holders.iter().map(|holder| holder.id).collect();
        for (nth, waiter) in report.queue.iter().enumerate() {
            let place = Place { position: nth + 1, holders: ids.clone() };
            show(&mut body, waiter, Some(&place));
        }
        body.push_str(&format!("],\"waiting\":{}}}", report.waiting));
        Ok(reply(200, body))
    }
}

fn shown(standing: &Standing, key: &str) -> String {
    let mut body = String::new();
    let Standing { claim, place, now } = standing;
    write_claim(
        &mut body,
        &View { claim, place: place.as_ref(), base: "", key: Some(key), now: *now },
    );
    body
}

fn reply(status: u16, body: String) -> Reply {
    Reply { status, location: None, retry_after: None, body: Bytes::from(body) }
}

/// What a store sees of a key: the same as if a server had told it.
fn hash_of(key: &str) -> KeyHash {
    let hash = blake3::hash(key.as_bytes());
    let mut short = [0; 16];
    short.copy_from_slice(&hash.as_bytes()[..16]);
    KeyHash(short)
}
