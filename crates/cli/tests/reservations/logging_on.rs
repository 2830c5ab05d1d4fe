//! Users, passwords and sessions.

use std::io::Write;
use std::process::Stdio;

use crate::face::{Line, Session};
use crate::house::{House, tenure, until};
use crate::python::python;

/// What `tenure password` makes of a password.
fn hashed(name: &str, password: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let mut command = tenure(home.path());
    let command = command.args(["password", name]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    writeln!(process.stdin.take().unwrap(), "{password}").unwrap();
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn only_users_with_their_passwords_log_on() {
    let (jane, joe) = (hashed("jane", "p\u{e4}ss word"), hashed("joe", "other"));
    let flags = ["--cloudshell-user", &jane, "--cloudshell-user", &joe, "--audit", "audit.log"];
    let mut house = House::open(&flags);
    let mut session = Session::open_as(&house.reservations, "jane", "p&#228;ss word").unwrap();
    let reservation = session.reserve();
    session.add(&reservation, "MUTEX", "a").good();
    for (user, password) in [("jane", "pass word"), ("nobody", "other"), ("joe", ""), ("", "")] {
        let refused = Session::open_as(&house.reservations, user, password).err().unwrap();
        let (code, text) = refused.refused();
        assert_eq!(code, if user.is_empty() { "100" } else { "118" }, "{text}");
    }
    // The session survives the server; it ends with the password that it was opened with.
    house.kill();
    house.start_again();
    drop(session.change_line());
    session.details(&reservation);
    let audit = || std::fs::read_to_string(house.home.path().join("audit.log")).unwrap();
    until(|| audit().contains("Wrong user or password") && audit().contains("\"token\":\"jane\""));
    assert!(!audit().contains(session.token.split('.').nth(1).unwrap()));
    assert!(!house.run(&["claims", "--json"]).contains("argon2"));
}

#[test]
fn session_ends_with_the_password_that_it_was_opened_with() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("config.toml");
    let configure = |hash: &str| {
        std::fs::write(&file, format!("cloudshell-user = ['{hash}']\n")).unwrap();
    };
    configure(&hashed("jane", "before"));
    let mut house = House::open(&["--config", file.to_str().unwrap()]);
    let mut session = Session::open_as(&house.reservations, "jane", "before").unwrap();
    session.reserve();
    house.kill();
    configure(&hashed("jane", "after"));
    house.start_again();
    drop(session.change_line());
    assert_eq!(session.ask("Logoff", &[]).status, 401);
    assert!(Session::open_as(&house.reservations, "jane", "before").is_err());
    assert!(Session::open_as(&house.reservations, "jane", "after").is_ok());
}

#[test]
fn unknown_tokens_are_told_401_except_by_a_logon() {
    let house = House::open(&[]);
    let mut session = Session::open(&house.reservations);
    let reservation = session.reserve();
    let good = session.token.clone();
    let (id, key) = good.split_once('.').unwrap();
    let other = Session::open(&house.reservations).token;
    let wrong = [
        String::new(),
        "nonsense".into(),
        id.into(),
        format!("{id}.{}", "A".repeat(22)),
        format!("{}.{key}", other.split('.').next().unwrap()),
        format!("999999.{key}"),
    ];
    for token in wrong {
        session.token = token;
        let said = session.ask("GetReservationStatus", &[("reservationId", &reservation)]);
        assert!(said.status == 401 && said.body.contains("log on again"), "{said:?}");
        let said = session.ask("SecureLogon", &[("token", &session.token.clone())]);
        assert_eq!(said.refused().0, "100");
    }
    session.token = good;
    session.ask("Logoff", &[]).good();
    assert_eq!(session.ask("Logoff", &[]).status, 401);
}

#[test]
fn beyond_the_loopback_users_and_encryption_are_demanded() {
    let home = tempfile::tempdir().unwrap();
    let refused = |flags: &[&str]| {
        let mut command = tenure(home.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--cloudshell", "0.0.0.0:0"]).args(flags);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(78), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let said = refused(&[]);
    assert!(said.contains("--cloudshell-user") && said.contains("--tls-cert"), "{said}");
    let said = refused(&["--cloudshell-user", &hashed("jane", "x")]);
    assert!(!said.contains("--cloudshell-user") && said.contains("--tls-cert"), "{said}");
}

#[test]
fn real_client_logs_on_over_an_encrypted_connection() {
    let Some(mut python) = python() else { return };
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let home = tempfile::tempdir().unwrap();
    let [chain, key] = ["chain.pem", "key.pem"].map(|name| home.path().join(name));
    std::fs::write(&chain, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (chain, key) = (chain.to_str().unwrap(), key.to_str().unwrap());
    let jane = hashed("jane", "hush");
    let house = House::open(&["--tls-cert", chain, "--tls-key", key, "--cloudshell-user", &jane]);
    let script = "
import sys
from cloudshell.api.cloudshell_api import *
def log_on(password):
    where = dict(port=int(sys.argv[1]), cloudshell_api_scheme='https')
    return CloudShellAPISession('127.0.0.1', 'jane', password, **where)
try:
    log_on('wrong')
    sys.exit('let in')
except CloudShellAPIError as e:
    assert e.code == '118', e
api = log_on('hush')
r = api.CreateImmediateReservation('r', 'jane', 1).Reservation
assert r.Owner == 'jane'
";
    let port = house.reservations.rsplit(':').next().unwrap();
    let output = python.args(["-c", script, port]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn server_stops_well_while_clients_are_connected() {
    let mut house = House::open(&[]);
    let mut session = Session::open(&house.reservations);
    let reservation = session.reserve();
    session.add(&reservation, "MUTEX", "a").good();
    assert!(house.stop().success());
    house.start_again();
    drop(session.change_line());
    assert!(session.details(&reservation).contains("Alias=\"MUTEX\""));
}

#[test]
fn silent_connection_is_let_go_here_as_well() {
    let house = House::open(&["--idle-for", "200ms", "--head-for", "200ms"]);
    assert!(Line::to(&house.reservations).answer().is_none());
}
