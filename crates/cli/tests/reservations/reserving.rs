//! What becomes of reservations and services: restarts, ends, longest holds, and other programs.

use crate::face::{Session, attributes};
use crate::house::{House, until};

#[test]
fn reservations_and_services_survive_a_kill_and_are_shown_by_why() {
    let mut house = House::open(&[]);
    let mut session = Session::open(&house.reservations);
    let reservation = session.reserve_for(0);
    session.add(&reservation, "MUTEX", "x &amp; y").good();
    let state = [
        ("reservationId", reservation.as_str()),
        ("serviceAlias", "MUTEX"),
        ("attributeRequests", &attributes("State", "on")),
    ];
    session.ask("SetServiceAttributesValues", &state).good();
    let before = session.details(&reservation);
    house.kill();
    house.start_again();
    drop(session.change_line());
    assert_eq!(session.details(&reservation), before);
    let why = house.run(&["why", &format!("reservation/{reservation}/MUTEX")]);
    for told in ["no end of its own", "\"Mutex Owner\":\"x & y\"", "\"user\":\"admin\""] {
        assert!(why.contains(told), "{told} is not in {why}");
    }
    assert!(!why.contains(session.token.split('.').nth(1).unwrap()), "a secret: {why}");
    session.remove(&reservation, "MUTEX").good();
    assert!(!session.details(&reservation).contains("<Service "));
}

#[test]
fn aliases_are_independent_and_so_are_reservations() {
    let house = House::open(&[]);
    let mut sessions = [(); 2].map(|()| Session::open(&house.reservations));
    let [one, two] = [(); 2].map(|()| sessions[0].reserve());
    sessions[0].add(&one, "MUTEX", "a").good();
    assert!(sessions[1].add(&one, "MUTEX", "b").is_taken());
    assert!(sessions[1].add(&one.to_uppercase(), "MUTEX", "b").is_taken(), "it is the same one");
    sessions[1].add(&one, "OTHER", "b").good();
    sessions[1].add(&one, "mutex", "b").good();
    sessions[1].add(&two, "MUTEX", "b").good();
    sessions[1].add(&one, "MUTEX/2", "b").good();
    let details = sessions[0].details(&one);
    assert_eq!(details.matches("<Service ").count(), 4, "{details}");
}

#[test]
fn ending_a_reservation_frees_everything_in_it() {
    let house = House::open(&[]);
    let (mut owner, mut other) =
        (Session::open(&house.reservations), Session::open(&house.reservations));
    let reservation = owner.reserve();
    owner.add(&reservation, "MUTEX", "a").good();
    other.add(&reservation, "OTHER", "b").good();
    let this = [("reservationId", reservation.as_str()), ("unmap", "false")];
    for _ in 0..2 {
        owner.ask("EndReservation", &this).good();
    }
    for alias in ["MUTEX", "OTHER"] {
        let name = format!("reservation/{reservation}/{alias}");
        assert!(house.run(&["why", &name]).contains("Nobody holds"));
    }
    let (_, text) = other.add(&reservation, "OTHER", "b").refused();
    assert!(text.contains("has ended"), "{text}");
    let (_, text) = other.remove(&reservation, "OTHER").refused();
    assert!(text.contains("was taken away"), "{text}");
    let status = other.ask("GetReservationStatus", &this[..1]).good();
    assert!(status.contains("Status=\"Completed\""), "{status}");
    let unknown = [("reservationId", "00000000-0000-4000-8000-000000000000")];
    for call in ["EndReservation", "GetReservationStatus", "GetReservationDetails"] {
        assert!(other.ask(call, &unknown).refused().1.contains("is not known"));
    }
    assert!(other.add(unknown[0].1, "MUTEX", "b").refused().1.contains("is not known"));
}

#[test]
fn service_beyond_its_longest_hold_is_removed_and_its_owner_recorded() {
    let house = House::open(&["--cloudshell-longest-hold", "MUTEX=1s", "--linger", "1s"]);
    let mut stuck = Session::open(&house.reservations);
    let reservation = stuck.reserve();
    stuck.add(&reservation, "MUTEX", "stuck").good();
    stuck.add(&reservation, "OTHER", "stuck").good();
    let mut next = Session::open(&house.reservations);
    until(|| next.add(&reservation, "MUTEX", "next").body.contains("Success=\"true\""));
    let name = format!("reservation/{reservation}/MUTEX");
    let expired = house.claims(&name, "expired");
    assert_eq!(expired[0]["user_data"]["attributes"]["Mutex Owner"], "stuck");
    until(|| house.log().contains("removed after its longest hold"));
    assert!(house.log().contains("stuck"), "{}", house.log());
    let (_, text) = stuck.remove(&reservation, "MUTEX").refused();
    assert!(text.contains("after its longest hold"), "{text}");
    assert!(stuck.details(&reservation).contains("Alias=\"OTHER\""), "that one has no bound");
}

#[test]
fn stuck_mutex_is_freed_by_tenure_revoke() {
    let house = House::open(&[]);
    let (mut stuck, mut next) =
        (Session::open(&house.reservations), Session::open(&house.reservations));
    let reservation = stuck.reserve();
    stuck.add(&reservation, "MUTEX", "stuck").good();
    let claims = house.claims(&format!("reservation/{reservation}/MUTEX"), "active");
    house.run(&["revoke", &claims[0]["id"].to_string()]);
    next.add(&reservation, "MUTEX", "next").good();
    let (_, text) = stuck.remove(&reservation, "MUTEX").refused();
    assert!(text.contains("was taken away"), "{text}");
    assert!(next.details(&reservation).contains("Value=\"next\""));
}

#[test]
fn reservation_that_was_made_elsewhere_is_only_used_if_that_is_wanted() {
    let foreign = "9F3C7D52-0000-4000-8000-0123456789AB";
    let house = House::open(&["--cloudshell-foreign-reservations"]);
    let mut sessions = [(); 2].map(|()| Session::open(&house.reservations));
    sessions[0].add(foreign, "MUTEX", "a").good();
    assert!(sessions[1].add(foreign, "MUTEX", "b").is_taken());
    sessions[0].remove(foreign, "MUTEX").good();
    sessions[1].add(foreign, "MUTEX", "b").good();
}

#[test]
fn removing_is_for_everybody_only_if_that_is_wanted() {
    let house = House::open(&["--cloudshell-anybody-removes"]);
    let mut sessions = [(); 2].map(|()| Session::open(&house.reservations));
    let reservation = sessions[0].reserve();
    sessions[0].add(&reservation, "MUTEX", "a").good();
    sessions[1].remove(&reservation, "MUTEX").good();
    assert!(!sessions[0].details(&reservation).contains("<Service "));
}

#[test]
fn other_programs_and_clients_of_cloudshell_exclude_each_other() {
    let house = House::open(&[]);
    let mut session = Session::open(&house.reservations);
    let reservation = session.reserve();
    let name = format!("reservation/{reservation}/MUTEX");
    let url = format!("http://{}", house.address);
    let run = ["run", "-n", "--at", &url, &name, "--"];
    let inside = [&run[..], &["sh", "-c", "echo inside"]].concat();
    assert_eq!(house.run(&inside), "inside\n");
    session.add(&reservation, "MUTEX", "a").good();
    let refused = crate::house::tenure(house.home.path()).args(&inside).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    session.remove(&reservation, "MUTEX").good();
    // The other way round: while a command runs, it is a service to everybody else.
    let ready = house.home.path().join("ready");
    let script = format!("touch {}; cat > /dev/null", ready.display());
    let mut command = crate::house::tenure(house.home.path());
    let command = command.args(run).args(["sh", "-c", &script]);
    let mut running = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    until(|| ready.exists());
    assert!(session.add(&reservation, "MUTEX", "a").is_taken());
    assert!(session.details(&reservation).contains("ServiceName=\"Tenure claim\" Alias=\"MUTEX\""));
    drop(running.stdin.take());
    assert!(running.wait().unwrap().success());
    session.add(&reservation, "MUTEX", "a").good();
}

#[tokio::test(flavor = "current_thread")]
async fn tenure_s_own_mutex_on_reservations_works_here_too() {
    use makeshift::unique_create::{Login, Mutex, Outcome, Reservation, Terms};
    let house = House::open(&[]);
    let reservation = Session::open(&house.reservations).reserve();
    let mutex = |owner: &str, tries| {
        let login = Login {
            endpoint: format!("http://{}", house.reservations),
            user: "admin".into(),
            password: "admin".into(),
            domain: "Global".into(),
        };
        let names = std::sync::Arc::new(Reservation::new(login, reservation.as_str()).unwrap());
        Mutex::new(names, "MUTEX", Terms { tries, ..Terms::new(owner) })
    };
    let Outcome::Held(held) = mutex("a", 1).acquire().await.unwrap() else { panic!("without") };
    let refused = mutex("b", 1).acquire().await.unwrap_err();
    assert!(refused.to_string().contains("held by a"), "{refused}");
    held.release().await.unwrap();
    let Outcome::Held(held) = mutex("b", 1).acquire().await.unwrap() else { panic!("without") };
    held.release().await.unwrap();
}

#[test]
fn command_runs_under_a_mutex_of_a_reservation() {
    let house = House::open(&[]);
    let mut session = Session::open(&house.reservations);
    let reservation = session.reserve();
    let place = format!("cloudshell://admin@{}/{reservation}", house.reservations);
    let run = |command: &str| {
        let mut tenure = crate::house::tenure(house.home.path());
        tenure.env("TENURE_CLOUDSHELL_PASSWORD", "admin").stdin(std::process::Stdio::null());
        tenure.args(["run", "-n", "--at", &place, "MUTEX", "--", "sh", "-c", command]);
        tenure.output().unwrap()
    };
    let done = run("echo inside; exit 7");
    assert_eq!((done.status.code(), &*done.stdout), (Some(7), &b"inside\n"[..]), "{done:?}");
    session.add(&reservation, "MUTEX", "a").good();
    assert_eq!(run("echo inside").status.code(), Some(1));
    session.remove(&reservation, "MUTEX").good();
    assert_eq!(run("true").status.code(), Some(0));
}
