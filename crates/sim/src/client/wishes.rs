//! What clients want, and how they stop wanting it.

use std::rc::Rc;

use claims::{
    Data, Farewell, KeyHash, Limit, Name, Registration, Resources, Span, Status, Timestamp, Ttl,
};

use super::lease::Lease;
use super::{Client, Desk, Keeper, Pursuit, Stage};
use crate::clock::Local;
use crate::message::Wish;
use crate::rng::Rng;
use crate::story::{Note, Stop};

impl Client {
    pub(super) fn make_a_wish(&mut self, desk: &mut Desk<'_>) {
        let rng = &mut self.rng;
        let load = desk.load;
        let mut resources: Vec<usize> = vec![rng.index(load.resources)];
        if rng.permille(load.several) {
            let first = resources[0];
            resources.extend((0..load.resources).filter(|&nth| nth != first));
            resources.truncate(rng.between(1, 3) as usize);
        }
        let names: Vec<Name> = resources.iter().map(|&nth| desk.names[nth].clone()).collect();
        let limit = match rng.below(1_000) {
            luck if luck < load.shared => Limit::SHARED,
            luck if luck < load.shared + load.semaphore => {
                Limit::at_most(rng.between(2, 3) as u32).expect("more than none")
            }
            _ => Limit::EXCLUSIVE,
        };
        let registration = Registration {
            key: draw_key(rng),
            resources: Resources::try_from(names).expect("a few different names"),
            limit,
            ttl: Ttl::new(rng.span(load.ttl)).expect("far below the longest"),
            data: draw_data(rng, load.data_bytes),
        };
        let number = desk.post.next_wish;
        desk.post.next_wish += 1;
        desk.story.tell(
            desk.now,
            Note::Wishes {
                client: self.id,
                resources: resources.iter().fold(0, |mask, &nth| mask | 1 << nth),
                limit: limit.count(),
                ttl: registration.ttl.span(),
            },
        );
        let at = self.lease_now(desk.now);
        let local = self.clock.read(desk.now);
        let rng = &mut self.rng;
        self.pursuit = Some(Pursuit {
            owner: None,
            stage: Stage::Asking,
            lease: Lease::asked_for(registration.ttl, at),
            waits_open: rng.permille(load.waits_open),
            abandons: rng.permille(load.abandons),
            impatient: rng.permille(load.impatient),
            changes_ttl: rng.permille(load.changes_ttl),
            keeper: rng
                .permille(load.has_keeper)
                .then(|| Keeper { key: draw_key(rng), appointed: false }),
            next_ask: local,
            until: local + rng.spread(load.patience),
            tries: 0,
            wish: Rc::new(Wish { number, registration, resources }),
        });
    }

    /// It took too long.
    pub(super) fn give_up(&mut self, desk: &mut Desk<'_>) {
        let abandons = self.pursuit.as_ref().is_some_and(|pursuit| pursuit.abandons);
        if abandons {
            desk.story.tell(desk.now, Note::Stops(self.id, Stop::WalksAway));
            self.drop_pursuit(desk);
        } else {
            self.end(Farewell::Withdraw, desk);
        }
    }

    /// Its lease ran out before a renewal was confirmed.
    pub(super) fn lose(&mut self, desk: &mut Desk<'_>) {
        desk.story.tell(desk.now, Note::Stops(self.id, Stop::LeaseOver));
        match self.rng.coin() {
            true => self.end(Farewell::Abort, desk),
            false => self.drop_pursuit(desk),
        }
    }

    /// It stops believing first, and asks for the ending then.
    pub(super) fn end(&mut self, farewell: Farewell, desk: &mut Desk<'_>) {
        let pursuit = self.pursuit.as_mut().expect("only a pursuit is ended");
        pursuit.stage = Stage::Ending(farewell);
        pursuit.tries = 0;
        pursuit.until = Local::NEVER;
        self.ask(desk);
    }

    /// Back to idleness.
    pub(super) fn drop_pursuit(&mut self, desk: &mut Desk<'_>) {
        self.pursuit = None;
        self.forget_sent(desk.post);
        let pause: Span = self.rng.spread(desk.load.think);
        self.idle_until = self.now(desk.now) + pause;
    }

    /// It was told that its claim is over.
    pub(super) fn told_over(&mut self, status: Option<&'static str>, desk: &mut Desk<'_>) {
        let expired = status != Some(Status::Released.as_str());
        let holding = self.pursuit.as_ref().map(|pursuit| pursuit.stage) == Some(Stage::Holding);
        if expired && holding {
            desk.story.tell(desk.now, Note::Stops(self.id, Stop::ToldSo));
        }
        self.drop_pursuit(desk);
    }

    fn now(&self, now: Timestamp) -> Local {
        self.clock.read(now)
    }
}

/// For a planted bug.
pub(super) fn under_another_key(wish: &Wish, rng: &mut Rng) -> Rc<Wish> {
    Rc::new(Wish {
        number: wish.number,
        registration: Registration { key: draw_key(rng), ..wish.registration.clone() },
        resources: wish.resources.clone(),
    })
}

fn draw_key(rng: &mut Rng) -> KeyHash {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&rng.word().to_le_bytes());
    key[8..].copy_from_slice(&rng.word().to_le_bytes());
    KeyHash(key)
}

fn draw_data(rng: &mut Rng, most: u64) -> Option<Data> {
    let len = rng.below(most + 1) as usize;
    (len > 0).then(|| Data::new(&"x".repeat(len)).expect("far below the most allowed"))
}
