//! An honest client: it asks until it is answered, counts its lease by its own clock, and stops
//! believing before the server can let the next one in.
//!
//! Three things are less obvious than they look:
//!
//! * *From when the lease counts.* An answer "yours" may be the answer to a retry, or to a wait that
//!   was open for long: the lease began at some moment after the last request that was answered
//!   "not yet" had left, and no later moment is safe. If that is so long ago that nothing is left of
//!   the ttl, the client must renew before it believes.
//! * *Which claim an answer is about.* A registration that arrives again when its claim is over and
//!   forgotten makes another claim. What is said of the older one must not count for the newer.
//! * *A shorter ttl* counts from the moment it is asked for, not from when it is confirmed.

mod answers;
mod asking;
mod lease;
mod wishes;

use std::rc::Rc;

use claims::{Farewell, KeyHash, Name, Owner, Span, Timestamp};

use self::lease::Lease;
use crate::clock::{Clock, Local};
use crate::message::{ClientId, Request, RequestId, Verb, Wish};
use crate::planted::Bug;
use crate::rng::Rng;
use crate::story::Story;
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
    bug: Option<Bug>,
    /// How much a clock on the wall was put forward, in microseconds. For a planted bug.
    wall_shift: i64,
    /// How long it has slept. For a planted bug.
    slept: Span,
    idle_until: Local,
    /// Nobody wants anything new any more.
    draining: bool,
    pursuit: Option<Pursuit>,
    /// Requests of this pursuit that may still be answered.
    sent: Vec<Sent>,
}

/// A wish on its way to be fulfilled.
#[derive(Debug)]
struct Pursuit {
    wish: Rc<Wish>,
    owner: Option<Owner>,
    stage: Stage,
    lease: Lease,
    waits_open: bool,
    /// Walks away without a word if it takes too long.
    abandons: bool,
    impatient: bool,
    changes_ttl: bool,
    keeper: Option<Keeper>,
    next_ask: Local,
    /// Its patience ends, or its work is done.
    until: Local,
    tries: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Asking,
    Holding,
    Ending(Farewell),
}

#[derive(Debug, Clone, Copy)]
struct Keeper {
    key: KeyHash,
    appointed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    request: RequestId,
    verb: Verb,
    /// By the clock the lease is counted on.
    at: Local,
    waits: bool,
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
    pub(crate) fn new(id: ClientId, clock: Clock, rng: Rng, bug: Option<Bug>) -> Self {
        let idle_until = clock.read(Timestamp::ZERO);
        Self {
            id,
            clock,
            alive: true,
            paused_at: None,
            timer: 0,
            rng,
            bug,
            wall_shift: 0,
            slept: Span::ZERO,
            idle_until,
            draining: false,
            pursuit: None,
            sent: Vec::new(),
        }
    }

    /// Nobody begins anything new from here on, and nobody gives up.
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
        self.pursuit = None;
        self.forget_sent(post);
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
        let mut next = pursuit.next_ask;
        let watches_until = match pursuit.stage {
            Stage::Asking => !self.draining && pursuit.gives_up(),
            Stage::Holding => pursuit.lease.deadline.is_some(),
            Stage::Ending(_) => false,
        };
        if watches_until {
            next = next.min(pursuit.until);
        }
        let mut at = self.clock.when(next);
        if let (Some(deadline), Stage::Holding) = (pursuit.lease.deadline, pursuit.stage) {
            let left = deadline.since(self.lease_now(now));
            at = at.min(self.clock.when(self.clock.read(now) + left));
        }
        Some(at.max(now + Span::from_micros(1)))
    }

    /// Its timer rang.
    pub(crate) fn wake(&mut self, desk: &mut Desk<'_>) {
        let local = self.clock.read(desk.now);
        let lease_now = self.lease_now(desk.now);
        let Some(pursuit) = &mut self.pursuit else {
            if self.alive && !self.draining && local >= self.idle_until {
                self.make_a_wish(desk);
                self.ask(desk);
            }
            return;
        };
        match pursuit.stage {
            Stage::Asking => {
                if local >= pursuit.until && !self.draining && pursuit.gives_up() {
                    return self.give_up(desk);
                }
            }
            Stage::Holding => {
                if pursuit.lease.is_over(lease_now) && self.bug != Some(Bug::BelievesPastDeadline) {
                    return self.lose(desk);
                }
                let done = pursuit.lease.deadline.is_some() && local >= pursuit.until;
                if done {
                    return self.end(Farewell::Release, desk);
                }
            }
            Stage::Ending(_) => {
                if pursuit.tries > 5 && !self.draining {
                    return self.drop_pursuit(desk);
                }
            }
        }
        if local >= pursuit.next_ask {
            self.ask(desk);
        }
    }
}

impl Pursuit {
    fn gives_up(&self) -> bool {
        self.abandons || (self.impatient && self.owner.is_some())
    }
}
