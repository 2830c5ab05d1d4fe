//! The engine and the reference, side by side.

use claims::{
    Claim, ClaimId, Command, Event, Farewell, Fence, KeyHash, Limit, Name, Owner, Phase, Record,
    Refusal, Registration, Resources, Rules, Span, Stamp, State, Timestamp, Ttl, Turn, WallTime,
    engine,
};
use proptest::prelude::*;

use super::act::{Act, Key, NAMES, Who, Wish};
use super::parts;
use crate::reference::{self, Answer, Model, QUEUE_MAX, Terms, Time};

type Outcome = Result<(), TestCaseError>;

pub(crate) struct Twin {
    state: State,
    /// Made from the events alone.
    replayed: State,
    model: Model,
    now: Time,
    /// The engine's number for each claim of the model.
    ids: Vec<ClaimId>,
    /// The greatest fence ever given on each resource.
    fences: [Fence; NAMES.len()],
    /// Fences given since the last comparison.
    given: Vec<(ClaimId, Fence)>,
    /// How many in line are loaded at first, if commands run on a part of the state.
    depth: Option<usize>,
    /// What the last command looked at then.
    looked_at: Vec<ClaimId>,
}

/// The steps.
impl Twin {
    pub(crate) fn new(rules: Rules) -> Self {
        // The reference forgets nothing.
        let (retain, ended_max) = (Span::FOREVER, usize::MAX / 2);
        let rules = Rules { retain, ended_max, queue_max: QUEUE_MAX, ..rules };
        Self {
            model: Model::default(),
            state: State::new(rules.clone()),
            replayed: State::new(rules),
            now: 0,
            ids: Vec::new(),
            fences: [Fence(0); NAMES.len()],
            given: Vec::new(),
            depth: None,
            looked_at: Vec::new(),
        }
    }

    /// Runs each command on no more of the state than it needs, as a database does. Nobody is there all
    /// the time then: a database cannot see who waits.
    pub(crate) fn in_parts(rules: Rules, depth: usize) -> Self {
        Self { depth: Some(depth), ..Self::new(rules) }
    }

    /// Takes one step on both sides, and compares whatever can be seen.
    pub(crate) fn take(&mut self, act: &Act) -> Outcome {
        if !matches!(act, Act::Pass(_) | Act::Sweep | Act::BeginEpoch) {
            self.model.reach(self.now);
        }
        match act {
            Act::Register(wish) => self.register(terms(1_000 + self.ids.len() as u64, wish)),
            Act::RegisterAgain(back) => {
                let Some(claim) = self.claim_or_oldest(*back) else { return Ok(()) };
                self.register(claim.terms.clone())
            }
            Act::RegisterUnder(back, wish) => {
                let Some(claim) = self.claim_or_oldest(*back) else { return Ok(()) };
                self.register(terms(claim.terms.key, wish))
            }
            Act::Poll(who) => self.poll(*who),
            Act::Wait(who) if self.depth.is_some() => self.poll(*who),
            Act::Wait(who) => self.poll(*who).map(|()| self.attend(*who)),
            Act::Leave(who) => {
                let (nth, key, owner) = self.owner(*who);
                let expected = self.model.leave(nth, key);
                self.ask(Command::Leave(owner), expected)
            }
            Act::Renew(who, to) => {
                let (nth, key, owner) = self.owner(*who);
                let expected = self.model.renew(nth, key, *to);
                self.ask(Command::Renew(owner, to.map(ttl)), expected)
            }
            Act::End(who, farewell) => {
                let (nth, key, owner) = self.owner(*who);
                let expected = self.model.end(nth, Some(key), how(*farewell));
                self.ask(Command::End(owner, *farewell), expected)
            }
            Act::Appoint(who, keeper) => {
                let (nth, key, owner) = self.owner(*who);
                let expected = self.model.appoint(nth, key, *keeper);
                self.ask(Command::Appoint(owner, key_hash(*keeper)), expected)
            }
            Act::Revoke(back) => {
                let (nth, _, owner) = self.owner(Who { back: *back, key: Key::Own });
                let expected = self.model.end(nth, None, "revoked");
                self.ask(Command::Revoke(owner.claim), expected)
            }
            Act::Pass(span) => {
                self.now += span;
                Ok(())
            }
            Act::Sweep => {
                self.sweep();
                Ok(())
            }
            Act::Restart => self.restart(),
            Act::BeginEpoch => {
                let began = self.change(engine::begin_epoch);
                prop_assert!(began, "epochs do not run out here");
                Ok(())
            }
        }
    }

    fn register(&mut self, terms: Terms) -> Outcome {
        let registration = registration(&terms);
        let expected = self.model.register(terms);
        self.ask(Command::Register(registration), expected)
    }

    fn poll(&mut self, who: Who) -> Outcome {
        let (nth, key, owner) = self.owner(who);
        let expected = self.model.poll(nth, key);
        self.ask(Command::Activate(owner), expected)
    }

    fn attend(&mut self, who: Who) {
        if let (nth, Key::Own) = (self.owner(who).0, who.key)
            && let Some(claim) = self.model.claims.get_mut(nth)
            && matches!(claim.phase, reference::Phase::Waiting { .. })
        {
            claim.there = true;
            self.state.attend(self.ids[nth]);
        }
    }

    /// The reference knows nothing of sweeps. But an open wait is granted when somebody looks, and
    /// its lease runs from then: so with one open, the reference looks at the same moment.
    fn sweep(&mut self) {
        self.change(engine::sweep);
        if self.model.claims.iter().any(|claim| claim.there) {
            self.model.reach(self.now);
        }
    }

    /// What ended before the store went down has ended, if anybody noticed. Here somebody did.
    fn restart(&mut self) -> Outcome {
        self.change(engine::sweep);
        self.state = self.restored();
        self.change(engine::resume);
        self.model.resume();
        self.compare()?;
        prop_assert!(self.restored() == self.state, "the claims are all there is");
        Ok(())
    }

    fn ask(&mut self, command: Command, expected: Answer) -> Outcome {
        let told = format!("{command:?}");
        let depth = self.depth;
        let mut looked_at = Vec::new();
        let answer = self.change(|state, stamp, events| match depth {
            Some(depth) => parts::execute(state, command, stamp, events, depth, &mut looked_at),
            None => engine::execute(state, command, stamp, events),
        });
        self.looked_at = looked_at;
        match (answer, expected) {
            (Ok(standing), Ok(nth)) => {
                if nth == self.ids.len() {
                    self.ids.push(standing.claim.id);
                }
                prop_assert_eq!(standing.claim.id, self.ids[nth], "{}", told);
                let place = standing.place.map(|place| place.position);
                let waits = place.is_some();
                let expected = self.model.position(nth).filter(|_| waits);
                prop_assert_eq!(place, expected, "{}", told);
            }
            (Err(Refusal::StillWaiting { claim, position, .. }), Err("still-waiting")) => {
                let nth = self.ids.iter().position(|&id| id == claim).expect("it is known");
                prop_assert_eq!(Some(position), self.model.position(nth), "{}", told);
            }
            (Err(refusal), Err(code)) => prop_assert_eq!(refusal.code(), code, "{}", told),
            (answer, expected) => {
                let answer = answer.map(|standing| standing.claim);
                prop_assert!(false, "{told}: engine {answer:?}, reference {expected:?}");
            }
        }
        self.compare()
    }

    fn change<T>(&mut self, change: impl FnOnce(&mut State, Stamp, &mut Vec<Event>) -> T) -> T {
        let stamp = Stamp { at: Timestamp::from_micros(self.now), wall: WallTime::default() };
        let mut events = Vec::new();
        let answer = change(&mut self.state, stamp, &mut events);
        for event in &events {
            engine::apply(&mut self.replayed, event, stamp);
            if let Event::Activated { claim, fence, .. } = event {
                self.given.push((*claim, *fence));
            }
        }
        answer
    }

    fn restored(&self) -> State {
        let records = self.state.records_after(None).map(Record::cloned);
        State::restore(self.state.rules().clone(), self.state.counters(), records)
    }
}

/// The comparison.
impl Twin {
    fn compare(&mut self) -> Outcome {
        prop_assert!(self.replayed == self.state, "the events are all that happened");
        if self.depth.is_none() {
            return self.compare_with_the_model();
        }
        // What a command did not reach may be behind: nobody has looked.
        for id in std::mem::take(&mut self.looked_at) {
            let nth = self.ids.iter().position(|&known| known == id).expect("it is known");
            let claim = self.state.claim(id).expect("nothing is forgotten");
            let expected = &self.model.claims[nth];
            prop_assert_eq!(phase(claim), seen_alike(expected.phase), "claim {}", id);
            prop_assert_eq!(claim.keepers().len(), expected.keepers.len(), "claim {}", id);
        }
        self.compare_fences()
    }

    fn compare_with_the_model(&mut self) -> Outcome {
        for (expected, &id) in self.model.claims.iter().zip(&self.ids) {
            let claim = self.state.claim(id).expect("nothing is forgotten");
            prop_assert_eq!(phase(claim), seen_alike(expected.phase), "claim {}", id);
            prop_assert_eq!(claim.keepers().len(), expected.keepers.len(), "claim {}", id);
        }
        for name in NAMES {
            let on = Name::new(name).unwrap();
            let queue: Vec<_> = self.state.queue(&on).map(|claim| claim.id).collect();
            let expected: Vec<_> =
                self.model.queue(name).iter().map(|&nth| self.ids[nth]).collect();
            prop_assert_eq!(queue, expected, "the queue of {}", name);
            // In order of their fences, as each side counts them.
            let mut holders: Vec<_> = self.state.holders(&on).collect();
            holders.sort_by_key(|claim| claim.activation().map(|activation| activation.fence));
            let holders: Vec<_> = holders.iter().map(|claim| claim.id).collect();
            let mut expected = self.model.holders(name);
            expected.sort_by_key(|&nth| self.model.claims[nth].fence);
            let expected: Vec<_> = expected.iter().map(|&nth| self.ids[nth]).collect();
            prop_assert_eq!(holders, expected, "the holders of {}", name);
        }
        self.compare_fences()
    }

    /// Rule 8. The order of two activations on different resources is nobody's business.
    fn compare_fences(&mut self) -> Outcome {
        for (claim, fence) in std::mem::take(&mut self.given) {
            let claim = self.state.claim(claim).expect("it was active just now");
            for name in claim.resources.as_slice() {
                let nth = NAMES.iter().position(|on| *on == name.as_str()).expect("one of three");
                prop_assert!(fence > self.fences[nth], "fence {} is not new", fence);
                self.fences[nth] = fence;
            }
        }
        Ok(())
    }

    /// The claim so many before the newest.
    fn nth(&self, back: usize) -> Option<usize> {
        self.ids.len().checked_sub(back + 1)
    }

    fn claim_or_oldest(&self, back: usize) -> Option<&reference::Claim> {
        self.model.claims.get(self.nth(back).unwrap_or(0))
    }

    /// What somebody says it is, on either side.
    fn owner(&self, who: Who) -> (usize, u64, Owner) {
        let nth = self.nth(who.back);
        let own = nth.map_or(0, |nth| self.model.claims[nth].terms.key);
        let key = match who.key {
            Key::Own => own,
            Key::Keeper(keeper) => keeper,
            Key::Stranger => 999,
        };
        let claim = nth.map_or(ClaimId(777_777), |nth| self.ids[nth]);
        (nth.unwrap_or(usize::MAX), key, Owner { claim, key: key_hash(key) })
    }
}

/// When a waiter was last seen is not compared: an open wait is seen all the time, and only the
/// engine writes that down now and then.
fn seen_alike(phase: reference::Phase) -> reference::Phase {
    match phase {
        reference::Phase::Waiting { turn, .. } => {
            reference::Phase::Waiting { seen: 0, gap: 0, turn }
        }
        other @ (reference::Phase::Active { .. } | reference::Phase::Over(_)) => other,
    }
}

fn phase(claim: &Claim) -> reference::Phase {
    match &claim.phase {
        Phase::Waiting(turn) => {
            let turn = match *turn {
                Turn::InLine => reference::Turn::InLine,
                Turn::Called { until } => reference::Turn::Called { until: until.as_micros() },
                Turn::PassedOver => reference::Turn::PassedOver,
            };
            reference::Phase::Waiting { seen: 0, gap: 0, turn }
        }
        Phase::Active(active) => reference::Phase::Active {
            ttl: active.ttl.span().as_micros(),
            deadline: active.deadline.as_micros(),
            graced: active.graced,
        },
        Phase::Ended(_) => reference::Phase::Over(claim.status().as_str()),
    }
}

fn how(farewell: Farewell) -> &'static str {
    match farewell {
        Farewell::Release => "released",
        Farewell::Abort => "aborted",
        Farewell::Withdraw => "withdrawn",
    }
}

fn terms(key: u64, wish: &Wish) -> Terms {
    Terms { key, names: wish.names.clone(), limit: wish.limit, ttl: wish.ttl }
}

fn registration(terms: &Terms) -> Registration {
    let names: Vec<_> = terms.names.iter().map(|name| Name::new(name).unwrap()).collect();
    Registration {
        key: key_hash(terms.key),
        resources: Resources::try_from(names).unwrap(),
        limit: Limit::at_most(terms.limit).unwrap(),
        ttl: ttl(terms.ttl),
        data: None,
    }
}

fn ttl(micros: Time) -> Ttl {
    Ttl::new(Span::from_micros(micros)).unwrap_or(Ttl::UNLIMITED)
}

fn key_hash(key: u64) -> KeyHash {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&key.to_le_bytes());
    KeyHash(bytes)
}
