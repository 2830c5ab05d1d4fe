//! What clients want.

use std::rc::Rc;

use claims::claimant::{Backoff, Claimant, Patience, Terms, Timing};
use claims::{Data, KeyHash, Limit, Name, Registration, Resources, Span, Ttl};

use super::{Client, Desk, Keeper, Pursuit};
use crate::message::Wish;
use crate::rng::Rng;
use crate::story::Note;
use crate::swarm::Load;

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
        let local = self.clock.read(desk.now);
        let rng = &mut self.rng;
        let patience = rng.spread(load.patience);
        let waits_open = rng.permille(load.waits_open);
        let terms = Terms {
            patience: match rng.permille(load.impatient) {
                true if rng.coin() => Patience::Try(patience),
                true => Patience::For(patience),
                false => Patience::Forever,
            },
            timing: timing(load, waits_open),
            planted: self.bugs.claimant,
            ..Terms::new(registration.ttl)
        };
        self.pursuit = Some(Pursuit {
            claimant: Claimant::new(terms),
            abandons_at: rng.permille(load.abandons).then(|| local + patience),
            works_until: None,
            signalled: rng.permille(load.signalled),
            changes_ttl: rng.permille(load.changes_ttl),
            ttl: registration.ttl,
            keeper: rng
                .permille(load.has_keeper)
                .then(|| Keeper { key: draw_key(rng), appointed: false }),
            sent: Vec::new(),
            wish: Rc::new(Wish { number, registration, resources }),
        });
    }

    /// Back to idleness.
    pub(super) fn rest(&mut self, desk: &mut Desk<'_>) {
        self.forget(desk.post);
        let pause: Span = self.rng.spread(desk.load.think);
        self.idle_until = self.clock.read(desk.now) + pause;
    }
}

/// How claimants wait and try again in this world.
fn timing(load: &Load, waits_open: bool) -> Timing {
    let (first, most) = load.poll;
    let backoff = Backoff { first, most };
    let quick = Backoff { first: Span::from_millis(20), most: first };
    Timing {
        answer: load.timeout,
        wait: waits_open.then_some(load.wait),
        poll: backoff,
        register: backoff,
        activate: backoff,
        renew: quick,
        release: quick,
        withdraw: backoff,
        abort: quick,
        farewell: Span::from_micros(load.timeout.as_micros() * 5),
        ..Timing::default()
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
