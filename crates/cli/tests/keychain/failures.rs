//! Programs, keychains and servers that are killed and stopped.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::world::{Keychain, Program, Server, TENURE, boot_time, signal};

/// So long that nothing here can be its end.
const FOR_EVER: f64 = 36_000.0;

#[test]
fn killed_program_is_followed_at_once_because_its_keychain_aborts() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut program = Program::start(&server.url(), FOR_EVER, "");
    let mut next = Keychain::start(&server.url());
    assert_eq!(next.queue("n", "printer", 60.0)["position"], 1);
    program.process.kill();
    let granted = next.expect("granted");
    assert!(granted["fence"].as_u64() > program.granted["fence"].as_u64());
    assert_eq!(server.status(&program.granted["number"]), "aborted");
}

#[test]
fn killed_program_is_noticed_although_somebody_else_keeps_its_pipe_open() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut program = Program::start(&server.url(), FOR_EVER, "leaks");
    let mut next = Keychain::start(&server.url());
    next.queue("n", "printer", 60.0);
    program.process.kill();
    next.expect("granted");
    assert_eq!(server.status(&program.granted["number"]), "aborted");
    signal(program.third, "-KILL");
}

#[test]
fn program_that_hangs_up_is_followed_at_once() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut holder = Keychain::start(&server.url());
    let mut next = Keychain::start(&server.url());
    let granted = holder.hold("h", "printer", FOR_EVER);
    next.queue("n", "printer", 60.0);
    holder.hang_up();
    next.expect("granted");
    assert_eq!(server.status(&granted["number"]), "aborted");
    assert!(holder.process.0.wait().unwrap().success());
}

#[test]
fn program_and_keychain_killed_together_are_followed_at_the_deadline() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut program = Program::start(&server.url(), 2.0, "");
    let mut next = Keychain::start(&server.url());
    next.queue("n", "printer", 60.0);
    program.process.signal("-STOP"); // so that it cannot notice that its keychain is gone
    signal(program.keychain, "-KILL");
    program.process.kill();
    next.expect("granted");
    assert_eq!(server.status(&program.granted["number"]), "expired");
    assert!(program.granted["deadline"].as_f64().unwrap() < boot_time());
}

#[test]
fn program_stopped_for_three_ttls_keeps_its_claim() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let ttl = 8.0; // a machine that is busy elsewhere is late by seconds
    let mut program = Program::start(&server.url(), ttl, "");
    program.process.signal("-STOP");
    let until = Instant::now() + Duration::from_secs_f64(3.0 * ttl);
    while Instant::now() < until {
        assert_eq!(server.status(&program.granted["number"]), "active");
        std::thread::sleep(Duration::from_millis(100));
    }
    program.process.signal("-CONT");
    let valid = program.validate();
    assert_eq!(valid["held"], true, "{valid}");
    assert_eq!(valid["fence"], program.granted["fence"]);
}

#[test]
fn silent_program_loses_its_claims_only_if_silence_is_bounded() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut holder = Keychain::start_with(&server.url(), &["--max-silence", "1"]);
    let granted = holder.hold("h", "printer", FOR_EVER);
    let lost = holder.expect("lost");
    assert_eq!((&lost["claim"], &lost["cause"]), (&json!("h"), &json!("aborted")));
    let closed = holder.expect("closed");
    assert!(closed["reason"].as_str().unwrap().contains("silent"), "{closed}");
    assert_eq!(server.status(&granted["number"]), "aborted");
}

#[test]
fn stopped_keychain_lets_the_next_one_in_after_the_deadline_its_program_was_told() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut holder = Keychain::start(&server.url());
    let mut next = Keychain::start(&server.url());
    let granted = holder.hold("h", "printer", 2.0);
    next.queue("n", "printer", 60.0);
    holder.process.signal("-STOP");
    next.expect("granted");
    let now = boot_time();
    holder.process.signal("-CONT");
    let mut deadline = granted["deadline"].as_f64().unwrap();
    let lost = loop {
        let event = holder.next();
        match event["event"].as_str().unwrap() {
            "renewed" | "unknown" => deadline = event["deadline"].as_f64().unwrap(),
            _ => break event,
        }
    };
    assert_eq!((&lost["event"], &lost["claim"]), (&json!("lost"), &json!("h")));
    assert!(deadline < now, "the program believed until {deadline}, and it was {now}");
}

#[test]
fn claim_of_a_killed_keychain_is_adopted_by_its_key() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut first = Keychain::start(&server.url());
    let granted = first.hold("h", "printer", FOR_EVER);
    let mut waiter = Keychain::start(&server.url());
    let waiting = waiter.queue("w", "printer", FOR_EVER);
    first.process.kill();
    waiter.process.kill();

    let mut second = Keychain::start(&server.url());
    let adopt = |name: &str, key: &serde_json::Value| {
        json!({"do": "claim", "claim": name, "resource": "printer", "ttl": FOR_EVER,
            "key": key, "adopt": true})
    };
    second.say(&adopt("again", &granted["key"]));
    let again = second.expect("granted");
    assert_eq!((&again["number"], &again["fence"]), (&granted["number"], &granted["fence"]));
    second.say(&adopt("behind", &waiting["key"]));
    assert_eq!(second.expect("waiting")["position"], 1);
    second.say(&json!({"do": "release", "claim": "again"}));
    let ended = [second.next(), second.next()];
    assert!(ended.iter().any(|event| event["event"] == "released"), "{ended:?}");
    assert!(ended.iter().any(|event| event["event"] == "granted"), "{ended:?}");
}

#[test]
fn killed_and_restarted_server_changes_nothing_for_who_holds_and_who_waits() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start(data.path());
    let mut holder = Keychain::start(&server.url());
    let mut next = Keychain::start(&server.url());
    let granted = holder.hold("h", "printer", 600.0);
    next.queue("n", "printer", 600.0);
    server.process.kill();
    holder.say(&json!({"do": "refresh", "claim": "h", "id": "in the dark"}));
    let unknown = holder.expect("unknown");
    assert_eq!(unknown["id"], "in the dark");
    assert!(unknown["valid_for"].as_f64().unwrap() > 0.0);
    let server = Server::start_at(&server.address, data.path());
    assert_eq!(holder.expect("renewed")["claim"], "h");
    assert_eq!(server.status(&granted["number"]), "active");
    holder.say(&json!({"do": "release", "claim": "h"}));
    assert_eq!(holder.expect("released")["confirmed"], true);
    assert!(next.expect("granted")["fence"].as_u64() > granted["fence"].as_u64());
}

#[test]
fn sigterm_aborts_all_claims_and_tells_the_program() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut holder = Keychain::start(&server.url());
    let granted = holder.hold("h", "printer", FOR_EVER);
    holder.queue("w", "printer", FOR_EVER);
    holder.process.signal("-TERM");
    let mut ends = [holder.next(), holder.next()];
    ends.sort_by_key(|event| event["claim"].to_string());
    assert_eq!((&ends[0]["event"], &ends[0]["cause"]), (&json!("lost"), &json!("aborted")));
    assert_eq!((&ends[1]["event"], &ends[1]["cause"]), (&json!("failed"), &json!("aborted")));
    holder.expect("closed");
    assert!(holder.process.0.wait().unwrap().success());
    assert_eq!(server.status(&granted["number"]), "aborted");
}

#[test]
fn ctrl_c_is_for_the_program_to_decide() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut holder = Keychain::start(&server.url());
    let granted = holder.hold("h", "printer", FOR_EVER);
    holder.process.signal("-INT");
    holder.process.signal("-HUP");
    holder.say(&json!({"do": "validate", "claim": "h"}));
    assert_eq!(holder.expect("valid")["held"], true);
    assert_eq!(server.status(&granted["number"]), "active");
}

#[test]
fn program_that_never_reads_keeps_its_claim_and_finds_the_present() {
    use std::io::{BufRead, BufReader, Write};
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut command = Command::new(TENURE);
    command.args(["keychain", "--server", &server.url()]);
    let mut keychain = crate::world::Process(
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap(),
    );
    let mut output = BufReader::new(keychain.0.stdout.take().unwrap());
    let mut input = keychain.0.stdin.take().unwrap();
    let ttl = 8.0; // a machine that is busy elsewhere is late by seconds
    let claim = json!({"do": "claim", "claim": "c", "resource": "printer", "ttl": ttl});
    writeln!(input, "{claim}").unwrap();
    let granted = loop {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        if event["event"] == "granted" {
            break event;
        }
    };
    // More questions than the pipe and the keychain keep answers for: it stops listening, not renewing.
    let questions = 4_000;
    let writer = std::thread::spawn(move || {
        let id = "x".repeat(1_000);
        for nth in 0..questions {
            writeln!(input, "{}", json!({"do": "ping", "id": [nth, id]})).unwrap();
        }
        input
    });
    let until = Instant::now() + Duration::from_secs_f64(3.0 * ttl);
    while Instant::now() < until {
        assert_eq!(server.status(&granted["number"]), "active");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(!writer.is_finished(), "nobody keeps that many answers");
    let (mut pongs, mut renewed) = (0, 0);
    while pongs < questions {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        if event["event"] == "pong" {
            assert_eq!(event["id"][0], pongs);
            pongs += 1;
        } else {
            assert_eq!(event["event"], "renewed", "{event}");
            renewed += 1;
        }
    }
    drop(writer.join().unwrap());
    assert!(renewed < 50, "old news are not kept: {renewed}");
}
