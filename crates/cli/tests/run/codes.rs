//! Exit codes one by one.

use crate::house::{House, Running, TENURE};

/// Somebody who holds a resource until the value is gone.
fn holder(house: &House, resource: &str) -> Running {
    let mut holder =
        house.start("run", &[resource, "--", "sh", "-c", "echo held; exec sleep 1000"]);
    assert_eq!(holder.line(), "held");
    holder
}

#[test]
fn command_s_exit_code_is_passed_on_exactly() {
    let house = House::open();
    for code in [0, 1, 7, 64, 69, 121, 137, 255] {
        let (ended, said) = house.output("run", &["r", "--", "sh", "-c", &format!("exit {code}")]);
        assert_eq!((ended, said.as_str()), (code, ""));
    }
    assert_eq!(house.count("r", "released"), 8);
}

#[test]
fn command_that_a_signal_ended_is_told_as_128_and_the_signal() {
    let house = House::open();
    for (signal, code) in [("KILL", 137), ("TERM", 143), ("SEGV", 139)] {
        let kill = format!("kill -{signal} $$");
        assert_eq!(house.output("run", &["r", "--", "sh", "-c", &kill]).0, code);
    }
}

#[test]
fn who_does_not_get_it_ends_with_1_or_what_was_asked_for() {
    let house = House::open();
    let _holder = holder(&house, "r");
    for (flags, code) in [
        (&["-n"][..], 1),
        (&["-n", "-E", "9"][..], 9),
        (&["-w", "0.2"][..], 1),
        (&["-w", "0"][..], 1),
        (&["-w", "0.2", "-E", "0"][..], 0),
        (&["-s", "-n", "-E", "77"][..], 77),
    ] {
        let arguments = [flags, &["r", "--", "touch", "/nowhere/to/be/run"]].concat();
        assert_eq!(house.output("run", &arguments), (code, String::new()), "{flags:?}");
    }
    crate::house::until(|| house.count("r", "waiting") == 0);
}

#[test]
fn who_shares_is_let_in_together_and_who_does_not_is_not() {
    let house = House::open();
    let mut reader = house.start("run", &["-s", "r", "--", "sh", "-c", "echo in; exec sleep 1000"]);
    assert_eq!(reader.line(), "in");
    assert_eq!(house.output("run", &["-s", "-n", "r", "--", "true"]).0, 0);
    assert_eq!(house.output("run", &["-x", "-n", "r", "--", "true"]).0, 1);
    assert_eq!(house.output("run", &["--limit", "2", "-n", "other", "--", "true"]).0, 0);
}

#[test]
fn patient_one_gets_it_when_it_is_free() {
    let house = House::open();
    let holder = holder(&house, "r");
    let mut waiter = house.start("run", &["-w", "100", "r", "--", "echo", "mine"]);
    crate::house::until(|| house.count("r", "waiting") == 1);
    holder.signal("-TERM");
    assert_eq!(waiter.line(), "mine");
    assert_eq!(waiter.end().0, 0);
}

#[test]
fn wrong_usage_is_64_and_says_why() {
    let house = House::open();
    for (arguments, word) in [
        (&["r"][..], "COMMAND"),
        (&["--", "true"][..], "RESOURCE"),
        (&["--nonsense", "r", "--", "true"][..], "--nonsense"),
        (&["-s", "-x", "r", "--", "true"][..], "cannot be used with"),
        (&["--data", "{not json", "r", "--", "true"][..], "JSON"),
        (&["", "--", "true"][..], "empty"),
        (&["--ttl", "20s", "--grace", "10s", "r", "--", "true"][..], "--ttl"),
        (&["--at", "redis://here", "r", "--", "true"][..], "http://"),
        (&["-E", "300", "r", "--", "true"][..], "300"),
    ] {
        let (code, said) = house.output("run", arguments);
        assert_eq!(code, 64, "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
}

#[test]
fn server_that_is_not_there_is_69_with_and_without_patience() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for flags in [&["-w", "0.2"][..], &[][..]] {
        let mut command = std::process::Command::new(TENURE);
        command.args(["run", "--at", &url]).args(flags).args(["r", "--", "true"]);
        let (code, said) = crate::house::told(&command.output().unwrap());
        assert_eq!(code, 69, "{said}");
        assert!(said.contains(&url), "{said}");
    }
}

#[test]
fn command_that_cannot_be_run_is_126_or_127() {
    let house = House::open();
    let (code, said) = house.output("run", &["r", "--", "no-such-command"]);
    assert!(code == 127 && said.contains("no-such-command"), "{code} {said}");
    let (code, said) = house.output("run", &["r", "--", "/etc/passwd"]);
    assert!(code == 126 && said.contains("/etc/passwd"), "{code} {said}");
    assert_eq!(house.count("r", "released"), 2);
}
