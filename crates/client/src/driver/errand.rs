//! One wish that a driver pursues, as its owner holds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use claims::claimant::{Input, Lease, Moment};
use claims::{ClaimId, Fence, Ttl};

use super::{Order, Orders};
use crate::clock;
use crate::planted::shown;

/// One wish that a driver pursues. Dropping it changes nothing: say [`release`](Errand::release).
#[derive(Debug, Clone)]
pub struct Errand {
    errand: u64,
    orders: Arc<Orders>,
    view: Arc<View>,
}

/// What is believed about a claim, to be read at any time from any thread.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The deadline by the boot-time clock; 0 if nothing is believed.
    deadline: AtomicU64,
    confirmed: AtomicBool,
    claim: AtomicU64,
    fence: AtomicU64,
}

/// What is believed to be held now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// For how long it is certain.
    pub valid_for: Duration,
    /// Whether the last renewal was confirmed. If not, nobody knows what comes after that.
    pub confirmed: bool,
}

impl View {
    /// Shows to everybody what is believed from now on.
    pub(crate) fn show(&self, claim: Option<ClaimId>, lease: Option<Lease>) {
        self.claim.store(claim.map_or(0, |claim| claim.0), Ordering::Release);
        if let Some(fence) = lease.and_then(|lease| lease.fence) {
            self.fence.store(fence.0, Ordering::Release);
        }
        self.confirmed.store(lease.is_some_and(|lease| lease.confirmed), Ordering::Release);
        let deadline = lease.map_or(0, |lease| shown(lease.deadline.as_micros()));
        self.deadline.store(deadline, Ordering::Release);
    }
}

impl Errand {
    pub(super) fn new(errand: u64, orders: Arc<Orders>, view: Arc<View>) -> Self {
        Self { errand, orders, view }
    }

    /// Gives the claim back, or up.
    pub fn release(&self) {
        self.tell(Input::Release);
    }

    /// Gives the claim up because the program is failing.
    pub fn abort(&self) {
        self.tell(Input::Signal);
    }

    /// Renews now, from now on with this ttl.
    pub fn refresh(&self, ttl: Option<Ttl>) {
        self.tell(Input::Refresh(ttl));
    }

    /// What is believed to be held now. Looks at the clock, not at the driver: a driver that is
    /// stopped cannot make anybody believe.
    pub fn lease(&self) -> Option<Held> {
        if self.is_forked() {
            return None;
        }
        let deadline = Moment::from_micros(self.view.deadline.load(Ordering::Acquire));
        let valid_for = clock::until(deadline);
        let confirmed = self.view.confirmed.load(Ordering::Acquire);
        (!valid_for.is_zero()).then_some(Held { valid_for, confirmed })
    }

    /// For how long it is certain that the claim is held; nothing if it is not.
    pub fn valid_for(&self) -> Duration {
        self.lease().map_or(Duration::ZERO, |held| held.valid_for)
    }

    /// The same as a moment of the boot-time clock, which every process of this machine can read.
    pub fn deadline(&self) -> Option<Duration> {
        self.lease()?;
        Some(Duration::from_micros(self.view.deadline.load(Ordering::Acquire)))
    }

    /// The number of the claim, once the server has given it one.
    pub fn claim(&self) -> Option<ClaimId> {
        some(self.view.claim.load(Ordering::Acquire)).map(ClaimId)
    }

    /// Its fence, once it has one.
    pub fn fence(&self) -> Option<Fence> {
        some(self.view.fence.load(Ordering::Acquire)).map(Fence)
    }

    pub(crate) fn is_forked(&self) -> bool {
        self.orders.is_forked()
    }

    fn tell(&self, input: Input) {
        self.orders.send(Order::Tell { errand: self.errand, input });
    }
}

fn some(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}
