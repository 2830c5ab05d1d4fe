//! What passes through to the command: environment, streams, signals. And what is said meanwhile.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use crate::house::{House, Running, lives, state, told, until};
use crate::signals::{hearing, hold_in_a_hostile_environment};

#[test]
fn command_finds_fence_claim_and_resources_in_its_environment() {
    let house = House::open();
    let print = "echo \"$TENURE_FENCE|$TENURE_CLAIM|$TENURE_RESOURCE\"";
    let fence = |text: &str| text.split('|').next().unwrap().parse::<u64>().unwrap();
    let (_, first) = house.output("run", &["one thing", "--", "sh", "-c", print]);
    let (_, second) = house.output("run", &["a", "b", "--", "sh", "-c", print]);
    assert!(first.ends_with("|1|one thing\n"), "{first}");
    assert!(second.ends_with("|2|a\nb\n"), "{second}");
    assert!(fence(&second) > fence(&first));
}

#[test]
fn others_see_who_holds_or_what_was_said_but_no_arguments() {
    let house = House::open();
    house.output("run", &["r", "--", "sh", "-c", "true secret"]);
    house.output("run", &["--data", r#"{"why": "backup"}"#, "r", "--", "true"]);
    let seen = house.get("/v1/claims/?resource=r");
    assert!(seen.contains(r#""command":"sh""#) && seen.contains("\"pid\":"), "{seen}");
    assert!(seen.contains(r#"{"why": "backup"}"#), "{seen}");
    assert!(!seen.contains("secret"), "{seen}");
}

#[test]
fn standard_input_and_output_belong_to_the_command() {
    let house = House::open();
    let mut command = house.tenure("run", &["r", "--", "tr", "a-z", "A-Z"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    process.stdin.take().unwrap().write_all(b"through and through").unwrap();
    let output = process.wait_with_output().unwrap();
    assert_eq!(told(&output), (0, "THROUGH AND THROUGH".to_owned()));
}

#[test]
fn signals_are_passed_on_to_the_command() {
    let house = House::open();
    let signals = [("TERM", 5), ("INT", 6), ("HUP", 7), ("USR1", 8), ("QUIT", 9)];
    for (signal, code) in signals {
        let script = format!(
            "trap 'echo got {signal}; exit {code}' {signal}; echo ready; while :; do sleep 0.02; done"
        );
        let mut command = house.tenure("run", &["r", "--", "sh", "-c", &script]);
        // A job of its own, not the one in the foreground of whoever runs the tests.
        let mut running = Running::start(command.process_group(0));
        assert_eq!(running.line(), "ready");
        running.signal(&format!("-{signal}"));
        assert_eq!(running.line(), format!("got {signal}"));
        assert_eq!(running.end().0, code);
    }
}

#[test]
fn what_was_ignored_stays_ignored() {
    let house = House::open();
    let mut command = std::process::Command::new("sh");
    let script = "trap '' HUP; exec \"$T\" run r -- sh -c 'echo ready; read line; echo $line'";
    let tenure = house.tenure("run", &[]);
    let variables: Vec<_> = tenure.get_envs().filter_map(|(k, v)| Some((k, v?))).collect();
    command.args(["-c", script]).envs(variables).stdin(Stdio::piped());
    let mut running = Running::start(&mut command);
    assert_eq!(running.line(), "ready");
    running.signal("-HUP");
    running.process.stdin.take().unwrap().write_all(b"still here\n").unwrap();
    assert_eq!(running.line(), "still here");
    assert_eq!(running.end().0, 0);
}

#[test]
fn signal_while_it_waits_leaves_the_queue() {
    let house = House::open();
    let mut holder = house.start("run", &["r", "--", "sh", "-c", "echo held; exec sleep 1000"]);
    assert_eq!(holder.line(), "held");
    let mut waiter = house.start("run", &["r", "--", "true"]);
    until(|| house.count("r", "waiting") == 1);
    waiter.signal("-TERM");
    assert_eq!(waiter.end().0, 143);
    until(|| house.count("r", "waiting") == 0);
}

#[test]
fn guard_that_was_ready_is_gone_with_the_one_who_waited() {
    for end in ["-TERM", "-KILL"] {
        let house = House::open();
        let mut holder = house.start("run", &["r", "--", "sh", "-c", "echo held; exec sleep 1000"]);
        assert_eq!(holder.line(), "held");
        let mark = house.file("never").display().to_string();
        let mut waiter = house.start("run", &["r", "--", "touch", &mark]);
        let mut guard = String::new();
        until(|| {
            guard = child_of(waiter.process.id());
            !guard.is_empty()
        });
        waiter.signal(end);
        waiter.process.wait().unwrap();
        until(|| !lives(&guard));
        assert!(!house.file("never").exists(), "it has not begun");
    }
}

/// The first child of a process, or nothing.
fn child_of(pid: u32) -> String {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    children.unwrap_or_default().split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn events_are_told_as_json_on_the_error_stream() {
    let house = House::open();
    let output =
        house.tenure("run", &["--json", "r", "--", "sh", "-c", "exit 3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    let events: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["granted", "started", "ended", "released"]);
    assert_eq!((&events[0]["claim"], &events[2]["code"]), (&1.into(), &3.into()));
}

#[test]
fn on_a_terminal_one_line_says_place_holder_and_time() {
    let house = House::open();
    let mut holder = house.start("run", &["r", "--", "sh", "-c", "echo held; exec sleep 1000"]);
    assert_eq!(holder.line(), "held");
    let tenure = house.tenure("run", &[]);
    let variables: Vec<_> = tenure.get_envs().filter_map(|(k, v)| Some((k, v?))).collect();
    let mut command = hearing("script");
    command.args(["-qec", "stty cols 200; exec \"$T\" run r -- echo mine", "/dev/null"]);
    let mut waiter = Running::start(command.envs(variables).stdin(Stdio::null()));
    let line = waiter.shown(" so far");
    holder.signal("-TERM");
    let rest = waiter.line();
    let pid = holder.process.id();
    assert!(line.contains("waiting for \"r\" at place 1, held by claim 1 (sh on "), "{line:?}");
    assert!(line.contains(&format!("pid {pid}) for ")), "{line:?}");
    assert!(rest.ends_with("\r\u{1b}[Kmine"), "{rest:?}");
}

/// `script` gives the shell line a terminal of its own, on which the test presses keys.
fn on_a_terminal(house: &House, line: &str) -> (Running, std::process::ChildStdin) {
    let tenure = house.tenure("run", &[]);
    let variables: Vec<_> = tenure.get_envs().filter_map(|(k, v)| Some((k, v?))).collect();
    let mut command = hearing("script");
    command.args(["-qec", line, "/dev/null"]).env("SHELL", "/bin/bash");
    let mut running = Running::start(command.envs(variables).stdin(Stdio::piped()));
    let keys = running.process.stdin.take().unwrap();
    (running, keys)
}

#[test]
fn ctrl_c_reaches_the_command_once() {
    let house = House::open();
    let script = "exec \"$T\" run r -- sh -c \
        'trap \"echo interrupted\" INT; echo ready; until read line; do :; done; echo end $line'";
    let (mut running, mut keys) = on_a_terminal(&house, script);
    running.shown("ready");
    keys.write_all(b"\x03").unwrap();
    running.shown("interrupted");
    keys.write_all(b"now\n").unwrap();
    let rest = running.shown("end now");
    assert!(!rest.contains("interrupted"), "{rest:?}");
    assert_eq!(running.end().0, 0);
    assert_eq!(house.count("r", "released"), 1);
}

#[test]
fn signals_and_keys_pass_through_whoever_starts_the_tests() {
    hold_in_a_hostile_environment(&[
        "passing::signals_are_passed_on_to_the_command",
        "passing::what_was_ignored_stays_ignored",
        "passing::signal_while_it_waits_leaves_the_queue",
        "passing::on_a_terminal_one_line_says_place_holder_and_time",
        "passing::ctrl_c_reaches_the_command_once",
        "passing::ctrl_z_stops_the_whole_job_and_it_goes_on_where_it_was",
    ]);
}

#[test]
fn ctrl_z_stops_the_whole_job_and_it_goes_on_where_it_was() {
    let house = House::open();
    // A shell with job control: without one, nobody could let it go on.
    let script = "set -m; \"$T\" run r -- sh -c 'echo $$ ready; read line; echo end $line'; \
        echo stopped $?; read key; fg; echo code $?";
    let (mut running, mut keys) = on_a_terminal(&house, script);
    let ready = running.shown(" ready");
    let command = ready.trim_end_matches(" ready").trim_start();
    keys.write_all(b"\x1a").unwrap();
    running.shown("stopped 148");
    // The shell knows of its own child. The command stops by itself, a little later on a busy machine,
    // and until then takes keys that are meant for the shell.
    until(|| state(command) == 'T');
    assert_eq!(house.count("r", "active"), 1);
    keys.write_all(b"\n").unwrap();
    keys.write_all(b"now\n").unwrap();
    running.shown("end now");
    running.shown("code 0");
    assert_eq!(house.count("r", "released"), 1);
}
