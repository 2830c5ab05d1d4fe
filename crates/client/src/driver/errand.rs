//! One wish that a driver pursues, as its owner holds it.

use std::sync::Arc;
use std::time::Duration;

use claims::claimant::{Input, Moment};
use claims::{ClaimId, Fence, Ttl};

use super::view::View;
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

/// What is believed to be held now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// For how long it is certain.
    pub valid_for: Duration,
    /// Whether the last renewal was confirmed. If not, nobody knows what comes after that.
    pub confirmed: bool,
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
        self.seen().map(|(_, held)| held)
    }

    /// For how long it is certain that the claim is held; nothing if it is not.
    pub fn valid_for(&self) -> Duration {
        self.lease().map_or(Duration::ZERO, |held| held.valid_for)
    }

    /// The same as a moment of the boot-time clock, which every process of this machine can read.
    pub fn deadline(&self) -> Option<Duration> {
        self.seen().map(|(deadline, _)| Duration::from_micros(deadline.as_micros()))
    }

    /// The number of the claim, once the server has given it one.
    pub fn claim(&self) -> Option<ClaimId> {
        self.view.claim()
    }

    /// Its fence, once it has one.
    pub fn fence(&self) -> Option<Fence> {
        self.view.fence()
    }

    pub(crate) fn is_forked(&self) -> bool {
        self.orders.is_forked()
    }

    /// One look at the deadline: a second one could find another.
    fn seen(&self) -> Option<(Moment, Held)> {
        let (deadline, confirmed) = self.view.lease().filter(|_| !self.is_forked())?;
        let deadline = Moment::from_micros(shown(deadline.as_micros()));
        let valid_for = clock::until(deadline);
        (!valid_for.is_zero()).then_some((deadline, Held { valid_for, confirmed }))
    }

    fn tell(&self, input: Input) {
        self.orders.send(Order::Tell { errand: self.errand, input });
    }
}
