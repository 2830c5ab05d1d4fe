//! A snapshot is of one moment, however slowly it is read.
#![allow(clippy::unwrap_used, reason = "what cannot fail here fails the test if it does")]

use claims::{
    ClaimId, Command, Farewell, KeyHash, Limit, Name, Owner, Record, Registration, Resources,
    Rules, Span, Stamp, State, Timestamp, Ttl, WallTime, engine,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// What may happen while a cut is read.
#[derive(Debug, Clone)]
enum Act {
    Register { name: u8 },
    Poll(u64),
    Renew(u64),
    End(u64),
    Appoint(u64),
    Pass(u64),
    Sweep,
    Resume,
    BeginEpoch,
    Read(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => (0..4u8).prop_map(|name| Act::Register { name }),
        3 => (1..40u64).prop_map(Act::Poll),
        2 => (1..40u64).prop_map(Act::Renew),
        4 => (1..40u64).prop_map(Act::End),
        2 => (1..40u64).prop_map(Act::Appoint),
        3 => (0..90u64).prop_map(Act::Pass),
        2 => Just(Act::Sweep),
        1 => Just(Act::Resume),
        1 => Just(Act::BeginEpoch),
        3 => (0..4usize).prop_map(Act::Read),
    ];
    prop::collection::vec(act, 0..80)
}

struct Store {
    state: State,
    now: Timestamp,
    read: Vec<Record>,
}

impl Store {
    fn take(&mut self, act: &Act) {
        let stamp = Stamp { at: self.now, wall: WallTime::default() };
        let (state, mut events) = (&mut self.state, Vec::new());
        let owner = |claim: u64| Owner { claim: ClaimId(claim), key: KeyHash([claim as u8; 16]) };
        let command = match *act {
            Act::Register { name } => Command::Register(Registration {
                key: KeyHash([state.counters().next_claim.0 as u8; 16]),
                resources: Resources::one(Name::new(&name.to_string()).unwrap()),
                limit: Limit::EXCLUSIVE,
                ttl: Ttl::new(Span::from_secs(30)).unwrap(),
                data: None,
            }),
            Act::Poll(claim) => Command::Activate(owner(claim)),
            Act::Renew(claim) => Command::Renew(owner(claim), None),
            Act::End(claim) => Command::End(owner(claim), Farewell::Abort),
            Act::Appoint(claim) => Command::Appoint(owner(claim), KeyHash([200; 16])),
            Act::Pass(secs) => return self.now = self.now + Span::from_secs(secs),
            Act::Sweep => return engine::sweep(state, stamp, &mut events),
            Act::Resume => return engine::resume(state, stamp, &mut events),
            Act::BeginEpoch => {
                assert!(engine::begin_epoch(state, stamp, &mut events));
                return;
            }
            Act::Read(count) => {
                state.read_cut(count, |record| self.read.push(record.cloned()));
                return;
            }
        };
        let _yes_or_no = engine::execute(state, command, stamp, &mut events);
    }
}

fn config() -> Config {
    let (cases, rng_seed) = (300, RngSeed::Fixed(7));
    Config { cases, rng_seed, failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn cut_is_the_state_at_its_moment(before in acts(), after in acts()) {
        let rules = Rules { retain: Span::from_secs(60), ..Rules::default() };
        let mut store = Store { state: State::new(rules), now: Timestamp::ZERO, read: Vec::new() };
        for act in &before {
            store.take(act);
        }
        store.read.clear();
        let then: Vec<Record> = store.state.records_after(None).map(Record::cloned).collect();
        store.state.begin_cut();
        for act in &after {
            store.take(act);
        }
        while store.state.read_cut(3, |record| store.read.push(record.cloned())) {}
        prop_assert_eq!(store.read, then);
        prop_assert!(!store.state.read_cut(1, |_| unreachable!("the cut is over")));
    }
}

#[test]
fn cut_that_was_given_up_is_not_read() {
    let mut store =
        Store { state: State::new(Rules::default()), now: Timestamp::ZERO, read: Vec::new() };
    store.take(&Act::Register { name: 0 });
    store.state.begin_cut();
    store.state.end_cut();
    store.take(&Act::Read(1));
    assert!(store.read.is_empty());
}
