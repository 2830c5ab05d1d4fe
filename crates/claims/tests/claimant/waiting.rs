//! Waiting for one's turn, trying, and what is left behind.

use claims::Span;
use claims::claimant::{
    Answer, Backoff, Class, Condition, Input, Missed, Notice, Output, Patience, State, Terms,
    Timer, Timing, Verb,
};

use crate::puppet::{Puppet, about, terms};

#[test]
fn server_that_holds_requests_is_asked_again_at_once_and_one_that_does_not_is_polled() {
    let mut puppet = Puppet::at(State::Activating);
    let wait = puppet.request.unwrap().wait.expect("it offers to be held");
    puppet.now = puppet.now + wait;
    puppet.make(Condition::Answer409);
    assert_eq!(puppet.claimant.state(), State::Activating, "held: at once");
    puppet.make(Condition::Answer409);
    assert_eq!(puppet.claimant.state(), State::Waiting, "answered at once: later");
    let first = puppet.claimant.timer(Timer::Activate).unwrap().since(puppet.now);
    let poll = Timing::default().poll;
    assert!(first >= Span::from_micros(poll.first.as_micros() / 2) && first <= poll.first);
    for _ in 0..20 {
        puppet.ring(Timer::Activate);
        puppet.make(Condition::Answer409);
        let pause = puppet.claimant.timer(Timer::Activate).unwrap().since(puppet.now);
        assert!(pause <= poll.most, "{pause:?}");
    }
}

#[test]
fn who_only_tries_does_not_wait() {
    let patience = Patience::Try(Span::from_secs(10));
    let mut puppet = Puppet::new(Terms { patience, ..terms() });
    puppet.handle(Input::Begin);
    puppet.answer(Answer { position: Some(3), ..about(Class::Accepted) });
    assert!(puppet.told(Notice::Waiting { position: Some(3) }));
    assert!(puppet.told(Notice::Missed(Missed::Busy)));
    assert_eq!(puppet.claimant.state(), State::Withdrawing);
    puppet.make(Condition::Answer204);
    assert_eq!(puppet.claimant.state(), State::Withdrawn);
    assert!(puppet.claimant.is_settled());
}

#[test]
fn server_that_asks_for_patience_is_given_it() {
    let mut puppet = Puppet::at(State::Registering);
    let retry_after = Some(Span::from_secs(5));
    puppet.answer(Answer { retry_after, ..Answer::of(Class::Unknown) });
    let retry = puppet.claimant.timer(Timer::Retry).unwrap().since(puppet.now);
    assert!(retry >= Span::from_secs(5), "{retry:?}");
}

#[test]
fn abort_is_quick() {
    let timing = Timing::default();
    for other in [timing.register, timing.activate, timing.withdraw] {
        assert!(timing.abort.first < other.first && timing.abort.most < other.most);
    }
}

#[test]
fn farewell_that_was_lost_on_the_way_back_is_done_when_the_claim_is_forgotten() {
    let farewells = [
        (State::Releasing, State::Released),
        (State::Withdrawing, State::Withdrawn),
        (State::Aborting, State::Aborted),
    ];
    for (leaving, left) in farewells {
        let mut puppet = Puppet::at(leaving);
        puppet.make(Condition::Answer404);
        assert_eq!(puppet.claimant.state(), State::Fail, "the first one found nothing");

        let mut puppet = Puppet::at(leaving);
        puppet.make(Condition::Answer5xx);
        puppet.make(Condition::RetryTimer);
        puppet.make(Condition::Answer404);
        assert_eq!(puppet.claimant.state(), left, "the first one may have arrived");
    }
}

#[test]
fn pauses_double_up_to_their_most_and_differ_by_chance() {
    let backoff = Backoff { first: Span::from_millis(100), most: Span::from_secs(2) };
    for tries in 0..40 {
        let (least, most) = (backoff.pause(tries, 0), backoff.pause(tries, u32::MAX));
        let whole = (100_000_u64 << tries.min(20)).min(2_000_000);
        assert_eq!((least.as_micros(), most.as_micros()), (whole / 2, whole));
        let between = backoff.pause(tries, u32::MAX / 3);
        assert!(least < between && between < most);
    }
}

#[test]
fn unanswered_registration_is_looked_for_and_withdrawn_after_the_end() {
    for ends in [Condition::Signal, Condition::Release, Condition::TimeoutTimer] {
        let mut puppet = Puppet::at(State::RetryingRegister);
        while puppet.claimant.state() == State::RetryingRegister && !puppet.claimant.is_settled() {
            if ends == Condition::TimeoutTimer {
                puppet.now = puppet.claimant.timer(Timer::Timeout).unwrap();
                puppet.handle(Input::Wake);
            } else {
                puppet.make(ends);
            }
            if puppet.claimant.state() == State::Registering {
                puppet.make(Condition::Answer5xx);
            }
        }
        assert_eq!(puppet.claimant.state(), State::Done, "{ends:?}");
        assert!(!puppet.claimant.is_settled(), "{ends:?}: it may have left a claim");
        puppet.outputs.clear();
        if puppet.request.unwrap().verb == Verb::Register {
            puppet.make(Condition::Answer202);
        }
        assert_eq!(puppet.sent(), [Verb::Abort], "{ends:?}");
        puppet.make(Condition::Answer5xx);
        puppet.ring(Timer::Retry);
        assert_eq!(puppet.sent(), [Verb::Abort, Verb::Abort], "{ends:?}");
        puppet.make(Condition::Answer204);
        assert!(puppet.claimant.is_settled(), "{ends:?}");
    }
}

#[test]
fn registration_that_was_never_sent_leaves_nothing_to_look_for() {
    let mut puppet = Puppet::at(State::Registering);
    puppet.answer(Answer::of(Class::NotSent));
    puppet.make(Condition::Signal);
    assert_eq!(puppet.claimant.state(), State::Done);
    assert!(puppet.claimant.is_settled());
    assert!(puppet.sent().is_empty());
}

#[test]
fn farewell_that_is_not_heard_goes_on_after_the_program_is_told() {
    let mut puppet = Puppet::at(State::Releasing);
    while puppet.claimant.state() != State::Done {
        puppet.now = puppet.now.max(puppet.claimant.next_wake().unwrap().0);
        puppet.handle(Input::Wake);
    }
    assert!(puppet.told(Notice::Ended(State::Done)), "nobody waits for ever");
    assert!(!puppet.claimant.is_settled());
    while !puppet.claimant.is_settled() && puppet.claimant.next_wake().is_some() {
        puppet.now = puppet.now.max(puppet.claimant.next_wake().unwrap().0);
        puppet.handle(Input::Wake);
    }
    assert!(puppet.claimant.is_settled(), "it gives up some time");
}

#[test]
fn request_nobody_waits_for_is_closed() {
    for ends in [Input::Signal, Input::Release] {
        let mut puppet = Puppet::at(State::Activating);
        let number = puppet.request.unwrap().number;
        puppet.handle(ends);
        assert!(puppet.outputs.contains(&Output::Abandon(number)));
    }
}
