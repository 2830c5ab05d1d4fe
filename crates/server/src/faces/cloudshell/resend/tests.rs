use claims::{
    Command, KeyHash, Limit, Name, Registration, Resources, Rules, Stamp, State, Ttl, WallTime,
    engine,
};

use super::*;

const SESSION: ClaimId = ClaimId(900);

fn secs(secs: u64) -> Timestamp {
    Timestamp::from_micros(secs * 1_000_000)
}

/// A service that was added at this second.
fn added(at: u64) -> Claim {
    let registration = Registration {
        key: KeyHash([7; 16]),
        resources: Resources::one(Name::new("reservation/r/MUTEX").expect("a name")),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::UNLIMITED,
        data: None,
    };
    let stamp = Stamp { at: secs(at), wall: WallTime(0) };
    let mut state = State::new(Rules::default());
    let command = Command::Register(registration);
    engine::execute(&mut state, command, stamp, &mut Vec::new()).expect("it is free").claim
}

/// An identical add, over a new connection.
fn judged(resends: &Resends, claim: &Claim, at: u64) -> Verdict {
    resends.judge(claim, SESSION, secs(at), &new_line())
}

fn is_same(resends: &Resends, claim: &Claim, at: u64) -> bool {
    matches!(judged(resends, claim, at), Verdict::Same)
}

/// A connection, and the first request on it.
fn new_line() -> Over {
    let line = Arc::new(Line::default());
    let nth = line.request();
    (line, nth)
}

/// An add at second 10, answered over a new connection.
fn answered() -> (Resends, Claim, Arc<Line>) {
    let (claim, over) = (added(10), new_line());
    let mut resends = Resends::since(secs(0));
    resends.asks(SESSION, secs(9), &over.0);
    resends.another_call(SESSION, secs(9));
    resends.begin(claim.key.0, secs(10));
    resends.answered(claim.key.0, SESSION, secs(10), &over);
    (resends, claim, over.0)
}

#[test]
fn add_whose_connection_the_client_ended_is_the_same_sent_again() {
    let (resends, claim, line) = answered();
    assert!(matches!(judged(&resends, &claim, 11), Verdict::SameIfEnded(_)));
    line.end(Ending::HungUp);
    assert!(is_same(&resends, &claim, 11) && is_same(&resends, &claim, 40));
    assert!(!is_same(&resends, &claim, 41), "the window is over");
}

#[test]
fn any_sign_that_the_answer_arrived_makes_it_somebody_else_s() {
    let (mut resends, claim, line) = answered();
    line.end(Ending::HungUp);
    resends.asks(ClaimId(901), secs(11), &new_line().0);
    resends.another_call(ClaimId(901), secs(11));
    assert!(is_same(&resends, &claim, 11), "another session says nothing about this one");
    resends.another_call(SESSION, secs(11));
    assert!(!is_same(&resends, &claim, 11), "its session went on");

    let (resends, claim, line) = answered();
    line.request();
    line.end(Ending::HungUp);
    assert!(!is_same(&resends, &claim, 11), "its connection went on");

    let (resends, claim, line) = answered();
    line.end(Ending::Closed);
    line.end(Ending::HungUp);
    assert!(!is_same(&resends, &claim, 11), "its connection was not ended by the client");
}

#[test]
fn session_with_several_connections_may_be_several_threads() {
    // One that was open beside the answer's, and is still; or was closed by us for being idle.
    for ending in [None, Some(Ending::Closed), Some(Ending::HungUp)] {
        let (mut resends, claim, line) = answered();
        let beside = new_line().0;
        resends.asks(SESSION, secs(10), &beside);
        resends.answered(claim.key.0, SESSION, secs(10), &(line.clone(), 1));
        line.end(Ending::HungUp);
        ending.into_iter().for_each(|ending| beside.end(ending));
        assert_eq!(is_same(&resends, &claim, 11), ending == Some(Ending::HungUp));
    }
    // One that came later, and has asked for the same.
    let (mut resends, claim, line) = answered();
    line.end(Ending::HungUp);
    resends.asks(SESSION, secs(11), &new_line().0);
    assert!(matches!(judged(&resends, &claim, 11), Verdict::SameIfEnded(_)));
    // One that was gone before says nothing.
    let (mut resends, claim, line) = answered();
    line.end(Ending::Closed);
    let next = new_line();
    resends.asks(SESSION, secs(12), &next.0);
    resends.begin(claim.key.0, secs(12));
    resends.answered(claim.key.0, SESSION, secs(12), &next);
    next.0.end(Ending::HungUp);
    assert!(is_same(&resends, &claim, 13));
}

#[test]
fn once_an_identical_add_was_refused_none_is_the_same() {
    let (mut resends, claim, line) = answered();
    resends.refused(claim.key.0);
    line.end(Ending::HungUp);
    assert!(!is_same(&resends, &claim, 11));
}

#[test]
fn lost_answers_may_follow_on_each_other() {
    let (mut resends, claim, line) = answered();
    line.end(Ending::HungUp);
    let next = new_line();
    resends.asks(SESSION, secs(38), &next.0);
    resends.answered(claim.key.0, SESSION, secs(38), &next);
    assert!(!is_same(&resends, &claim, 39), "the second answer may have arrived");
    next.0.end(Ending::HungUp);
    assert!(is_same(&resends, &claim, 60), "the window counts from the last answer");
}

#[test]
fn add_that_nobody_was_told_of_is_the_same() {
    let claim = added(10);
    let mut resends = Resends::since(secs(0));
    resends.begin(claim.key.0, secs(10));
    // Its client was told that the store cannot serve now: it asks again as it likes.
    let (line, _) = new_line();
    resends.asks(SESSION, secs(11), &line);
    resends.another_call(SESSION, secs(11));
    let over = (line.clone(), line.request());
    assert!(matches!(resends.judge(&claim, SESSION, secs(12), &over), Verdict::Same));
    resends.answered(claim.key.0, SESSION, secs(12), &over);
    assert!(!is_same(&resends, &claim, 13), "now somebody was told");
}

#[test]
fn add_whose_connection_had_ended_before_its_answer_is_the_same_over_another_that_was_there() {
    let (claim, first, second) = (added(10), new_line(), new_line());
    let mut resends = Resends::since(secs(0));
    resends.asks(SESSION, secs(9), &first.0);
    resends.another_call(SESSION, secs(9));
    resends.begin(claim.key.0, secs(10));
    // Sent again while the first is being carried out.
    first.0.end(Ending::HungUp);
    resends.asks(SESSION, secs(10), &second.0);
    resends.answered(claim.key.0, SESSION, secs(10), &first);
    assert!(matches!(resends.judge(&claim, SESSION, secs(11), &second), Verdict::Same));
    // It is told, and whoever else asks is not.
    resends.answered(claim.key.0, SESSION, secs(11), &second);
    assert!(matches!(judged(&resends, &claim, 11), Verdict::SameIfEnded(_)));
}

#[test]
fn after_a_restart_the_last_adds_may_be_sent_again_until_their_session_goes_on() {
    let claim = added(10);
    let mut resends = Resends::since(secs(12));
    assert!(is_same(&resends, &claim, 13) && is_same(&resends, &claim, 40));
    assert!(!is_same(&resends, &claim, 41));
    let mut used = new_line();
    used.1 = used.0.request();
    assert!(matches!(resends.judge(&claim, SESSION, secs(13), &used), Verdict::Other));
    resends.asks(SESSION, secs(13), &used.0);
    resends.another_call(SESSION, secs(13));
    assert!(!is_same(&resends, &claim, 14));
    // A claim of this server's own time that is not known here is not the session's to have again.
    assert!(!is_same(&Resends::since(secs(9)), &claim, 11));
}

#[test]
fn nothing_is_remembered_for_longer_than_it_decides() {
    let mut resends = Resends::since(secs(0));
    for nth in 0..1_000_u64 {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&nth.to_le_bytes());
        resends.begin(key, secs(nth));
        let (line, _) = new_line();
        resends.asks(ClaimId(nth), secs(nth), &line);
        resends.another_call(ClaimId(nth), secs(nth));
        if nth > 0 {
            line.end(Ending::HungUp);
        }
    }
    assert!(resends.sessions.contains_key(&ClaimId(0)), "its connection is open");
    assert!(resends.given.len() < 70 && resends.sessions.len() < 70);
}
