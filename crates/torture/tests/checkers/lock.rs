//! A correct lock with its clients, in simulated time: what they saw of it is a history that every
//! checker must accept. Answers are lost, clients die, fall asleep or give up, waiters go away.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use torture::history::{Acquired, Entry, Seen, Told, What};

use crate::chance::Chance;
use crate::told::TTL;

/// What kind of history is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub clients: u32,
    pub resources: u64,
    /// How many entries at least.
    pub entries: usize,
    /// The limits that claims have.
    pub limits: &'static [Option<u32>],
    /// How often something goes wrong, in percent.
    pub trouble: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Idle,
    Register,
    Granted,
    GiveUp,
    /// Between grant and release: renew, do something, or stop.
    Hold,
    Renew {
        begin: u64,
    },
    Release {
        begin: u64,
        waits: bool,
    },
    Settle,
    /// A waiter that was away is back.
    Back,
}

/// One wish of one client.
#[derive(Clone)]
struct Wish {
    client: u32,
    resource: u64,
    limit: Option<u32>,
    begin: u64,
    placed: Option<u64>,
    fence: u64,
    present: bool,
    called: Option<u64>,
    passed_over: bool,
    seen: Seen,
    deadline: u64,
    /// Until when its owner believes, and since when.
    believes: (u64, u64),
    renewals_left: u64,
    over: bool,
}

pub struct Lock {
    plan: Plan,
    chance: Chance,
    now: u64,
    agenda: BinaryHeap<Reverse<(u64, u64, Event)>>,
    wishes: HashMap<u64, Wish>,
    queues: HashMap<u64, Vec<u64>>,
    holders: HashMap<u64, Vec<u64>>,
    highest: HashMap<u64, (u64, u64)>,
    /// When each resource is looked at again by itself.
    settles: HashMap<u64, u64>,
    next_claim: u64,
    next_fence: u64,
    pub history: Vec<Entry>,
}

pub fn history(plan: Plan) -> Vec<Entry> {
    let mut lock = Lock {
        plan,
        chance: Chance::new(plan.seed),
        now: 0,
        agenda: BinaryHeap::new(),
        wishes: HashMap::new(),
        queues: HashMap::new(),
        holders: HashMap::new(),
        highest: HashMap::new(),
        settles: HashMap::new(),
        next_claim: 1_000,
        next_fence: 0,
        history: Vec::new(),
    };
    for client in 0..plan.clients {
        lock.later(u64::from(client), Event::Idle);
    }
    while lock.history.len() < plan.entries {
        let Reverse((now, whose, event)) = lock.agenda.pop().unwrap();
        lock.now = now;
        lock.happens(whose, event);
    }
    lock.history
}

impl Lock {
    fn later(&mut self, whose: u64, event: Event) {
        let delay = self.chance.between(1, 60);
        self.at(self.now + delay, whose, event);
    }

    fn at(&mut self, at: u64, whose: u64, event: Event) {
        self.agenda.push(Reverse((at, whose, event)));
    }

    fn settle_at(&mut self, at: u64, resource: u64) {
        if self.settles.get(&resource).is_none_or(|&planned| at < planned) {
            self.settles.insert(resource, at);
            self.at(at, resource, Event::Settle);
        }
    }

    fn trouble(&mut self) -> bool {
        self.chance.percent(self.plan.trouble)
    }

    fn tell(&mut self, claim: u64, begin: u64, end: Option<u64>, what: What) {
        let wish = &self.wishes[&claim];
        let resource = format!("r{}", wish.resource);
        self.history.push(Entry { client: wish.client, resource, begin, end, what });
    }

    fn happens(&mut self, whose: u64, event: Event) {
        match event {
            Event::Idle => self.begin(whose as u32),
            Event::Settle if self.settles.get(&whose) != Some(&self.now) => {}
            Event::Settle => {
                self.settles.remove(&whose);
                self.settle(whose);
            }
            Event::Register => {
                let wish = self.wishes.get_mut(&whose).unwrap();
                let resource = wish.resource;
                wish.placed = Some(self.now + self.chance.between(1, 60));
                self.queues.entry(resource).or_default().push(whose);
                self.settle(resource);
            }
            Event::Granted => self.learns(whose),
            Event::GiveUp => self.gives_up(whose),
            Event::Hold => self.hold(whose),
            Event::Renew { begin } => self.renew(whose, begin),
            Event::Release { begin, waits } => self.release(whose, begin, waits),
            Event::Back => {
                let wish = self.wishes.get_mut(&whose).unwrap();
                wish.present = true;
                let resource = wish.resource;
                self.settle(resource);
            }
        }
    }

    fn begin(&mut self, client: u32) {
        let claim = self.next_claim;
        self.next_claim += 1;
        let wish = Wish {
            client,
            resource: self.chance.between(0, self.plan.resources),
            limit: *self.chance.pick(self.plan.limits),
            begin: self.now,
            placed: None,
            fence: 0,
            present: true,
            called: None,
            passed_over: false,
            seen: Seen::Waiting,
            deadline: 0,
            believes: (0, 0),
            renewals_left: self.chance.between(0, 8),
            over: false,
        };
        self.wishes.insert(claim, wish);
        self.later(claim, Event::Register);
        if self.trouble() {
            let at = self.now + self.chance.between(100, 3 * TTL);
            self.at(at, claim, Event::GiveUp);
        }
        if self.trouble() {
            self.wishes.get_mut(&claim).unwrap().present = false;
            let at = self.now + self.chance.between(100, 5 * TTL);
            self.at(at, claim, Event::Back);
        }
    }

    /// Serves whoever can be served, strictly in turn.
    fn settle(&mut self, resource: u64) {
        let mut place = 0;
        while let Some(&claim) = self.queues.entry(resource).or_default().get(place) {
            if !self.has_room(resource, self.wishes[&claim].limit) {
                let holders = self.holders.entry(resource).or_default();
                let overdue =
                    holders.iter().position(|holder| self.wishes[holder].deadline <= self.now);
                let Some(overdue) = overdue else {
                    // A turn does not run out while it is not theirs.
                    for waiter in &self.queues[&resource][place..] {
                        let wish = self.wishes.get_mut(waiter).unwrap();
                        wish.called = wish.called.filter(|_| wish.passed_over);
                    }
                    let next = holders.iter().map(|holder| self.wishes[holder].deadline).min();
                    self.settle_at(next.unwrap(), resource);
                    return;
                };
                let gone = holders.remove(overdue);
                self.wishes.get_mut(&gone).unwrap().seen = Seen::Ended;
                continue;
            }
            let wish = self.wishes.get_mut(&claim).unwrap();
            if !wish.present {
                let called = *wish.called.get_or_insert(self.now);
                if self.now < called + TTL {
                    self.settle_at(called + TTL, resource);
                    return;
                }
                wish.passed_over = true;
                place += 1;
                continue;
            }
            self.next_fence += 1;
            (wish.seen, wish.fence, wish.deadline) =
                (Seen::Active, self.next_fence, self.now + TTL);
            wish.believes.1 = self.now + TTL / 10 * 9;
            self.queues.get_mut(&resource).unwrap().remove(place);
            self.holders.entry(resource).or_default().push(claim);
            self.later(claim, Event::Granted);
        }
    }

    fn has_room(&self, resource: u64, limit: Option<u32>) -> bool {
        let Some(holders) = self.holders.get(&resource) else { return true };
        let limits = holders.iter().map(|holder| self.wishes[holder].limit);
        let smallest = limits.chain([limit]).flatten().min();
        smallest.is_none_or(|smallest| holders.len() < smallest as usize)
    }

    fn learns(&mut self, claim: u64) {
        let wish = self.wishes[&claim].clone();
        if wish.over {
            return;
        }
        let lost = self.trouble();
        let outcome = match lost {
            true => Acquired::Unknown,
            false => Acquired::Granted { claim, fence: wish.fence },
        };
        let end = (!lost || self.chance.percent(50)).then_some(self.now);
        // Who knows its place tells it; who was served at once has none.
        let placed = wish.placed.filter(|&placed| placed < self.now);
        self.tell(
            claim,
            wish.begin,
            end,
            What::Acquire { ttl: TTL, limit: wish.limit, placed, outcome },
        );
        match lost {
            false => {
                self.wishes.get_mut(&claim).unwrap().believes.0 = self.now;
                self.later(claim, Event::Hold);
            }
            // Its owner may try to clear away what it may have left.
            true if self.chance.percent(50) => self.stop(claim),
            true => self.leave(claim),
        }
    }

    fn gives_up(&mut self, claim: u64) {
        let wish = self.wishes[&claim].clone();
        if wish.over || wish.believes.0 > 0 {
            return;
        }
        let (ttl, limit, placed) = (TTL, wish.limit, wish.placed);
        let what = What::Acquire { ttl, limit, placed, outcome: Acquired::Refused };
        self.tell(claim, wish.begin, Some(self.now), what);
        self.wishes.get_mut(&claim).unwrap().over = true;
        // It is withdrawn after it was registered.
        let at = self.now + 61;
        self.at(at, claim, Event::Release { begin: self.now, waits: true });
    }

    fn hold(&mut self, claim: u64) {
        let wish = self.wishes[&claim].clone();
        if self.now < wish.believes.1 && self.chance.percent(60) {
            self.act(claim);
        }
        if self.chance.percent(20) {
            self.look(wish.resource);
        }
        if self.trouble() && self.chance.percent(30) {
            return self.leave(claim);
        }
        if wish.renewals_left == 0 || self.now >= wish.believes.1 {
            return self.stop(claim);
        }
        self.wishes.get_mut(&claim).unwrap().renewals_left -= 1;
        let asleep = if self.trouble() { 2 * TTL } else { TTL / 3 };
        let begin = self.now + self.chance.between(1, asleep);
        let arrives = begin + self.chance.between(1, 60);
        self.at(arrives, claim, Event::Renew { begin });
    }

    fn renew(&mut self, claim: u64, begin: u64) {
        let now = self.now;
        let wish = self.wishes.get_mut(&claim).unwrap();
        let active = wish.seen == Seen::Active;
        if active {
            wish.deadline = now + TTL;
        }
        let lost = self.trouble();
        let outcome = match (lost, active) {
            (true, _) => Told::Unknown,
            (false, true) => Told::Done,
            (false, false) => Told::Refused,
        };
        let wish = self.wishes.get_mut(&claim).unwrap();
        if outcome == Told::Done && now < wish.believes.1 {
            wish.believes.1 = begin + TTL / 10 * 9;
        }
        let end = now + self.chance.between(1, 60);
        self.tell(claim, begin, Some(end), What::Renew { claim, outcome });
        match outcome {
            Told::Refused => self.leave(claim),
            Told::Done | Told::Unknown => self.at(end, claim, Event::Hold),
        }
    }

    fn stop(&mut self, claim: u64) {
        self.believed(claim);
        let arrives = self.now + self.chance.between(1, 60);
        self.at(arrives, claim, Event::Release { begin: self.now, waits: false });
    }

    fn release(&mut self, claim: u64, begin: u64, waits: bool) {
        let wish = self.wishes[&claim].clone();
        let done = wish.seen == Seen::Active || (waits && wish.seen == Seen::Waiting);
        self.wishes.get_mut(&claim).unwrap().seen = Seen::Ended;
        self.holders.entry(wish.resource).or_default().retain(|&holder| holder != claim);
        self.queues.entry(wish.resource).or_default().retain(|&waiter| waiter != claim);
        let lost = self.trouble();
        let outcome = match (lost, done) {
            (true, _) => Told::Unknown,
            (false, true) => Told::Done,
            (false, false) => Told::Refused,
        };
        let end = self.now + self.chance.between(1, 60);
        self.tell(claim, begin, Some(end), What::Release { claim, outcome });
        self.settle(wish.resource);
        self.at(end, u64::from(wish.client), Event::Idle);
        self.wishes.get_mut(&claim).unwrap().over = true;
    }

    /// It does nothing more with its claim, and begins anew.
    fn leave(&mut self, claim: u64) {
        self.believed(claim);
        self.wishes.get_mut(&claim).unwrap().over = true;
        let client = u64::from(self.wishes[&claim].client);
        self.later(client, Event::Idle);
    }

    fn believed(&mut self, claim: u64) {
        let Wish { believes: (from, until), fence, limit, .. } = self.wishes[&claim];
        let until = until.min(self.now);
        if from > 0 && from < until {
            self.tell(claim, from, Some(until), What::Belief { claim, fence, limit });
        }
    }

    /// The witness lets nothing late through.
    fn act(&mut self, claim: u64) {
        let wish = self.wishes[&claim].clone();
        let (highest, highest_alone) = self.highest.entry(wish.resource).or_default();
        let alone = wish.limit == Some(1);
        let landed = wish.fence >= if alone { *highest } else { *highest_alone };
        if landed {
            *highest = (*highest).max(wish.fence);
            if alone {
                *highest_alone = (*highest_alone).max(wish.fence);
            }
        }
        let at = self.now;
        self.tell(claim, at, Some(at), What::Effect { fence: wish.fence, landed });
    }

    fn look(&mut self, resource: u64) {
        let claim = self.chance.between(1_000, self.next_claim);
        if let Some(wish) = self.wishes.get(&claim)
            && wish.resource == resource
            && wish.placed.is_some_and(|placed| placed < self.now)
        {
            let seen = Some(wish.seen);
            let (before, after) = (self.chance.between(0, 30), self.chance.between(0, 30));
            let (begin, end) = (self.now.saturating_sub(before), Some(self.now + after));
            self.tell(claim, begin, end, What::Look { claim, seen });
        }
    }
}
