//! One command causes a bounded number of events, and what is left is done right after it. However
//! small the bound, no set of holders is illegal meanwhile, and in the end nothing is left.
#![allow(clippy::unwrap_used, reason = "what cannot fail here fails the test if it does")]

use claims::{
    ClaimId, Command, Farewell, KeyHash, Limit, Name, Owner, Registration, Resources, Rules, Span,
    Stamp, State, Timestamp, Ttl, WallTime, engine,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
enum Act {
    Register {
        names: Vec<&'static str>,
        limit: u32,
        secs: u64,
    },
    Poll(u64),
    Wait(u64),
    End(u64),
    Pass(u64),
    Resume,
    /// Whatever was left is done.
    Drain,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let names = prop::sample::subsequence(&NAMES[..], 1..=3);
    let limit = prop_oneof![Just(1), Just(2), Just(u32::MAX)];
    let register = (names, limit, 0..50u64);
    let act = prop_oneof![
        8 => register.prop_map(|(names, limit, secs)| Act::Register { names, limit, secs }),
        4 => (1..60u64).prop_map(Act::Poll),
        2 => (1..60u64).prop_map(Act::Wait),
        4 => (1..60u64).prop_map(Act::End),
        4 => (0..70u64).prop_map(Act::Pass),
        1 => Just(Act::Resume),
        3 => Just(Act::Drain),
    ];
    prop::collection::vec(act, 0..120)
}

struct Store {
    state: State,
    now: Timestamp,
}

impl Store {
    fn take(&mut self, act: &Act) -> Result<(), TestCaseError> {
        let (stamp, mut events) = (self.stamp(), Vec::new());
        let owner = |claim: u64| Owner { claim: ClaimId(claim), key: KeyHash([claim as u8; 16]) };
        let command = match act {
            Act::Register { names, limit, secs } => {
                let names: Vec<_> = names.iter().map(|name| Name::new(name).unwrap()).collect();
                Command::Register(Registration {
                    key: KeyHash([self.state.counters().next_claim.0 as u8; 16]),
                    resources: Resources::try_from(names).unwrap(),
                    limit: Limit::at_most(*limit).unwrap(),
                    ttl: Ttl::new(Span::from_secs(*secs)).unwrap(),
                    data: None,
                })
            }
            Act::Poll(claim) | Act::Wait(claim) => Command::Activate(owner(*claim)),
            Act::End(claim) => Command::End(owner(*claim), Farewell::Abort),
            Act::Pass(secs) => {
                self.now = self.now + Span::from_secs(*secs);
                return Ok(());
            }
            Act::Resume => {
                engine::resume(&mut self.state, stamp, &mut events);
                return self.check_limits();
            }
            Act::Drain => return self.drain(),
        };
        let answer = engine::execute(&mut self.state, command, stamp, &mut events);
        if let (Act::Wait(claim), Err(_)) = (act, answer) {
            self.state.attend(ClaimId(*claim));
        }
        // Its own event may come on top of a bound that was used up.
        let rules = self.state.rules();
        prop_assert!(events.len() <= rules.events_max.max(2 * rules.called_max + 2) + 1);
        self.check_limits()
    }

    fn drain(&mut self) -> Result<(), TestCaseError> {
        let (stamp, mut sweeps) = (self.stamp(), 0);
        while self.state.next_due().is_some_and(|due| due <= self.now) {
            engine::sweep(&mut self.state, stamp, &mut Vec::new());
            self.check_limits()?;
            sweeps += 1;
            prop_assert!(sweeps < 2_000, "it must come to an end");
        }
        for name in self.state.names_after(None) {
            let left = engine::settle(&self.state, name, self.now, None);
            prop_assert_eq!(left, None, "on {}", name);
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), TestCaseError> {
        for name in self.state.names_after(None) {
            let size = self.state.holders(name).count();
            let mut limits = self.state.holders(name).filter_map(|claim| claim.limit.count());
            prop_assert!(limits.all(|limit| size <= limit as usize), "on {}", name);
        }
        Ok(())
    }

    fn stamp(&self) -> Stamp {
        Stamp { at: self.now, wall: WallTime::default() }
    }
}

fn config() -> Config {
    let (cases, rng_seed) = (3_000, RngSeed::Fixed(3));
    Config { cases, rng_seed, failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn small_bound_on_events_delays_and_loses_nothing(
        events_max in 1..12usize,
        called_max in 1..5usize,
        history in acts(),
    ) {
        let rules = Rules { events_max, called_max, ..Rules::default() };
        let mut store = Store { state: State::new(rules), now: Timestamp::ZERO };
        for act in &history {
            store.take(act)?;
        }
        store.drain()?;
    }
}
