//! Deadline discipline: from when a lease counts, and that it ends.

use claims::claimant::{
    Answer, Cause, Class, Condition, Input, Missed, Notice, Patience, State, Terms, Verb,
};
use claims::{ClaimId, Span, Ttl};

use crate::puppet::{Puppet, TTL, about, terms};

fn left(puppet: &Puppet) -> Option<Span> {
    let lease = puppet.claimant.lease(puppet.now)?;
    Some(lease.deadline.since(puppet.now))
}

fn hundredths(of: Span, parts: u64) -> Span {
    Span::from_micros(of.as_micros() / 100 * parts)
}

#[test]
fn lease_counts_from_before_the_request_was_sent_minus_a_margin() {
    let mut puppet = Puppet::at(State::Registering);
    puppet.now = puppet.now + Span::from_secs(7);
    puppet.make(Condition::Answer201);
    let believed = hundredths(TTL, 95).as_micros() - 7_000_000;
    assert_eq!(left(&puppet), Some(Span::from_micros(believed)));
}

#[test]
fn lease_counts_from_the_first_registration_though_a_retry_was_answered() {
    let mut puppet = Puppet::at(State::RetryingRegister);
    puppet.pass(Span::from_secs(9));
    assert_eq!(puppet.claimant.state(), State::Registering);
    puppet.make(Condition::Answer201);
    let lease = left(&puppet).unwrap();
    assert!(lease <= Span::from_micros(hundredths(TTL, 95).as_micros() - 9_000_000), "{lease:?}");
}

#[test]
fn lease_counts_from_the_last_request_answered_not_yet() {
    let mut puppet = Puppet::at(State::Activating);
    let asked_at = puppet.now;
    puppet.now = puppet.now + Span::from_secs(29);
    // The server held it for 29 of 30 seconds, then said not yet; it is asked again at once.
    puppet.make(Condition::Answer409);
    assert_eq!(puppet.claimant.state(), State::Activating);
    puppet.make(Condition::Answer5xx);
    puppet.pass(Span::from_secs(1));
    assert_eq!(puppet.claimant.state(), State::Activating);
    puppet.make(Condition::Answer200);
    // More than half of the lease may be over: it does not believe before it has renewed.
    assert_eq!(puppet.claimant.state(), State::Renewing);
    assert_eq!(left(&puppet), None);
    assert!(!puppet.notices().iter().any(|notice| matches!(notice, Notice::Acquired { .. })));
    let renewed_at = puppet.now;
    puppet.now = puppet.now + Span::from_secs(1);
    puppet.make(Condition::Answer200);
    assert!(puppet.notices().iter().any(|notice| matches!(notice, Notice::Acquired { .. })));
    let deadline = puppet.claimant.lease(puppet.now).unwrap().deadline;
    assert_eq!(deadline, renewed_at + hundredths(TTL, 95));
    assert!(renewed_at > asked_at);
}

#[test]
fn claim_that_was_there_before_is_renewed_before_it_is_believed_in() {
    let mut puppet = Puppet::new(Terms { adopts: true, ..terms() });
    puppet.handle(Input::Begin);
    puppet.make(Condition::Answer201);
    assert_eq!(left(&puppet), None);
    assert_eq!(puppet.claimant.state(), State::Renewing);
    puppet.make(Condition::Answer200);
    assert_eq!(left(&puppet), Some(hundredths(TTL, 95)));
}

#[test]
fn past_the_deadline_the_claim_is_lost_whatever_the_network_says() {
    let mut puppet = Puppet::at(State::Renewing);
    puppet.now = puppet.now + TTL;
    // The answer was only slow. It comes too late all the same.
    puppet.make(Condition::Answer200);
    assert!(puppet.told(Notice::Lost(Cause::Unconfirmed)));
    assert_eq!(puppet.claimant.state(), State::Aborting);
    assert_eq!(left(&puppet), None);
}

#[test]
fn lease_ends_for_who_asks_before_anybody_woke_the_claimant() {
    let puppet = Puppet::at(State::Active);
    assert!(puppet.claimant.lease(puppet.now).is_some());
    assert!(puppet.claimant.lease(puppet.now + hundredths(TTL, 95)).is_none());
}

#[test]
fn unconfirmed_renewal_keeps_the_old_deadline() {
    let mut puppet = Puppet::at(State::Renewing);
    let before = puppet.claimant.lease(puppet.now).unwrap();
    puppet.make(Condition::Answer5xx);
    assert!(puppet.told(Notice::Unknown));
    let after = puppet.claimant.lease(puppet.now).unwrap();
    assert_eq!(after.deadline, before.deadline);
    assert!(!after.confirmed);
}

#[test]
fn several_tries_to_renew_fit_before_the_deadline() {
    for ttl in [Span::from_millis(300), Span::from_secs(2), TTL, Span::from_secs(86_400)] {
        let mut puppet = Puppet::new(Terms::new(Ttl::new(ttl).unwrap()));
        puppet.handle(Input::Begin);
        puppet.make(Condition::Answer201);
        // Nobody answers any more.
        while puppet.claimant.state().holds() {
            puppet.now = puppet.now.max(puppet.claimant.next_wake().unwrap().0);
            puppet.handle(Input::Wake);
        }
        let tries = puppet.sent().iter().filter(|verb| matches!(verb, Verb::Renew(_))).count();
        assert!(tries >= 4, "only {tries} tries with a ttl of {ttl:?}");
        assert!(puppet.told(Notice::Lost(Cause::Unconfirmed)));
    }
}

#[test]
fn shorter_ttl_counts_from_when_it_is_asked_for() {
    let mut puppet = Puppet::at(State::Active);
    let short = Ttl::new(Span::from_secs(6)).unwrap();
    puppet.handle(Input::Refresh(Some(short)));
    assert_eq!(left(&puppet), Some(hundredths(short.span(), 95)));
    // It may have arrived, though its answer did not: a longer one is not believed in any more.
    puppet.make(Condition::Answer5xx);
    puppet.handle(Input::Refresh(Some(Ttl::new(TTL).unwrap())));
    puppet.make(Condition::Answer200);
    assert_eq!(left(&puppet), Some(hundredths(short.span(), 95)));
}

#[test]
fn longer_ttl_counts_when_it_is_confirmed() {
    let mut puppet = Puppet::at(State::Active);
    let before = left(&puppet);
    let long = Span::from_secs(600);
    puppet.handle(Input::Refresh(Some(Ttl::new(long).unwrap())));
    assert_eq!(left(&puppet), before);
    puppet.make(Condition::Answer200);
    assert_eq!(left(&puppet), Some(hundredths(long, 95)));
}

#[test]
fn it_stops_believing_before_it_gives_the_claim_back() {
    for ends in [Input::Release, Input::Signal] {
        for state in [State::Active, State::Renewing, State::RetryingRenew] {
            let mut puppet = Puppet::at(state);
            puppet.handle(ends);
            assert_eq!(left(&puppet), None, "{state} on {ends:?}");
        }
    }
}

#[test]
fn answer_about_an_older_claim_does_not_count() {
    let mut puppet = Puppet::at(State::Renewing);
    puppet.answer(Answer { claim: Some(ClaimId(8)), ..about(Class::Ok) });
    assert_eq!(puppet.claimant.state(), State::RetryingRenew);
    assert_eq!(puppet.claimant.claim(), Some(ClaimId(9)));
}

#[test]
fn answer_to_a_request_given_up_does_not_count() {
    let mut puppet = Puppet::at(State::Renewing);
    let number = puppet.request.unwrap().number;
    puppet.make(Condition::Release);
    puppet.handle(Input::Answered(number, about(Class::Ok)));
    assert_eq!(puppet.claimant.state(), State::Releasing);
}

/// The rows for a timeout in states that hold: granted, but no renewal ever comes in time.
#[test]
fn who_never_comes_to_believe_times_out() {
    for rounds in 0..3 {
        let mut puppet =
            Puppet::new(Terms { patience: Patience::For(Span::from_secs(45)), ..terms() });
        puppet.handle(Input::Begin);
        puppet.now = puppet.now + Span::from_secs(31);
        puppet.make(Condition::Answer201);
        assert_eq!(puppet.claimant.state(), State::Renewing);
        if rounds > 0 {
            puppet.make(Condition::Answer5xx);
            assert_eq!(puppet.claimant.state(), State::RetryingRenew);
        }
        while !puppet.claimant.state().leaves() {
            puppet.now = puppet.now.max(puppet.claimant.next_wake().unwrap().0);
            puppet.handle(Input::Wake);
        }
        assert!(puppet.told(Notice::Missed(Missed::TimedOut)));
        assert_eq!(puppet.claimant.state(), State::Withdrawing);
    }
}

#[test]
fn who_never_comes_to_believe_gives_up() {
    let mut puppet = Puppet::new(Terms::new(Ttl::new(Span::from_millis(1)).unwrap()));
    puppet.handle(Input::Begin);
    for _ in 0..10_000 {
        puppet.now = puppet.now + Span::from_millis(10);
        let state = puppet.claimant.state();
        if state == State::Registering {
            puppet.make(Condition::Answer201);
        } else if state == State::Renewing {
            puppet.make(Condition::Answer200);
        } else {
            puppet.handle(Input::Wake);
        }
    }
    assert!(puppet.told(Notice::Missed(Missed::NeverSure)));
    assert!(!puppet.notices().iter().any(|notice| matches!(notice, Notice::Acquired { .. })));
}
