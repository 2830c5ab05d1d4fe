//! In a queue so long that places in it are counted ahead of time, everybody is told the place it has and who
//! holds what it waits for.
#![allow(clippy::unwrap_used, reason = "what cannot fail here fails the test if it does")]

use std::collections::BTreeSet;

use claims::engine::{Part, Shelf};
use claims::{
    ClaimId, Command, Counters, Farewell, KeyHash, Limit, Name, Owner, Refusal, Registration,
    Resources, Rules, Span, Stamp, State, Timestamp, Ttl, WallTime, engine,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// More than a chunk of a queue takes.
const WAITERS: u64 = 8_400;
/// Who comes while the others wait.
const NEWCOMERS: u64 = 8;

#[derive(Debug, Clone)]
enum Act {
    Register(Vec<&'static str>),
    /// One at a time, as a store that has nothing else to do is asked.
    Ask(u64),
    Withdraw(u64),
    Release(u64),
    Pass(Span),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    // Those in front, where something happens, those who came last, or anybody.
    let anybody = || prop_oneof![1..12u64, WAITERS..WAITERS + NEWCOMERS, 1..WAITERS];
    let names = prop::sample::subsequence(&["long", "short"][..], 1..=2);
    let span = prop_oneof![Just(Span::from_secs(7_100)), (0..200u64).prop_map(Span::from_secs)];
    let act = prop_oneof![
        3 => names.prop_map(Act::Register),
        8 => anybody().prop_map(Act::Ask),
        2 => anybody().prop_map(Act::Withdraw),
        2 => (1..12u64).prop_map(Act::Release),
        2 => span.prop_map(Act::Pass),
    ];
    prop::collection::vec(act, 0..40)
}

#[derive(Clone)]
struct Store {
    state: State,
    now: Timestamp,
}

impl Store {
    /// One holds, and all others wait for the same.
    fn crowded(events_max: usize) -> Self {
        let rules = Rules { events_max, called_max: 1, ..Rules::default() };
        let mut store = Self { state: State::new(rules), now: Timestamp::ZERO };
        (0..WAITERS).for_each(|_| store.execute(store.registration(&["long"])).map(drop).unwrap());
        store
    }

    fn take(&mut self, act: &Act) -> Result<(), TestCaseError> {
        let owner = |claim: u64| Owner { claim: ClaimId(claim), key: key(claim) };
        let command = match act {
            Act::Register(names) => self.registration(names),
            Act::Ask(claim) => Command::Activate(owner(*claim)),
            Act::Withdraw(claim) => Command::End(owner(*claim), Farewell::Withdraw),
            Act::Release(claim) => Command::End(owner(*claim), Farewell::Release),
            Act::Pass(span) => {
                self.now = self.now + *span;
                return Ok(());
            }
        };
        if let Err(Refusal::StillWaiting { claim, position, holders }) = self.execute(command) {
            prop_assert_eq!(position, self.place(claim));
            prop_assert_eq!(holders.into_iter().collect::<BTreeSet<_>>(), self.holders(claim));
        }
        Ok(())
    }

    fn execute(&mut self, command: Command) -> Result<claims::Standing, Refusal> {
        let stamp = Stamp { at: self.now, wall: WallTime::default() };
        engine::foresee(&self.state, [&command]);
        engine::execute(&mut self.state, command, stamp, &mut Vec::new())
    }

    /// Found by walking along the queues.
    fn place(&self, id: ClaimId) -> usize {
        let claim = self.state.claim(id).unwrap();
        let place = |name| self.state.queue(name).take_while(|other| other.id <= id).count();
        claim.resources.as_slice().iter().map(place).max().unwrap()
    }

    fn holders(&self, id: ClaimId) -> BTreeSet<ClaimId> {
        let names = self.state.claim(id).unwrap().resources.as_slice();
        names.iter().flat_map(|name| self.state.holders(name)).map(|holder| holder.id).collect()
    }

    fn registration(&self, names: &[&str]) -> Command {
        let names: Vec<_> = names.iter().map(|name| Name::new(name).unwrap()).collect();
        Command::Register(Registration {
            key: key(self.state.counters().next_claim.0),
            resources: Resources::try_from(names).unwrap(),
            limit: Limit::EXCLUSIVE,
            ttl: Ttl::new(Span::from_secs(60)).unwrap(),
            data: None,
        })
    }
}

fn key(claim: u64) -> KeyHash {
    KeyHash(u128::from(claim).to_le_bytes())
}

fn config() -> Config {
    let (cases, rng_seed) = (150, RngSeed::Fixed(5));
    Config { cases, rng_seed, failure_persistence: None, ..Config::default() }
}

#[test]
fn everybody_in_a_long_queue_is_told_its_place_and_who_holds() {
    // With few events for a command, others go while somebody asks.
    let stores = [4, 64].map(Store::crowded);
    let history = (prop::sample::select(&[0, 1][..]), acts());
    proptest::test_runner::TestRunner::new(config())
        .run(&history, |(nth, acts)| {
            let mut store = stores[nth].clone();
            acts.iter().try_for_each(|act| store.take(act))
        })
        .unwrap();
}

/// Of a database only the head of a queue is loaded, and the others count.
#[test]
fn who_asks_in_a_part_of_a_long_queue_is_told_its_place_in_the_whole() {
    const LOADED: usize = 200;
    let mut store = Store { state: State::new(Rules::default()), now: Timestamp::ZERO };
    for nth in 1..=LOADED as u64 {
        // Far apart, as the others would be between them.
        let counters = Counters { next_claim: ClaimId(nth * 1_000), ..store.state.counters() };
        let claims: Vec<_> = store.state.claims_after(None).cloned().collect();
        store.state = State::restore(Rules::default(), counters, claims);
        store.execute(store.registration(&["long"])).unwrap();
    }
    let asker = ClaimId(LOADED as u64 * 1_000);
    let part = Part {
        counters: store.state.counters(),
        claims: store.state.claims_after(None).cloned().collect(),
        resources: vec![Shelf {
            name: Name::new("long").unwrap(),
            waiting: 5_000,
            ahead: Some(3_000),
            last: Some(ClaimId(100_000)),
        }],
    };
    let ask = Command::Activate(Owner { claim: asker, key: key(asker.0) });
    let done = engine::execute_part(&Rules::default(), part, ask, Stamp::default()).unwrap();
    let holders = vec![ClaimId(1_000)];
    let expected = Refusal::StillWaiting { claim: asker, position: 3_001, holders };
    assert_eq!(done.answer, Err(expected));
}
