//! An add whose answer was lost is told its success; an add that only looks like it is not.

use crate::face::{Line, Session};
use crate::house::House;

/// A session that added MUTEX over a connection that carried nothing else, its reservation, and
/// that connection.
fn holder(house: &House) -> (Session, String, Line) {
    let mut session = Session::open(&house.reservations);
    let reservation = session.reserve();
    drop(session.change_line());
    session.add(&reservation, "MUTEX", "me").good();
    let line = session.change_line();
    (session, reservation, line)
}

#[test]
fn add_that_is_sent_again_because_its_answer_was_lost_is_told_its_success() {
    let house = House::open(&[]);
    let mut session = Session::open(&house.reservations);
    let reservation = session.reserve();
    for _ in 0..3 {
        // It hangs up before it reads anything.
        let line = session.change_line();
        line.hang_up();
        session.send_add(&reservation, "MUTEX", "me");
    }
    let line = session.change_line();
    line.hang_up();
    session.add(&reservation, "MUTEX", "me").good();
    let name = format!("reservation/{reservation}/MUTEX");
    assert_eq!(house.claims(&name, "active").len(), 1);
    assert_eq!(house.claims(&name, "released").len(), 0, "it was one claim all the time");
    // Another owner of the same session is somebody else.
    session.change_line().hang_up();
    assert!(session.add(&reservation, "MUTEX", "me too").is_taken());
}

#[test]
fn add_of_another_thread_or_a_forked_process_of_the_session_is_refused() {
    let house = House::open(&[]);
    // While the connection of the answer is open, whoever asks again is not the one who got it.
    let (mut session, reservation, line) = holder(&house);
    assert!(session.add(&reservation, "MUTEX", "me").is_taken());
    line.hang_up();
    assert!(session.add(&reservation, "MUTEX", "me").is_taken(), "there are two who ask");

    // Over the same connection, as forked processes would.
    let (mut session, reservation, line) = holder(&house);
    session.line = line;
    assert!(session.add(&reservation, "MUTEX", "me").is_taken());

    // Its session went on, so it has its answer.
    let (mut session, reservation, line) = holder(&house);
    session.details(&reservation);
    line.hang_up();
    session.change_line();
    assert!(session.add(&reservation, "MUTEX", "me").is_taken());
}

#[test]
fn add_of_another_session_is_refused_however_alike_it_is() {
    let house = House::open(&[]);
    let (session, reservation, line) = holder(&house);
    let mut twin = Session::open_with(&house.reservations, &session.token).unwrap();
    line.hang_up();
    assert!(twin.add(&reservation, "MUTEX", "me").is_taken());
}

#[test]
fn add_that_was_answered_by_a_killed_server_is_told_its_success_by_the_next() {
    let mut house = House::open(&[]);
    let (mut session, reservation, line) = holder(&house);
    let fence = |house: &House| {
        let name = format!("reservation/{reservation}/MUTEX");
        house.claims(&name, "active")[0]["fence"].as_u64().unwrap()
    };
    let before = fence(&house);
    house.kill();
    drop(line);
    house.start_again();
    drop(session.change_line());
    session.add(&reservation, "MUTEX", "me").good();
    assert_eq!(fence(&house), before, "it is the same service");
    // Now it was answered: over a connection that is open.
    drop(session.change_line());
    session.details(&reservation);
    assert!(session.add(&reservation, "MUTEX", "me").is_taken());
    session.remove(&reservation, "MUTEX").good();
}

#[test]
fn removal_that_is_sent_again_does_not_remove_what_the_next_one_added() {
    let house = House::open(&[]);
    let (mut session, reservation, _line) = holder(&house);
    let mut next = Session::open(&house.reservations);
    session.remove(&reservation, "MUTEX").good();
    next.add(&reservation, "MUTEX", "next").good();
    session.remove(&reservation, "MUTEX").good();
    assert!(next.details(&reservation).contains("Value=\"next\""));
    // Nor does somebody who never had it, because it went on without.
    let mut stranger = Session::open(&house.reservations);
    let (code, text) = stranger.remove(&reservation, "MUTEX").refused();
    assert!(code == "100" && text.contains("tenure revoke"), "{text}");
    assert!(next.details(&reservation).contains("Value=\"next\""));
}
