//! One claim that a keychain holds for this program: what is believed of it here, and whom it tells.

use std::sync::Arc;

use claims::claimant::{Lease, Moment, Patience};
use claims::{ClaimId, Fence, Limit, Span};

use super::{Cause, Event, Json, Terms, Until};
use crate::clock;
use crate::driver::{End, Loss, Miss, Problem, Teller, Told, View};
use crate::wish::{Wish, seconds};

/// One claim in the keychain's care.
pub(super) struct Ward {
    wish: Box<Wish>,
    view: Arc<View>,
    tell: Teller,
    /// Until when it must be held, if somebody has no more time than that.
    until: Option<Moment>,
    pub(super) lease: Option<Lease>,
    pub(super) releasing: bool,
    /// The last refresh that was asked for, and the last that was answered.
    pub(super) refreshes: (u64, u64),
}

impl Ward {
    pub(super) fn new(wish: Box<Wish>, view: Arc<View>, tell: Teller) -> Self {
        let until = match wish.patience {
            Patience::Forever => None,
            Patience::For(span) | Patience::Try(span) => Some(clock::now() + span),
        };
        Self { wish, view, tell, until, lease: None, releasing: false, refreshes: (0, 0) }
    }

    /// What a keychain is asked for. One that is held already must not wait for others.
    pub(super) fn terms(&self, errand: u64, again: bool) -> Terms {
        let wish = &self.wish;
        let until = self.lease.map(|lease| lease.deadline).or(self.until);
        let left = until.map(|until| micros(until.since(clock::now())));
        let names = wish.resources.as_slice().iter().map(|name| name.as_str().to_owned());
        Terms {
            claim: errand.to_string(),
            resources: names.collect(),
            resource: None,
            ttl: seconds(wish.ttl),
            timeout: left,
            tries: self.lease.is_some() || matches!(wish.patience, Patience::Try(_)),
            shared: wish.limit == Limit::SHARED,
            limit: wish.limit.count().filter(|count| *count > 1),
            data: wish.data.as_ref().and_then(|data| Json::parse(data.as_str()).ok()),
            key: Some(wish.key.reveal().to_owned()),
            adopt: again || wish.adopts,
        }
    }

    /// From now on with this ttl.
    pub(super) fn set_ttl(&mut self, ttl: claims::Ttl) {
        self.wish.ttl = ttl;
    }

    pub(super) fn tell(&mut self, told: &Told) {
        (self.tell)(told);
    }

    /// Takes in what the keychain says. True if that was the end.
    pub(super) fn hear(&mut self, event: Event) -> bool {
        match event {
            Event::Waiting { position, .. } if self.lease.is_none() => {
                self.tell(&Told::Waiting { position });
            }
            Event::Granted { number, fence, until, .. } => {
                return self.granted(ClaimId(number), fence.map(Fence), until);
            }
            Event::Renewed { until, id, .. } => {
                self.renewal(until, true, id.as_str().parse().ok(), &Told::Renewed);
            }
            Event::Unknown { until, problem, id, .. } => {
                let told = Told::Unknown { problem: Problem::new(problem) };
                self.renewal(until, false, id.as_str().parse().ok(), &told);
            }
            Event::Lost { cause, problem, .. } => return self.lose(loss(cause, problem)),
            Event::Failed { cause, problem, position, .. } => {
                if self.lease.is_some() {
                    return self.lose(Loss::Unknown(Problem::new(problem)));
                }
                self.tell(&Told::Missed(miss(cause, problem, position)));
                return self.end(End::Never);
            }
            Event::Released { confirmed, problem, .. } => {
                return self.end(match confirmed {
                    true => End::Confirmed,
                    false => End::Unknown(Some(Problem::new(problem))),
                });
            }
            Event::Waiting { .. }
            | Event::Ready { .. }
            | Event::Valid { .. }
            | Event::List { .. }
            | Event::Pong { .. }
            | Event::Error { .. }
            | Event::Closed { .. } => {}
        }
        false
    }

    fn renewal(&mut self, until: Until, confirmed: bool, id: Option<u64>, told: &Told) {
        if self.believe(until, confirmed) && self.answers(id) {
            self.tell(told);
        }
    }

    /// Held; or held still, if another keychain has taken it over.
    fn granted(&mut self, claim: ClaimId, fence: Option<Fence>, until: Until) -> bool {
        let deadline = moment(until);
        let again = self.lease.map(|lease| lease.claim);
        if again.is_some_and(|before| before != claim) {
            let problem = "its keychain died, and it had ended before another one came";
            return self.lose(Loss::Unknown(Problem::new(problem)));
        }
        self.lease = Some(Lease { claim, fence, deadline, confirmed: true });
        self.view.show(Some(claim), self.lease);
        match again {
            None => self.tell(&Told::Acquired { fence }),
            Some(_) => {
                self.refreshes.1 = self.refreshes.0;
                self.tell(&Told::Renewed);
            }
        }
        false
    }

    /// The deadline is this from now on. False if it is not held.
    fn believe(&mut self, until: Until, confirmed: bool) -> bool {
        let Some(lease) = &mut self.lease else { return false };
        (lease.deadline, lease.confirmed) = (moment(until), confirmed);
        if !self.releasing {
            self.view.show(Some(lease.claim), self.lease);
        }
        true
    }

    /// Whether a renewal is the one that was asked for last, or nobody waits for one.
    fn answers(&mut self, id: Option<u64>) -> bool {
        self.refreshes.1 = self.refreshes.1.max(id.unwrap_or(0));
        self.refreshes.0 == self.refreshes.1
    }

    /// Nobody knows what comes after the deadline.
    pub(super) fn doubt(&mut self, problem: &Problem) {
        if let Some(lease) = &mut self.lease {
            lease.confirmed = false;
            self.view.show(Some(lease.claim), self.lease);
            self.refreshes.1 = self.refreshes.0;
            self.tell(&Told::Unknown { problem: problem.clone() });
        }
    }

    /// Nothing is believed any more, as it is being given back.
    pub(super) fn release(&mut self) {
        self.releasing = true;
        let claim = self.lease.map(|lease| lease.claim);
        self.view.show(claim, None);
    }

    pub(super) fn lose(&mut self, loss: Loss) -> bool {
        self.view.show(None, None);
        self.tell(&Told::Lost(loss));
        self.end(End::Unknown(None))
    }

    /// Tells the end, once, last.
    pub(super) fn end(&mut self, end: End) -> bool {
        self.view.show(None, None);
        self.tell(&Told::Ended(end));
        true
    }
}

fn moment(until: Until) -> Moment {
    Moment::from_micros((until.deadline * 1e6) as u64)
}

fn micros(span: Span) -> f64 {
    span.as_micros() as f64 / 1e6
}

fn loss(cause: Cause, problem: String) -> Loss {
    match cause {
        Cause::Expired => Loss::Expired,
        Cause::Revoked => Loss::Revoked,
        Cause::Unconfirmed => Loss::Unconfirmed(Problem::new(problem)),
        Cause::Aborted => Loss::GivenUp,
        Cause::Unknown
        | Cause::Busy
        | Cause::Timeout
        | Cause::Unavailable
        | Cause::Refused
        | Cause::TtlTooShort => Loss::Unknown(Problem::new(problem)),
    }
}

fn miss(cause: Cause, problem: String, position: Option<u64>) -> Miss {
    match cause {
        Cause::Busy => Miss::Busy { position },
        Cause::Timeout => Miss::TimedOut { problem: None },
        Cause::Unavailable => Miss::TimedOut { problem: Some(Problem::new(problem)) },
        Cause::TtlTooShort => Miss::NeverSure,
        Cause::Aborted => Miss::GivenUp,
        Cause::Refused | Cause::Expired | Cause::Revoked | Cause::Unconfirmed | Cause::Unknown => {
            Miss::Refused(Problem::new(problem))
        }
    }
}
