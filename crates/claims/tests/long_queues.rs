//! In a queue so long that a command is thought about before its claim is looked at, everybody is told the place
//! it has and who holds what it waits for, and the same happens as where nobody thought ahead.
#![allow(clippy::unwrap_used, reason = "what cannot fail here fails the test if it does")]

use std::collections::BTreeSet;

use claims::engine::{Part, Shelf};
use claims::{
    ClaimId, Command, Counters, Event, Farewell, KeyHash, Limit, Name, Owner, Record, Refusal,
    Registration, Resources, Rules, Span, Stamp, Standing, State, Timestamp, Ttl, WallTime, engine,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// More than a chunk of a queue takes.
const WAITERS: u64 = 8_400;
/// Who comes while the others wait.
const NEWCOMERS: u64 = 8;

#[derive(Debug, Clone)]
enum Act {
    Register(Vec<&'static str>, Limit),
    /// One at a time, as a store that has nothing else to do is asked.
    Ask(u64),
    /// Asks about somebody else's.
    Pry(u64),
    Withdraw(u64),
    Release(u64),
    /// Its claimant is there from now on.
    Attend(u64),
    /// Its claimant was there, and goes.
    Leave(u64),
    Pass(Span),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    // Those in front, where something happens, those who came last, or anybody.
    let anybody = || prop_oneof![1..12u64, WAITERS..WAITERS + NEWCOMERS, 1..WAITERS];
    let names = prop::sample::subsequence(&["long", "short"][..], 1..=2);
    let limit = prop::sample::select(&[Limit::EXCLUSIVE, Limit::SHARED][..]);
    let span = prop_oneof![Just(Span::from_secs(7_100)), (0..200u64).prop_map(Span::from_secs)];
    let act = prop_oneof![
        3 => (names, limit).prop_map(|(names, limit)| Act::Register(names, limit)),
        8 => anybody().prop_map(Act::Ask),
        1 => anybody().prop_map(Act::Pry),
        2 => anybody().prop_map(Act::Withdraw),
        2 => (1..12u64).prop_map(Act::Release),
        1 => anybody().prop_map(Act::Attend),
        1 => anybody().prop_map(Act::Leave),
        2 => span.prop_map(Act::Pass),
    ];
    prop::collection::vec(act, 0..40)
}

#[derive(Clone)]
struct Store {
    state: State,
    now: Timestamp,
    /// Whose claimants are there, and some that were.
    present: BTreeSet<ClaimId>,
}

impl Store {
    /// One holds, and all others wait for the same.
    fn crowded(events_max: usize) -> Self {
        let mut store = Self::empty(Rules { events_max, called_max: 1, ..Rules::default() });
        (0..WAITERS).for_each(|_| store.register("long", Limit::EXCLUSIVE));
        store
    }

    fn empty(rules: Rules) -> Self {
        Self { state: State::new(rules), now: Timestamp::ZERO, present: BTreeSet::new() }
    }

    fn register(&mut self, name: &str, limit: Limit) {
        self.execute(self.registration(&[name], limit)).unwrap();
    }

    fn take(&mut self, act: &Act) -> Result<(), TestCaseError> {
        let Some(command) = self.command(act) else {
            return Ok(());
        };
        if let Err(Refusal::StillWaiting { claim, position, holders }) = self.execute(command) {
            prop_assert_eq!(position, self.place(claim));
            prop_assert_eq!(holders.into_iter().collect::<BTreeSet<_>>(), self.holders(claim));
        }
        Ok(())
    }

    /// What is asked of the store, unless time just passes.
    fn command(&mut self, act: &Act) -> Option<Command> {
        let owner = |claim: u64| Owner { claim: ClaimId(claim), key: key(claim) };
        match act {
            Act::Register(names, limit) => Some(self.registration(names, *limit)),
            Act::Ask(claim) => Some(Command::Activate(owner(*claim))),
            Act::Pry(claim) => {
                let claim = ClaimId(*claim);
                Some(Command::Activate(Owner { claim, key: key(claim.0 + 1) }))
            }
            Act::Withdraw(claim) => Some(Command::End(owner(*claim), Farewell::Withdraw)),
            Act::Release(claim) => Some(Command::End(owner(*claim), Farewell::Release)),
            Act::Leave(claim) => {
                self.attend(ClaimId(*claim));
                Some(Command::Leave(owner(*claim)))
            }
            Act::Attend(claim) => {
                self.attend(ClaimId(*claim));
                None
            }
            Act::Pass(span) => {
                self.now = self.now + *span;
                None
            }
        }
    }

    fn attend(&mut self, claim: ClaimId) {
        if self.state.claim(claim).is_some() {
            self.state.attend(claim);
            self.present.insert(claim);
        }
    }

    fn execute(&mut self, command: Command) -> Result<Standing, Refusal> {
        self.run(command).0
    }

    /// The answer, and what happened.
    fn run(&mut self, command: Command) -> (Result<Standing, Refusal>, Vec<Event>) {
        let stamp = Stamp { at: self.now, wall: WallTime::default() };
        let mut events = Vec::new();
        engine::foresee(&self.state, [&command]);
        if let Command::Leave(owner) = &command {
            self.present.remove(&owner.claim);
        }
        let answer = engine::execute(&mut self.state, command, stamp, &mut events);
        (answer, events)
    }

    /// Until nothing is due that would be dealt with in another order by somebody who begins anew.
    fn catch_up(&mut self) {
        while self.state.next_due().is_some_and(|due| due <= self.now) {
            let stamp = Stamp { at: self.now, wall: WallTime::default() };
            engine::sweep(&mut self.state, stamp, &mut Vec::new());
        }
    }

    /// The same claims, as a store has them that has just begun: it knows nothing of the last decision, so it
    /// looks for nothing in the queue that this was about.
    fn begun_anew(&self) -> Self {
        let records = self.state.records_after(None).map(Record::cloned);
        let rules = self.state.rules().clone();
        let mut state = State::restore(rules, self.state.counters(), records);
        self.present.iter().for_each(|&id| state.attend(id));
        Self { state, now: self.now, present: self.present.clone() }
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

    fn registration(&self, names: &[&str], limit: Limit) -> Command {
        let names: Vec<_> = names.iter().map(|name| Name::new(name).unwrap()).collect();
        Command::Register(Registration {
            key: key(self.state.counters().next_claim.0),
            resources: Resources::try_from(names).unwrap(),
            limit,
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

/// A store that has begun anew looks nowhere ahead.
#[test]
fn thinking_ahead_changes_no_answer_no_event_and_no_state() {
    let mut exclusive = Store::empty(Rules { called_max: 2, ..Rules::default() });
    // So that what is first in a store that begins anew is another queue than the long one.
    exclusive.register("elsewhere", Limit::EXCLUSIVE);
    exclusive.register("long", Limit::SHARED);
    exclusive.register("long", Limit::EXCLUSIVE);
    // Those behind it wait for nobody else, if they can share.
    let mut shared = exclusive.clone();
    (0..WAITERS).for_each(|_| exclusive.register("long", Limit::EXCLUSIVE));
    (0..WAITERS).for_each(|_| shared.register("long", Limit::SHARED));
    let stores = [exclusive, shared];
    let config = Config { cases: 100, ..config() };
    proptest::test_runner::TestRunner::new(config)
        .run(&(prop::sample::select(&[0, 1][..]), acts()), |(nth, acts)| {
            let mut store = stores[nth].clone();
            for act in &acts {
                let Some(command) = store.command(act) else { continue };
                store.catch_up();
                let mut anew = store.begun_anew();
                prop_assert!(store.run(command.clone()) == anew.run(command), "{act:?}");
                prop_assert!(store.state == anew.state, "{act:?}");
            }
            // Who is thought to be there outlasts those who are not.
            let mut anew = store.begun_anew();
            for store in [&mut store, &mut anew] {
                store.now = store.now + store.state.rules().waiter_lapse;
                store.catch_up();
            }
            prop_assert!(store.state == anew.state);
            Ok(())
        })
        .unwrap();
}

#[test]
fn snapshot_of_a_long_queue_tells_when_they_had_asked_before_it() {
    let mut store = Store::crowded(64);
    let records = |state: &State| state.records_after(None).map(Record::cloned).collect::<Vec<_>>();
    let then = records(&store.state);
    store.state.begin_cut();
    let mut read = Vec::new();
    for claim in (1..WAITERS).rev().step_by(7) {
        store.now = store.now + Span::from_millis(1);
        let asked =
            store.execute(Command::Activate(Owner { claim: ClaimId(claim), key: key(claim) }));
        assert_eq!(asked.is_ok(), claim == 1, "{claim}");
        store.state.read_cut(3, |record| read.push(record.cloned()));
    }
    while store.state.read_cut(1_000, |record| read.push(record.cloned())) {}
    assert!(read == then);
    assert!(records(&store.state) != then);
}

/// Of a database only the head of a queue is loaded, and the others count.
#[test]
fn who_asks_in_a_part_of_a_long_queue_is_told_its_place_in_the_whole() {
    const LOADED: usize = 200;
    let mut store = Store::empty(Rules::default());
    for nth in 1..=LOADED as u64 {
        // Far apart, as the others would be between them.
        let counters = Counters { next_claim: ClaimId(nth * 1_000), ..store.state.counters() };
        let records: Vec<_> = store.state.records_after(None).map(Record::cloned).collect();
        store.state = State::restore(Rules::default(), counters, records);
        store.register("long", Limit::EXCLUSIVE);
    }
    let asker = ClaimId(LOADED as u64 * 1_000);
    let part = Part {
        counters: store.state.counters(),
        claims: store.state.records_after(None).map(Record::cloned).collect(),
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
