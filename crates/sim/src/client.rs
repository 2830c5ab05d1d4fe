//! A client process: it drives the real [`Claimant`] of the product, one wish at a time.
//!
//! What is simulated here is only what surrounds it: a clock that drifts, requests that become
//! messages, answers that come late, twice or never, and a program that wants things, works for a
//! while, and stops.

mod answers;
mod asking;
mod wishes;

use std::rc::Rc;

use claims::claimant::{self, Claimant, Input, Lease, Notice, Output};
use claims::{ClaimId, KeyHash, Name, Span, Timestamp, Ttl};

use crate::clock::{Clock, Local};
use crate::message::{ClientId, Request, RequestId, Verb, Wish};
use crate::planted::{Bug, Planted};
use crate::rng::Rng;
use crate::story::{Note, Stop, Story};
use crate::swarm::Load;

/// One client process, and the ones that take its place when it dies.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: ClientId,
    pub(crate) clock: Clock,
    pub(crate) alive: bool,
    pub(crate) paused_at: Option<Timestamp>,
    /// Only the timer with this number counts.
    pub(crate) timer: u32,
    rng: Rng,
    bugs: Bugs,
    /// How much a clock on the wall was put forward, in microseconds. For a planted bug.
    wall_shift: i64,
    /// How long it has slept. For a planted bug.
    slept: Span,
    idle_until: Local,
    /// Nobody wants anything new any more.
    draining: bool,
    pursuit: Option<Pursuit>,
    /// What it has just come to the end of.
    settled: Option<Settled>,
}

/// The bugs kept in on purpose.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bugs {
    claimant: claimant::Planted,
    client: Option<Bug>,
}

impl Bugs {
    pub(crate) fn of(planted: Option<Planted>) -> Self {
        match planted {
            Some(Planted::Claimant(bug)) => {
                Self { claimant: claimant::Planted::with(bug), client: None }
            }
            Some(Planted::Client(bug)) => Self { client: Some(bug), ..Self::default() },
            Some(Planted::Rules(_) | Planted::Store(_)) | None => Self::default(),
        }
    }
}

/// A wish on its way to be fulfilled.
#[derive(Debug)]
struct Pursuit {
    wish: Rc<Wish>,
    claimant: Claimant,
    /// It walks away then, without a word.
    abandons_at: Option<Local>,
    /// Its work is done then.
    works_until: Option<Local>,
    /// It is stopped, and does not end by itself.
    signalled: bool,
    changes_ttl: bool,
    /// The ttl asked for last.
    ttl: Ttl,
    keeper: Option<Keeper>,
    sent: Vec<Sent>,
}

#[derive(Debug, Clone, Copy)]
struct Keeper {
    key: KeyHash,
    appointed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    request: RequestId,
    /// The number the claimant gave it; none if it is not the claimant's.
    number: Option<u32>,
    verb: Verb,
    waits: bool,
}

/// A wish that came to its end, as far as its claimant knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settled {
    pub(crate) client: ClientId,
    pub(crate) key: KeyHash,
    pub(crate) claim: Option<ClaimId>,
}

/// What a client hands to the network.
#[derive(Debug, Default)]
pub(crate) struct Post {
    pub(crate) next_request: u64,
    pub(crate) next_wish: u64,
    pub(crate) requests: Vec<Request>,
    /// Requests whose answer nobody waits for any more.
    pub(crate) closed: Vec<RequestId>,
}

/// What a client may look at and change beside itself.
pub(crate) struct Desk<'a> {
    pub(crate) now: Timestamp,
    pub(crate) load: &'a Load,
    pub(crate) names: &'a [Name],
    pub(crate) post: &'a mut Post,
    pub(crate) story: &'a mut Story,
}

impl Client {
    pub(crate) fn new(id: ClientId, clock: Clock, rng: Rng, bugs: Bugs) -> Self {
        let idle_until = clock.read(Timestamp::ZERO);
        Self {
            id,
            clock,
            alive: true,
            paused_at: None,
            timer: 0,
            rng,
            bugs,
            wall_shift: 0,
            slept: Span::ZERO,
            idle_until,
            draining: false,
            pursuit: None,
            settled: None,
        }
    }

    /// Nobody begins anything new from here on, and nobody walks away.
    pub(crate) fn drain(&mut self) {
        self.draining = true;
    }

    /// Whether it neither wants nor holds anything.
    pub(crate) fn is_idle(&self) -> bool {
        !self.alive || self.pursuit.is_none()
    }

    /// The process is gone, and with it all it knew. Its connections close, sooner or later.
    pub(crate) fn die(&mut self, post: &mut Post) {
        self.alive = false;
        self.forget(post);
    }

    /// Another process in its place.
    pub(crate) fn return_to_life(&mut self, now: Timestamp) {
        self.alive = true;
        self.idle_until = self.clock.read(now);
    }

    /// When to wake it next, if ever.
    pub(crate) fn next_wake(&self, now: Timestamp) -> Option<Timestamp> {
        let Some(pursuit) = &self.pursuit else {
            let idles = self.draining || !self.alive;
            return (!idles).then(|| self.clock.when(self.idle_until).max(now));
        };
        let lease_now = self.lease_now(now).moment();
        let claimant = pursuit.claimant.next_wake().map(|(moment, _)| {
            let left = moment.since(lease_now);
            self.clock.when(self.clock.read(now) + left)
        });
        let abandons_at = pursuit.abandons_at.filter(|_| !self.draining);
        let own = [abandons_at, pursuit.works_until].into_iter().flatten().min();
        let at = claimant.into_iter().chain(own.map(|own| self.clock.when(own))).min()?;
        Some(at.max(now + Span::from_micros(1)))
    }

    /// Its timer rang.
    pub(crate) fn wake(&mut self, desk: &mut Desk<'_>) {
        let local = self.clock.read(desk.now);
        let Some(pursuit) = &mut self.pursuit else {
            if self.alive && !self.draining && local >= self.idle_until {
                self.make_a_wish(desk);
                self.tell(Input::Begin, desk);
            }
            return;
        };
        if !self.draining && pursuit.abandons_at.is_some_and(|at| at <= local) {
            desk.story.tell(desk.now, Note::Stops(self.id, Stop::WalksAway));
            return self.rest(desk);
        }
        if pursuit.works_until.is_some_and(|until| until <= local) {
            pursuit.works_until = None;
            let ends = if pursuit.signalled { Input::Signal } else { Input::Release };
            return self.tell(ends, desk);
        }
        self.tell(Input::Wake, desk);
    }

    /// Tells the claimant, and does what it asks for.
    fn tell(&mut self, input: Input, desk: &mut Desk<'_>) {
        let now = self.lease_now(desk.now).moment();
        let luck = self.rng.word() as u32;
        let Some(pursuit) = &mut self.pursuit else { return };
        let held = pursuit.claimant.state().holds();
        let mut outputs = Vec::new();
        pursuit.claimant.handle(input, now, luck, &mut outputs);
        let unsure = pursuit.claimant.lease(now).is_none();
        let granted = !held && pursuit.claimant.state().holds();
        if let (true, true, Some(claim)) = (granted, unsure, pursuit.claimant.claim()) {
            desk.story.tell(desk.now, Note::Believes { client: self.id, claim, left: None });
        }
        for output in outputs {
            match output {
                Output::Send(request) => self.send(request, desk),
                Output::Abandon(number) => self.abandon(number, desk.post),
                Output::Notify(notice) => self.notice(notice, desk),
            }
        }
        let ended = self.pursuit.as_ref().filter(|pursuit| pursuit.claimant.is_settled());
        if let Some(pursuit) = ended {
            self.settled = Some(Settled {
                client: self.id,
                key: pursuit.wish.registration.key,
                claim: pursuit.claimant.claim(),
            });
            self.rest(desk);
        }
    }

    fn notice(&mut self, notice: Notice, desk: &mut Desk<'_>) {
        let works_for = self.rng.span(desk.load.hold);
        let local = self.clock.read(desk.now);
        let Some(pursuit) = &mut self.pursuit else { return };
        match notice {
            Notice::Acquired { .. } => {
                pursuit.works_until = Some(local + works_for);
                pursuit.abandons_at = None;
                self.tell_belief(desk);
            }
            Notice::Renewed => self.tell_belief(desk),
            Notice::Lost(cause) => {
                pursuit.works_until = None;
                let why = match cause {
                    claimant::Cause::Unconfirmed => Stop::LeaseOver,
                    claimant::Cause::Refused(_) => Stop::ToldSo,
                    claimant::Cause::Stopped => Stop::Signalled,
                };
                desk.story.tell(desk.now, Note::Stops(self.id, why));
            }
            Notice::Missed(_) => {
                pursuit.abandons_at = None;
            }
            Notice::Waiting { .. } | Notice::Unknown | Notice::Ended(_) => {}
        }
    }

    fn tell_belief(&self, desk: &mut Desk<'_>) {
        let lease_now = self.lease_now(desk.now).moment();
        if let Some(Lease { claim, deadline, .. }) = self.lease(desk.now) {
            let left = Some(deadline.since(lease_now));
            desk.story.tell(desk.now, Note::Believes { client: self.id, claim, left });
        }
    }

    fn lease(&self, now: Timestamp) -> Option<Lease> {
        let pursuit = self.pursuit.as_ref().filter(|_| self.alive)?;
        pursuit.claimant.lease(self.lease_now(now).moment())
    }

    /// What it believes to hold at this moment of true time, if it believes so.
    pub(crate) fn belief(&self, now: Timestamp) -> Option<(&Wish, ClaimId)> {
        let lease = self.lease(now)?;
        Some((&*self.pursuit.as_ref()?.wish, lease.claim))
    }

    /// What it has come to the end of since this was asked before.
    pub(crate) fn take_settled(&mut self) -> Option<Settled> {
        self.settled.take()
    }

    /// The clock the lease is counted on: boot time, unless a bug is planted.
    fn lease_now(&self, now: Timestamp) -> Local {
        let boot = self.clock.read(now);
        match self.bugs.client {
            Some(Bug::WallClockDeadline) => boot.shifted(self.wall_shift),
            Some(Bug::ClockWithoutSuspend) => {
                let asleep = self.paused_at.map_or(Span::ZERO, |since| now.since(since));
                boot.shifted(-((self.slept.as_micros() + asleep.as_micros()) as i64))
            }
            Some(Bug::NewKeyForRetry) | None => boot,
        }
    }

    pub(crate) fn pause(&mut self, now: Timestamp) {
        self.paused_at = Some(now);
    }

    pub(crate) fn resume(&mut self, now: Timestamp) {
        if let Some(since) = self.paused_at.take() {
            self.slept = Span::from_micros(self.slept.as_micros() + now.since(since).as_micros());
        }
    }

    /// Somebody sets the clock on its wall. An honest client does not look at it.
    pub(crate) fn jump_wall(&mut self, micros: i64) {
        self.wall_shift += micros;
    }
}
