//! A place where decisions run atomically.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use claims::{
    Claim, ClaimId, Command, Event, Grants, Name, Refusal, Span, Stamp, Standing, Status, Tally,
    Timestamp, Verb,
};

use crate::commits::Commits;
use crate::error::StoreError;

/// The answer to a command: where the claim stands, or why not.
pub type Answer = Result<Standing, Refusal>;

/// What a store will say. Boxed, so that a server can choose its store when it starts.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A place where decisions run atomically: memory, a log of our own, a database, etcd, a bucket.
///
/// An answer is only given when what it says is kept as well as this store can keep it. An error
/// that is not an answer says what to do next; if a reply was lost on the way, the outcome is
/// unknown, and asking again with the same key finds it out (rule 10).
pub trait Store: Send + Sync {
    /// Runs one command.
    fn submit(&self, command: Command) -> Pending<'_, Answer>;

    /// Runs a registration or an activation request and, if the claim has to wait, waits with it:
    /// until it is granted, ends otherwise, or `patience` is over (then the answer is the one that
    /// [`Store::submit`] would have given). While this is pending, the claimant counts as present
    /// (rule 3); dropping it is leaving.
    fn submit_and_wait(&self, command: Command, patience: Duration) -> Pending<'_, Answer>;

    /// Where one claim stands.
    fn standing(&self, claim: ClaimId) -> Pending<'_, Option<Standing>>;

    /// Claims in order of creation, those that `filter` lets through, a page at a time.
    fn claims(&self, filter: Filter, page: Page<ClaimId>) -> Pending<'_, Vec<Claim>>;

    /// What is held or wanted, in alphabetical order, a page at a time.
    fn resources(&self, page: Page<Name>) -> Pending<'_, Vec<ResourceReport>>;

    /// Who holds one resource and who waits for it (the first `queue` of them).
    fn resource(&self, name: Name, queue: usize) -> Pending<'_, ResourceReport>;

    /// What happened from `position` on, at most `count` events.
    fn events(&self, position: u64, count: usize) -> Pending<'_, EventPage>;

    /// Returns when there is an event at `position` or after it.
    fn wait_for_event(&self, position: u64) -> Pending<'_, ()>;

    /// Does what is due by itself, and says how long until something is due again. A store with a
    /// process of its own does this alone; calling it then changes nothing but how soon.
    fn sweep(&self) -> Pending<'_, Option<Duration>>;

    /// Lends the calling thread to the store for as long as this is polled: it never ends. What is asked
    /// in that thread is then done in it as soon as its other tasks have had their turn, if that is little,
    /// instead of waking a thread of the store's; the thread waits for the disk meanwhile. So it is for
    /// a thread with an event loop of its own. By default nothing, for stores that decide elsewhere.
    fn lend_a_hand(&self) -> Pending<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// How the store is.
    fn vitals(&self) -> Pending<'_, Vitals>;
}

/// Which claims to list. What is not said lets everything through.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Claims on this resource.
    pub resource: Option<Name>,
    /// Claims with this status.
    pub status: Option<Status>,
    /// Bounds on the lease left, in microseconds, negative when overdue; implies active.
    pub ttl: Bounds<i64>,
    /// Bounds on the time it has held, or did hold.
    pub active_for: Bounds<Span>,
    /// Bounds on the time it has waited, or did wait.
    pub waited_for: Bounds<Span>,
    /// Bounds on when it was registered, in milliseconds since 1970.
    pub created: Bounds<u64>,
    /// Only what somebody with these grants may read: a claim is shown if all its resources are.
    pub readable: Option<Arc<Grants>>,
}

/// At least and at most, both inclusive.
#[derive(Debug, Clone, Copy)]
pub struct Bounds<T> {
    /// At least.
    pub min: Option<T>,
    /// At most.
    pub max: Option<T>,
}

impl<T> Default for Bounds<T> {
    fn default() -> Self {
        Self { min: None, max: None }
    }
}

impl<T: PartialOrd + Copy> Bounds<T> {
    /// Whether there is a bound at all.
    pub fn is_some(&self) -> bool {
        self.min.is_some() || self.max.is_some()
    }

    /// Whether `value` is within.
    pub fn admit(&self, value: T) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

impl Filter {
    /// Whether a claim passes at the moment `now`.
    pub fn admits(&self, claim: &Claim, now: Timestamp) -> bool {
        let lease_left = || match &claim.phase {
            // A lease without end is as long as any.
            claims::Phase::Active(active) if active.deadline == Timestamp::NEVER => Some(i64::MAX),
            claims::Phase::Active(active) => {
                Some(active.deadline.as_micros() as i64 - now.as_micros() as i64)
            }
            claims::Phase::Waiting(_) | claims::Phase::Ended(_) => None,
        };
        let ended_at = match &claim.phase {
            claims::Phase::Ended(ended) => Some(ended.at.at),
            claims::Phase::Waiting(_) | claims::Phase::Active(_) => None,
        };
        let active_since = claim.activation().map(|activation| activation.since.at);
        let active_for = active_since.map(|since| ended_at.unwrap_or(now).since(since));
        let waited_for = active_since.or(ended_at).unwrap_or(now).since(claim.created.at);
        self.resource.as_ref().is_none_or(|name| claim.resources.as_slice().contains(name))
            && self.status.is_none_or(|status| status == claim.status())
            && (!self.ttl.is_some() || lease_left().is_some_and(|left| self.ttl.admit(left)))
            && (!self.active_for.is_some()
                || active_for.is_some_and(|span| self.active_for.admit(span)))
            && self.waited_for.admit(waited_for)
            && self.created.admit(claim.created.wall.0)
            && self
                .readable
                .as_ref()
                .is_none_or(|grants| grants.allow(Verb::Read, claim.resources.as_slice()))
    }
}

/// A page of an ordered list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// Begin after this one.
    pub after: Option<T>,
    /// Let this many pass first.
    pub skip: usize,
    /// At most this many.
    pub count: usize,
}

impl<T> Page<T> {
    /// The first `count`.
    pub fn first(count: usize) -> Self {
        Self { after: None, skip: 0, count }
    }

    /// The next `count` after one.
    pub fn after(last: T, count: usize) -> Self {
        Self { after: Some(last), skip: 0, count }
    }
}

/// One resource as people want to see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceReport {
    /// Its name.
    pub name: Name,
    /// Who holds it.
    pub holders: Vec<Claim>,
    /// Who waits for it, in order: the first few.
    pub queue: Vec<Claim>,
    /// How many wait in all.
    pub waiting: usize,
}

/// A piece of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPage {
    /// The events, oldest first.
    pub events: Vec<Kept>,
    /// How many events between the position asked for and the first of these are not kept any more.
    pub skipped: u64,
    /// The position to ask for next.
    pub next: u64,
}

/// An event as it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// How many events there were before it in the life of the store.
    pub position: u64,
    /// When it happened.
    pub stamp: Stamp,
    /// What happened.
    pub event: Event,
}

/// How a store is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vitals {
    /// The present moment on the store's timeline.
    pub now: Timestamp,
    /// How many claims are in which part of their life.
    pub tally: Tally,
    /// How many events were kept in the life of the store.
    pub position: u64,
    /// What its commits cost, since it was opened.
    pub commits: Commits,
}
