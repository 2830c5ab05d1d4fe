//! Every event in every state, and storms of them: nothing hangs, and in the end it ends.

use claims::claimant::{
    Answer, Claimant, Class, Condition, Input, Moment, Notice, Output, Patience, Request, State,
    Terms, Verb,
};
use claims::{ClaimId, Fence, Span, Status, Ttl};
use proptest::prelude::*;

use crate::puppet::{Puppet, about};

const CLASSES: [Class; 9] = [
    Class::Ok,
    Class::Created,
    Class::Accepted,
    Class::NoContent,
    Class::NotFound,
    Class::Conflict,
    Class::Refused,
    Class::Unknown,
    Class::NotSent,
];

#[test]
fn every_answer_leads_somewhere_in_every_state_that_waits_for_one() {
    let waiting = [
        State::Registering,
        State::Activating,
        State::Renewing,
        State::Releasing,
        State::Withdrawing,
        State::Aborting,
    ];
    for state in waiting {
        for class in CLASSES {
            let mut puppet = Puppet::at(state);
            let number = puppet.request.unwrap().number;
            puppet.answer(about(class));
            let went_on = puppet.claimant.state() != state
                || puppet.request.is_some_and(|request| request.number > number);
            assert!(went_on, "{state} on {class:?}");
        }
    }
}

#[test]
fn nothing_can_hang_in_any_state_after_any_event() {
    for state in State::ALL {
        for condition in Condition::ALL {
            let mut puppet = Puppet::at(state);
            puppet.make(condition);
            let claimant = &puppet.claimant;
            let rests = claimant.is_settled() || claimant.state() == State::New;
            assert_eq!(claimant.next_wake().is_none(), rests, "{state} after {condition:?}");
        }
    }
}

#[test]
fn whoever_is_told_to_stop_stops_in_every_state_without_any_answer() {
    for state in State::ALL {
        for ends in [Input::Release, Input::Signal] {
            let mut puppet = Puppet::at(state);
            puppet.handle(ends);
            while !puppet.claimant.is_settled() {
                puppet.now = puppet.now.max(puppet.claimant.next_wake().unwrap().0);
                puppet.handle(Input::Wake);
            }
            let ended = puppet.notices().iter().filter(|n| matches!(n, Notice::Ended(_))).count();
            assert_eq!(ended, usize::from(!state.is_final()), "{state}: told once");
        }
    }
}

#[derive(Debug, Clone)]
enum Gust {
    Answer(Class, Option<u64>),
    Old(u32, Class),
    Pass(u64),
    Release,
    Refresh(u64),
    Signal,
}

fn gust() -> impl Strategy<Value = Gust> {
    let class = || proptest::sample::select(CLASSES.to_vec());
    prop_oneof![
        6 => (class(), proptest::option::of(1_u64..4)).prop_map(|(c, id)| Gust::Answer(c, id)),
        2 => (0_u32..20, class()).prop_map(|(number, class)| Gust::Old(number, class)),
        4 => (0_u64..20_000_000).prop_map(Gust::Pass),
        1 => Just(Gust::Release),
        1 => (0_u64..100_000_000).prop_map(Gust::Refresh),
        1 => Just(Gust::Signal),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    /// Whatever happens; then the network heals, and the program stops wanting it.
    #[test]
    fn storm_ends_in_a_final_state_once_the_network_heals_and_it_is_told_to_stop(
        gusts in proptest::collection::vec(gust(), 0..60),
        ttl in 0_u64..30_000_000,
        patience in 0_u64..3,
        luck: u32,
        signal: bool,
    ) {
        let patience = match patience {
            0 => Patience::Forever,
            1 => Patience::For(Span::from_secs(20)),
            _ => Patience::Try(Span::from_secs(5)),
        };
        let ttl = Ttl::new(Span::from_micros(ttl)).unwrap();
        let mut storm = Storm::new(Terms { patience, ..Terms::new(ttl) }, luck);
        storm.handle(Input::Begin);
        for gust in gusts {
            storm.blow(gust);
        }
        storm.handle(if signal { Input::Signal } else { Input::Release });
        for _ in 0..100 {
            storm.answer_kindly();
        }
        prop_assert!(storm.claimant.state().is_final(), "{}", storm.claimant.state());
        prop_assert!(storm.claimant.is_settled());
        prop_assert_eq!(storm.ended, 1, "the end is told once");
    }
}

/// A claimant in a storm. What must hold all the time is asserted all the time.
struct Storm {
    claimant: Claimant,
    now: Moment,
    luck: u32,
    last: Option<Request>,
    acquired: bool,
    lost: bool,
    ended: u32,
}

impl Storm {
    fn new(terms: Terms, luck: u32) -> Self {
        let (claimant, now) = (Claimant::new(terms), Moment::from_micros(5));
        Self { claimant, now, luck, last: None, acquired: false, lost: false, ended: 0 }
    }

    fn handle(&mut self, input: Input) {
        let mut outputs = Vec::new();
        self.luck = self.luck.wrapping_mul(69_069).wrapping_add(1);
        self.claimant.handle(input, self.now, self.luck, &mut outputs);
        for output in outputs {
            match output {
                Output::Send(request) => {
                    assert!(self.last.is_none_or(|last| last.number < request.number));
                    assert!(request.verb == Verb::Register || request.claim.is_some());
                    self.last = Some(request);
                }
                Output::Abandon(number) => {
                    assert!(self.last.is_some_and(|last| number <= last.number));
                }
                Output::Notify(notice) => self.told(notice),
            }
        }
        if self.lost || self.ended > 0 {
            assert!(self.claimant.lease(self.now).is_none(), "what is lost is not believed in");
        }
        if self.claimant.lease(self.now).is_some() {
            assert!(self.acquired, "nobody believes before it was told");
        }
        let rests = self.claimant.is_settled();
        assert_eq!(self.claimant.next_wake().is_none(), rests, "{}", self.claimant.state());
    }

    fn told(&mut self, notice: Notice) {
        match notice {
            Notice::Acquired { .. } => {
                assert!(!self.acquired && !self.lost, "acquired once");
                self.acquired = true;
            }
            Notice::Renewed | Notice::Unknown => assert!(self.acquired && !self.lost),
            Notice::Lost(_) => {
                assert!(self.acquired && !self.lost, "lost once, and only what was held");
                self.lost = true;
            }
            Notice::Missed(_) => assert!(!self.acquired, "only what was never held is missed"),
            Notice::Waiting { .. } => assert!(!self.acquired),
            Notice::Ended(state) => {
                assert!(state.is_final());
                self.ended += 1;
            }
        }
    }

    fn blow(&mut self, gust: Gust) {
        match gust {
            Gust::Answer(class, claim) => {
                let number = self.last.map_or(0, |last| last.number);
                let claim = claim.map(ClaimId);
                let status = Some(Status::Expired);
                let answer = Answer { claim, fence: Some(Fence(1)), status, ..Answer::of(class) };
                self.handle(Input::Answered(number, answer));
            }
            Gust::Old(number, class) => self.handle(Input::Answered(number, about(class))),
            Gust::Pass(micros) => {
                self.now = self.now + Span::from_micros(micros);
                self.handle(Input::Wake);
            }
            Gust::Release => self.handle(Input::Release),
            Gust::Refresh(ttl) => {
                let ttl = Ttl::new(Span::from_micros(ttl)).unwrap();
                self.handle(Input::Refresh(Some(ttl)));
            }
            Gust::Signal => self.handle(Input::Signal),
        }
    }

    /// The server is there and does what it is asked.
    fn answer_kindly(&mut self) {
        let Some(last) = self.last else { return };
        let class = match last.verb {
            Verb::Register => Class::Created,
            Verb::Activate | Verb::Renew(_) => Class::Ok,
            Verb::Release | Verb::Withdraw | Verb::Abort => Class::NoContent,
        };
        let claim = Some(last.claim.unwrap_or(ClaimId(99)));
        self.handle(Input::Answered(last.number, Answer { claim, ..Answer::of(class) }));
        if let Some((at, _)) = self.claimant.next_wake() {
            self.now = self.now.max(at);
            self.handle(Input::Wake);
        }
    }
}
