//! An honest client: it asks until it is answered, counts its lease by its own clock, and stops
//! believing before the server can let the next one in.
//!
//! Two things are less obvious than they look:
//!
//! * *From when the lease counts.* An answer "yours" may be the answer to a retry, or to a wait that
//!   was open for long: the lease began at some moment after the last request that was answered
//!   "not yet" had left, and no later moment is safe. If that is so long ago that nothing is left of
//!   the ttl, the client must renew before it believes.
//! * *A shorter ttl* counts from the moment it is asked for, not from when it is confirmed.

mod answers;
mod lease;
mod wishes;

use std::rc::Rc;

use claims::{Farewell, KeyHash, Name, Owner, Span, Timestamp, Ttl};

use self::lease::Lease;
use crate::clock::{Clock, Local};
use crate::message::{Ask, ClientId, Request, RequestId, Verb, Wish};
use crate::planted::Bug;
use crate::rng::Rng;
use crate::story::{Note, Story};
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

    /// Sends what the present stage has to ask, and plans when to ask again.
    fn ask(&mut self, desk: &mut Desk<'_>) {
        let local = self.clock.read(desk.now);
        let at = self.lease_now(desk.now);
        let timeout = self.rng.spread(desk.load.timeout);
        self.close_waits(desk.post);
        let bug = self.bug;
        let Some(pursuit) = &mut self.pursuit else {
            return;
        };
        let wait = pursuit.waits_open.then_some(desk.load.wait);
        pursuit.tries += 1;
        pursuit.next_ask = local + timeout;
        let ask = match (pursuit.stage, pursuit.owner) {
            (Stage::Asking, None) => {
                pursuit.next_ask = pursuit.next_ask + wait.unwrap_or_default();
                if pursuit.tries > 1 && bug == Some(Bug::NewKeyForRetry) {
                    pursuit.wish = wishes::under_another_key(&pursuit.wish, &mut self.rng);
                }
                Ask::Register(Rc::clone(&pursuit.wish), wait)
            }
            (Stage::Asking, Some(owner)) => {
                pursuit.next_ask = pursuit.next_ask + wait.unwrap_or_default();
                Ask::Activate(owner, wait)
            }
            (Stage::Holding, Some(owner)) => {
                let retry = pursuit.lease.part(10).max(Span::from_millis(20));
                pursuit.next_ask = local + timeout.min(retry);
                self.renewal(owner, at)
            }
            (Stage::Ending(farewell), Some(owner)) => Ask::End(owner, farewell),
            (Stage::Holding | Stage::Ending(_), None) => {
                unreachable!("a client knows the claim it holds or ends")
            }
        };
        let request = RequestId(desk.post.next_request);
        desk.post.next_request += 1;
        let sent = Sent {
            request,
            verb: ask.verb(),
            at,
            waits: ask.wait().is_some(),
        };
        desk.story.tell(
            desk.now,
            Note::Asks {
                client: self.id,
                request,
                verb: sent.verb,
                claim: ask.claim(),
            },
        );
        if self.sent.len() == 8 {
            self.sent.remove(0);
        }
        self.sent.push(sent);
        let client = self.id;
        desk.post.requests.push(Request {
            id: request,
            client,
            ask,
        });
    }

    /// A renewal, or now and then the appointment of a keeper who may send some of them.
    fn renewal(&mut self, owner: Owner, at: Local) -> Ask {
        let changes = self.rng.permille(300);
        let by_keeper = self.rng.coin();
        let share = self.rng.between(500, 1_000);
        let bug = self.bug;
        let pursuit = self.pursuit.as_mut().expect("only a pursuit is renewed");
        let mut owner = owner;
        match pursuit.keeper {
            Some(keeper) if !keeper.appointed && pursuit.lease.deadline.is_some() && changes => {
                return Ask::Appoint(owner, keeper.key);
            }
            Some(keeper) if keeper.appointed && by_keeper => owner.key = keeper.key,
            Some(_) | None => {}
        }
        let ttl = (pursuit.changes_ttl && changes).then(|| {
            let whole = pursuit.wish.registration.ttl.span().as_micros();
            Ttl::new(Span::from_micros(whole * share / 1_000)).expect("shorter than an allowed ttl")
        });
        pursuit.lease.asked(ttl, at);
        if bug == Some(Bug::LostAnswerIsYes) {
            pursuit.lease.confirmed(at, at, bug);
        }
        Ask::Renew(owner, ttl)
    }

    fn close_waits(&mut self, post: &mut Post) {
        let open = self.sent.iter_mut().filter(|sent| sent.waits);
        for sent in open {
            sent.waits = false;
            post.closed.push(sent.request);
        }
    }

    fn forget_sent(&mut self, post: &mut Post) {
        self.close_waits(post);
        self.sent.clear();
    }
}

impl Pursuit {
    fn gives_up(&self) -> bool {
        self.abandons || (self.impatient && self.owner.is_some())
    }
}
