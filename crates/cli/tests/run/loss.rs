//! The claim is lost, or whoever guards it: the command is gone before the next one is let in.

use std::io::Write;
use std::process::Stdio;

use crate::house::{House, Running, until};
use crate::proxy::Proxy;
use crate::tree::Tree;

/// Starts the tree under a short lease, by a way of its own.
fn tree_at(house: &House, url: Option<&str>) -> (Running, Tree) {
    let script = Tree::script(house);
    let mut command = house.tenure("run", &["--ttl", "6s", "r", "--", "sh", &script]);
    if let Some(url) = url {
        command.env("TENURE_URL", url);
    }
    let running = Running::start(&mut command);
    let tree = Tree::grown(house);
    (running, tree)
}

/// The next holder, which writes when it begins.
fn next(house: &House) -> Running {
    house.start("run", &["r", "--", "date", "+%s%N"])
}

fn assert_in_order(tree: &Tree, next: &mut Running) {
    let begun: u64 = next.line().parse().unwrap();
    assert_eq!(next.end().0, 0);
    assert!(tree.is_gone(), "somebody of the tree still lives");
    assert!(tree.last_beat() < begun, "the tree went on after the next one had begun");
}

#[test]
fn tree_is_gone_before_the_next_holder_begins_when_the_network_is_cut() {
    let house = House::open();
    let proxy = Proxy::to(house.address());
    let (mut running, tree) = tree_at(&house, Some(&proxy.url()));
    proxy.cut();
    let mut next = next(&house);
    let (code, said) = running.end();
    assert_eq!(code, 121, "{said}");
    assert!(said.contains("\"r\" is lost"), "{said}");
    assert!(tree.is_gone());
    assert_in_order(&tree, &mut next);
}

#[test]
fn cut_shorter_than_the_lease_harms_nobody() {
    let house = House::open();
    let proxy = Proxy::to(house.address());
    let arguments =
        ["--json", "--ttl", "30s", "--grace", "1s", "r", "--", "sh", "-c", "echo ready; read line"];
    let mut command = house.tenure("run", &arguments);
    command.env("TENURE_URL", proxy.url()).stdin(Stdio::piped());
    let mut running = Running::start(&mut command);
    assert_eq!(running.line(), "ready");
    proxy.cut();
    // Until a renewal has gone unanswered.
    running.wait_for_event("unknown");
    proxy.mend();
    running.wait_for_event("renewed");
    running.process.stdin.take().unwrap().write_all(b"enough\n").unwrap();
    assert_eq!(running.end().0, 0);
    assert_eq!(house.count("r", "released"), 1);
}

#[test]
fn tree_is_stopped_when_the_server_stands_still_for_too_long() {
    let house = House::open();
    let (mut running, tree) = tree_at(&house, None);
    house.signal_server("-STOP");
    let (code, said) = running.end();
    assert_eq!(code, 121, "{said}");
    assert!(tree.is_gone());
    house.signal_server("-CONT");
}

#[test]
fn server_killed_and_restarted_while_a_command_runs_harms_nobody() {
    let mut house = House::open();
    let arguments = ["--json", "--ttl", "15s", "r", "--", "sh", "-c", "echo ready; read line"];
    let mut command = house.tenure("run", &arguments);
    let mut running = Running::start(command.stdin(Stdio::piped()));
    assert_eq!(running.line(), "ready");
    house.restart();
    running.wait_for_event("renewed");
    assert_eq!(house.output("run", &["-n", "r", "--", "true"]).0, 1);
    running.process.stdin.take().unwrap().write_all(b"enough\n").unwrap();
    let (code, said) = running.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(house.count("r", "released"), 1);
}

#[test]
fn revoked_claim_stops_the_tree() {
    let house = House::open();
    let (mut running, tree) = tree_at(&house, None);
    house.revoke("1");
    let (code, said) = running.end();
    assert!(code == 121 && said.contains("revoked"), "{code} {said}");
    assert!(tree.is_gone());
}

#[test]
fn claim_that_was_taken_away_before_the_command_ended_is_told() {
    let house = House::open();
    let mut command = house.tenure("run", &["r", "--", "sh", "-c", "echo ready; read line"]);
    let mut running = Running::start(command.stdin(Stdio::piped()));
    assert_eq!(running.line(), "ready");
    house.revoke("1");
    running.process.stdin.take().unwrap().write_all(b"enough\n").unwrap();
    let (code, said) = running.end();
    assert!(code == 121 && said.contains("was lost before the command ended"), "{code} {said}");
}

#[test]
fn tree_is_gone_before_the_next_holder_begins_when_run_is_killed() {
    let house = House::open();
    let (mut running, tree) = tree_at(&house, None);
    running.process.kill().unwrap();
    let mut next = next(&house);
    until(|| tree.is_gone());
    assert_in_order(&tree, &mut next);
}

#[test]
fn tree_is_gone_before_the_next_holder_begins_when_run_is_stopped() {
    let house = House::open();
    let (mut running, tree) = tree_at(&house, None);
    running.signal("-STOP");
    let mut next = next(&house);
    assert_in_order(&tree, &mut next);
    running.signal("-CONT");
    assert_eq!(running.end().0, 121);
}

#[test]
fn tree_is_stopped_when_its_guard_is_killed() {
    let house = House::open();
    let (mut running, tree) = tree_at(&house, None);
    let pid = running.process.id();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    crate::house::signal(children.trim().parse().unwrap(), "-KILL");
    assert_eq!(running.end().0, 121);
    assert!(tree.is_gone());
    assert_eq!(house.output("run", &["-n", "r", "--", "true"]).0, 0);
}
