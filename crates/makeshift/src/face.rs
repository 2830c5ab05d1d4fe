//! All of them behind one address, for the client and the command line.

use std::sync::Arc;
use std::time::Duration;

use claims::contest::Terms as LeaseTerms;
use thiserror::Error;
use tokio::sync::OnceCell;
use url::Url;

use crate::claimed::Claimed;
use crate::last_writer::{LEASE_DIRECTORY, LastWriter, NotHeld, Unless};
use crate::unique_create::{
    Files, IfNot, Login, Mutex, Names, NotMine, Objects, Outcome, Reservation, Terms,
};
use crate::{Fault, Place, clock};

/// A place where locks are made from what the store happens to offer.
///
/// ```
/// use makeshift::{Guarantee, Makeshift};
///
/// let place = Makeshift::open("mops+memory:///")?;
/// let abilities = place.capabilities();
/// assert!(abilities.expiry && !abilities.queue && !abilities.fence);
/// assert_eq!(abilities.guarantee, Guarantee::BestEffort);
/// # Ok::<(), makeshift::Fault>(())
/// ```
#[derive(Clone)]
pub struct Makeshift {
    kind: Kind,
    shown: String,
}

#[derive(Clone)]
enum Kind {
    LastWriter { place: Place, margin: Duration },
    UniqueCreate { names: Arc<dyn Names>, pauses: (Duration, Duration), trial: Option<Trial> },
}

/// A store of objects that has yet to show that it honours conditions, once.
#[derive(Clone)]
struct Trial {
    objects: Objects,
    passed: Arc<OnceCell<()>>,
}

/// What locks in a place can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Waiters are served in turn.
    pub queue: bool,
    /// Several may hold together.
    pub shared: bool,
    /// Every holder has a greater number than the one before.
    pub fence: bool,
    /// A dead holder is followed by somebody else.
    pub expiry: bool,
    /// What is promised.
    pub guarantee: Guarantee,
}

/// How far one can rely on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guarantee {
    /// Two may hold at once, rarely: `tenure blob measure` says how rarely.
    BestEffort,
    /// The store never has two holders.
    OneHolder,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Who asks, for people.
    pub owner: String,
    /// How long it is held without a sign of life, where there are leases.
    pub ttl: Duration,
    /// How long to wait; for ever, without.
    pub patience: Option<Duration>,
}

/// Why it is not ours.
#[derive(Debug, Error)]
pub enum NotClaimed {
    /// Somebody else has it.
    #[error("{0}")]
    Held(String),
    /// The terms make no sense here.
    #[error("{0}")]
    BadTerms(String),
    /// The caller did not want it any more.
    #[error("given up")]
    GivenUp,
    /// The store cannot be used.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl Makeshift {
    /// Whether an address is one of these.
    pub fn knows(address: &str) -> bool {
        let scheme = address.split_once("://").map_or("", |(scheme, _)| scheme);
        scheme == "cloudshell" || scheme.starts_with("mops+") || scheme.starts_with("create+")
    }

    /// Opens `mops+file:///dir`, `mops+s3://bucket/prefix` (`az`, `gs`, `memory` too),
    /// `create+file:///dir`, `create+s3://bucket/prefix` and so on, or
    /// `cloudshell://user@host:port/RESERVATION`. Nothing is sent yet.
    pub fn open(address: &str) -> Result<Self, Fault> {
        let bad = |why: &str| Fault::Address(format!("{}: {why}", without_password(address)));
        let whole = address.split('?').next().unwrap_or(address);
        let (scheme, _) = address.split_once("://").ok_or_else(|| bad("this is not an address"))?;
        let kind = if let Some(inner) = whole.strip_prefix("mops+") {
            let margin = query(address, "margin").unwrap_or(1.0);
            let margin =
                Duration::try_from_secs_f64(margin).map_err(|_| bad("a margin is seconds"))?;
            Kind::LastWriter { place: Place::open(inner)?, margin }
        } else if let Some(path) = whole.strip_prefix("create+file://") {
            let names = Arc::new(Files::new(path)?);
            Kind::UniqueCreate { names, pauses: soon(), trial: None }
        } else if let Some(inner) = whole.strip_prefix("create+") {
            let objects = Objects::new(Place::open(inner)?)?;
            let names = Arc::new(objects.clone());
            let trial = Some(Trial { objects, passed: Arc::default() });
            Kind::UniqueCreate { names, pauses: soon(), trial }
        } else if scheme == "cloudshell" {
            let names = Arc::new(reservation(address)?);
            let pauses = (Duration::from_secs(2), Duration::from_secs(5));
            Kind::UniqueCreate { names, pauses, trial: None }
        } else {
            return Err(bad("no such kind of lock; there are mops+…, create+… and cloudshell"));
        };
        Ok(Self { kind, shown: without_password(whole) })
    }

    /// What locks can do here.
    pub fn capabilities(&self) -> Capabilities {
        let (fence, expiry, guarantee) = match &self.kind {
            Kind::LastWriter { .. } => (false, true, Guarantee::BestEffort),
            // Whoever can swap what it has can count the swaps as well.
            Kind::UniqueCreate { names, .. } => {
                (names.has_leases(), names.has_leases(), Guarantee::OneHolder)
            }
        };
        Capabilities { queue: false, shared: false, fence, expiry, guarantee }
    }

    /// Waits for the lock of that name, exclusively.
    pub async fn claim(&self, resource: &str, wish: &Wish) -> Result<Claimed, NotClaimed> {
        self.claim_unless(resource, wish, || false).await
    }

    /// Waits for the lock of that name until `given_up` is true. Better than dropping it half way, which
    /// may leave something behind that nobody knows to be its own.
    pub async fn claim_unless(
        &self,
        resource: &str,
        wish: &Wish,
        given_up: impl Fn() -> bool,
    ) -> Result<Claimed, NotClaimed> {
        match &self.kind {
            Kind::LastWriter { place, margin } => {
                let terms = LeaseTerms::new(clock::span(wish.ttl), clock::span(*margin))
                    .map_err(|error| NotClaimed::BadTerms(error.to_string()))?
                    .patience(wish.patience.map(clock::span));
                let directory = format!("{resource}/{LEASE_DIRECTORY}");
                let lock = LastWriter::new(place.clone(), &directory, terms)?;
                let done = || std::future::ready(given_up().then_some(()));
                match lock.acquire_unless(done).await {
                    Ok(Unless::Acquired(lease)) => Ok(Claimed::Lease(lease)),
                    Ok(Unless::Done(())) => Err(NotClaimed::GivenUp),
                    Err(NotHeld::Fault(fault)) => Err(NotClaimed::Fault(fault)),
                    Err(refusal) => Err(NotClaimed::Held(refusal.to_string())),
                }
            }
            Kind::UniqueCreate { .. } => {
                let mutex = self.mutex(resource, wish).await?.expect("a place of names");
                match mutex.acquire_unless(&given_up).await {
                    Ok(Outcome::Held(held)) => Ok(Claimed::Held(held)),
                    Ok(Outcome::Without(refusal)) => Err(NotClaimed::Held(refusal.to_string())),
                    Err(NotMine::Fault(fault)) => Err(NotClaimed::Fault(fault)),
                    Err(NotMine::Held { .. }) if given_up() => Err(NotClaimed::GivenUp),
                    Err(held) => Err(NotClaimed::Held(held.to_string())),
                }
            }
        }
    }

    /// The lock of that name as a mutex, where it is one. A store of objects is tried out first: one
    /// that ignores conditions is refused.
    pub async fn mutex(&self, resource: &str, wish: &Wish) -> Result<Option<Mutex>, Fault> {
        let Kind::UniqueCreate { names, pauses, trial } = &self.kind else { return Ok(None) };
        if let Some(Trial { objects, passed }) = trial {
            passed.get_or_try_init(|| objects.prove()).await?;
        }
        let terms = Terms {
            owner: wish.owner.clone(),
            ttl: Some(wish.ttl),
            tries: u32::MAX,
            patience: wish.patience,
            pauses: *pauses,
            if_not: IfNot::Fail,
        };
        let name = if names.has_leases() { file_name(resource) } else { resource.to_owned() };
        Ok(Some(Mutex::new(Arc::clone(names), name, terms)))
    }

    /// Where it is, without secrets.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

fn without_password(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return address.to_owned() };
    if url.password().is_none() || url.set_password(None).is_err() {
        return address.to_owned();
    }
    url.to_string()
}

fn soon() -> (Duration, Duration) {
    (Duration::from_millis(100), Duration::from_millis(400))
}

fn query(address: &str, name: &str) -> Option<f64> {
    let (_, query) = address.split_once('?')?;
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.into_iter().find(|(key, _)| key == name).and_then(|(_, value)| value.parse().ok())
}

fn reservation(address: &str) -> Result<Reservation, Fault> {
    let bad = |why: &str| Fault::Address(format!("{}: {why}", without_password(address)));
    let url = Url::parse(address).map_err(|error| bad(&error.to_string()))?;
    let host = url.host_str().ok_or_else(|| bad("there is no host in it"))?;
    let id = url.path().trim_matches('/');
    if id.is_empty() || url.username().is_empty() {
        return Err(bad("it must be cloudshell://USER@HOST:PORT/RESERVATION"));
    }
    let from_env = |name: &str| std::env::var(name).ok();
    let password =
        url.password().map(str::to_owned).or_else(|| from_env("TENURE_CLOUDSHELL_PASSWORD"));
    let login = Login {
        endpoint: format!("http://{host}:{}", url.port().unwrap_or(8029)),
        user: url.username().to_owned(),
        password: password
            .ok_or_else(|| bad("put the password into TENURE_CLOUDSHELL_PASSWORD"))?,
        domain: from_env("TENURE_CLOUDSHELL_DOMAIN").unwrap_or_else(|| "Global".into()),
    };
    Reservation::new(login, id)
}

/// A resource as the name of a file: what may not be in one is written as its bytes in hexadecimal.
fn file_name(resource: &str) -> String {
    let mut name = String::new();
    for (nth, byte) in resource.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            b'.' if nth > 0 => name.push('.'),
            _ => name += &format!("%{byte:02X}"),
        }
    }
    name
}
