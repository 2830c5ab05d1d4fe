//! The table against the specification, row by row, and the machine against the table.

use claims::Span;
use claims::claimant::{
    Action, Cause, Condition, Input, Missed, Notice, Origin, Output, Patience, Row, State, TABLE,
    Timer, Verb,
};

use crate::puppet::{Puppet, terms};
use crate::specification::{STATES, Transition, transitions};

#[test]
fn every_state_of_the_specification_is_there_and_no_other() {
    let mut listed: Vec<&str> = STATES.split(';').map(str::trim).collect();
    let mut known: Vec<&str> = State::ALL.iter().map(|state| state.as_str()).collect();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
}

#[test]
fn every_transition_of_the_specification_is_a_row_with_its_actions() {
    let transitions = transitions();
    assert_eq!(transitions.len(), 58, "57 rows, of which one has two conditions");
    for transition in &transitions {
        let row = row_of(transition);
        assert_eq!(row.to.as_str(), transition.to, "{} on {}", transition.from, transition.on);
        for action in &transition.actions {
            let action = action_named(action);
            assert!(row.actions.contains(&action), "{row:?} lacks {action:?}");
        }
    }
}

#[test]
fn rows_marked_as_specified_are_those_of_the_specification() {
    let transitions = transitions();
    for row in TABLE.iter().filter(|row| row.origin == Origin::Specified) {
        let listed = transitions.iter().find(|one| row_of(one) == row);
        let listed = listed.unwrap_or_else(|| panic!("{row:?} is not specified"));
        let listed: Vec<Action> = listed.actions.iter().map(|name| action_named(name)).collect();
        // Beyond what is listed it only puts its timers in order, closes requests and tells more.
        for action in row.actions.iter().filter(|action| !listed.contains(action)) {
            let may_be_added = matches!(
                action,
                Action::DeleteTimeoutTimer
                    | Action::DeleteRetryTimer
                    | Action::CreateTimeoutTimer
                    | Action::AbandonRequest
                    | Action::NotifyWaiting
                    | Action::NotifyAcquired
                    | Action::NotifyRenewed
                    | Action::NotifyUnknown
                    | Action::NotifyStopped
                    | Action::NotifyTimedOut
            );
            assert!(may_be_added, "{row:?} has {action:?}");
        }
    }
}

#[test]
fn no_two_rows_are_for_the_same_thing() {
    for (nth, row) in TABLE.iter().enumerate() {
        let again = TABLE[..nth].iter().any(|other| (other.from, other.on) == (row.from, row.on));
        assert!(!again, "{row:?}");
    }
}

/// One row is one case: the machine is brought into the state, the condition is made true, and it must
/// be where the row says, having done what the row says.
#[test]
fn machine_does_what_each_row_says() {
    for row in TABLE.iter().filter(|row| !is_for_who_never_believed(row)) {
        let puppet = met(row);
        // Waiting asks at once if the server holds requests: it went through it.
        let goes_on = row.to == State::Waiting && puppet.claimant.state() == State::Activating;
        assert!(puppet.claimant.state() == row.to || goes_on, "{row:?}");
        for action in row.actions {
            assert!(is_done(*action, row, &puppet), "{row:?}: {action:?} in {:?}", puppet.outputs);
        }
        let ended = puppet.told(Notice::Ended(row.to));
        assert_eq!(ended, row.to.is_final(), "{row:?}: the end is told, and nothing else is");
    }
}

/// A timeout in a state that holds: `who_never_comes_to_believe_times_out` has these.
fn is_for_who_never_believed(row: &Row) -> bool {
    row.from.holds() && row.on == Condition::TimeoutTimer
}

/// The machine after this row.
fn met(row: &Row) -> Puppet {
    // A timeout rings before anything else does if there is next to no patience.
    let mut terms = terms();
    if row.on == Condition::TimeoutTimer {
        let next_to_none = Span::from_millis(1);
        terms.patience = Patience::For(next_to_none);
        terms.timing.farewell = next_to_none;
    }
    let mut puppet = Puppet::with(terms, row.from);
    if row.on == Condition::DeadlineTimer {
        // Nobody woke it before.
        puppet.now = puppet.claimant.timer(Timer::Deadline).unwrap();
        puppet.handle(Input::Wake);
    } else {
        puppet.make(row.on);
    }
    puppet
}

fn is_done(action: Action, row: &Row, puppet: &Puppet) -> bool {
    let sent = |verb: fn(&Verb) -> bool| puppet.sent().iter().any(verb);
    let set = |timer| puppet.claimant.timer(timer).is_some();
    match action {
        Action::SendPost => sent(|verb| matches!(verb, Verb::Register)),
        Action::SendActive => sent(|verb| matches!(verb, Verb::Activate)),
        Action::SendTtl => sent(|verb| matches!(verb, Verb::Renew(_))),
        Action::SendReleased => sent(|verb| matches!(verb, Verb::Release)),
        Action::SendWithdrawn => sent(|verb| matches!(verb, Verb::Withdraw)),
        Action::SendAborted => sent(|verb| matches!(verb, Verb::Abort)),
        Action::CreateTimeoutTimer => set(Timer::Timeout),
        Action::DeleteTimeoutTimer => !set(Timer::Timeout),
        Action::CreateActivateTimer => {
            set(Timer::Activate) || sent(|verb| matches!(verb, Verb::Activate))
        }
        Action::DeleteActivateTimer => !set(Timer::Activate),
        Action::CreateRenewTimer => set(Timer::Renew),
        Action::DeleteRenewTimer => !set(Timer::Renew),
        Action::CreateRetryTimer => set(Timer::Retry),
        // What is done after the end is tidying, with timers of its own.
        Action::DeleteRetryTimer => !set(Timer::Retry) || row.to.is_final(),
        Action::AbandonRequest => {
            puppet.outputs.iter().any(|output| matches!(output, Output::Abandon(_)))
        }
        Action::NotifyWaiting => puppet.told(Notice::Waiting { position: None }),
        Action::NotifyAcquired => {
            puppet.notices().iter().any(|notice| matches!(notice, Notice::Acquired { .. }))
        }
        Action::NotifyRenewed => puppet.told(Notice::Renewed),
        Action::NotifyUnknown => puppet.told(Notice::Unknown),
        Action::NotifyLost => puppet.told(Notice::Lost(Cause::Unconfirmed)),
        Action::NotifyTimedOut => puppet.told(Notice::Missed(Missed::TimedOut)),
        Action::NotifyStopped => {
            puppet.told(Notice::Lost(Cause::Stopped))
                || puppet.told(Notice::Missed(Missed::Stopped))
        }
        Action::NotifyReleased => puppet.told(Notice::Ended(State::Released)),
        Action::TerminateClient => {
            puppet.told_refused() || (row.from.leaves() && puppet.told(Notice::Ended(State::Fail)))
        }
    }
}

fn row_of(transition: &Transition) -> &'static Row {
    let on = condition_named(transition.on);
    let row = TABLE.iter().find(|row| row.from.as_str() == transition.from && row.on == on);
    row.unwrap_or_else(|| panic!("no row for {} on {}", transition.from, transition.on))
}

fn condition_named(name: &str) -> Condition {
    match name {
        "-" => Condition::Begin,
        "200" => Condition::Answer200,
        "201" => Condition::Answer201,
        "202" => Condition::Answer202,
        "204" => Condition::Answer204,
        "404" => Condition::Answer404,
        "409" => Condition::Answer409,
        "4xx" => Condition::Answer4xx,
        "5xx" => Condition::Answer5xx,
        "activate timer" => Condition::ActivateTimer,
        "renew timer" => Condition::RenewTimer,
        "retry timer" => Condition::RetryTimer,
        "timeout timer" => Condition::TimeoutTimer,
        "release" => Condition::Release,
        "signal" => Condition::Signal,
        name => panic!("{name}"),
    }
}

fn action_named(name: &str) -> Action {
    match name {
        "send POST" => Action::SendPost,
        "send active" => Action::SendActive,
        "send ttl" => Action::SendTtl,
        "send released" => Action::SendReleased,
        "send withdrawn" => Action::SendWithdrawn,
        "send aborted" => Action::SendAborted,
        "create timeout timer" => Action::CreateTimeoutTimer,
        "delete timeout timer" => Action::DeleteTimeoutTimer,
        "create activate timer" => Action::CreateActivateTimer,
        "delete activate timer" => Action::DeleteActivateTimer,
        "create renew timer" => Action::CreateRenewTimer,
        "delete renew timer" => Action::DeleteRenewTimer,
        "create retry timer" => Action::CreateRetryTimer,
        "delete retry timer" => Action::DeleteRetryTimer,
        "notify acquired" => Action::NotifyAcquired,
        "notify released" => Action::NotifyReleased,
        "notify timeout" => Action::NotifyTimedOut,
        "terminate client" => Action::TerminateClient,
        name => panic!("{name}"),
    }
}
