//! The orchestrator and its remote: who dies, and what becomes of the lease.

use std::path::Path;

use crate::actor::{Actor, blob, lease, output, until};

/// Long enough that a slow machine refreshes in time.
const TERMS: [&str; 4] = ["--margin", "0.3", "--expire", "6"];

/// An orchestrator that holds, and its remote that keeps.
fn pair(directory: &Path) -> (Actor, Actor, String) {
    let owner = Actor::hold(directory, &TERMS);
    let writer = owner.expect("acquired")["writer"].as_str().unwrap().to_owned();
    let remote = Actor::remote(directory, &writer);
    assert_eq!(remote.expect("acquired")["writer"], writer.as_str());
    (owner, remote, writer)
}

/// Somebody who starts anew and waits.
fn waiter(directory: &Path) -> Actor {
    Actor::hold(directory, &["--margin", "0.3", "--expire", "6", "--for", "0.05"])
}

fn is_by_remote(value: &serde_json::Value) -> bool {
    value["writer_name"] == "remote"
}

#[test]
fn remote_keeps_the_lease_when_the_orchestrator_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let (mut owner, remote, writer) = pair(directory.path());
    owner.kill();
    // Longer than a lease, by the refreshes it writes.
    let first = until(directory.path(), is_by_remote)["write_count"].as_u64().unwrap();
    let later = until(directory.path(), |value| {
        is_by_remote(value) && value["write_count"].as_u64().unwrap() >= first + 4
    });
    assert_eq!(later["writer_id"], writer.as_str());
    let mut impatient = blob("hold", directory.path());
    let refused = output(impatient.args(TERMS).args(["--wait", "0"]));
    assert_eq!(refused.status.code(), Some(1), "somebody got in");
    // The remote ends; it does not release, and the lease runs out.
    let waiting = waiter(directory.path());
    remote.terminate();
    remote.expect("left");
    assert_eq!(lease(directory.path())["released_at"], "");
    waiting.expect("acquired");
}

#[test]
fn orchestrator_keeps_the_lease_when_the_remote_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let (owner, mut remote, writer) = pair(directory.path());
    remote.kill();
    let first =
        until(directory.path(), |value| !is_by_remote(value))["write_count"].as_u64().unwrap();
    let later =
        until(directory.path(), |value| value["write_count"].as_u64().unwrap() >= first + 4);
    assert_eq!(later["writer_id"], writer.as_str());
    owner.terminate();
    owner.expect("released");
}

#[test]
fn both_killed_are_followed_when_the_lease_runs_out() {
    let directory = tempfile::tempdir().unwrap();
    let (mut owner, mut remote, writer) = pair(directory.path());
    let waiting = waiter(directory.path());
    owner.kill();
    remote.kill();
    let next = waiting.expect("acquired");
    assert_ne!(next["writer"], writer.as_str());
}

#[test]
fn remote_of_a_beaten_writer_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = Actor::hold(directory.path(), &["--margin", "0.3", "--expire", "1"]);
    let beaten = first.expect("acquired")["writer"].as_str().unwrap().to_owned();
    first.kill();
    let second = Actor::hold(directory.path(), &TERMS);
    second.expect("acquired");
    let mut late = Actor::remote(directory.path(), &beaten);
    assert!(late.expect("refused")["why"].as_str().unwrap().contains("lost to"));
    assert_eq!(late.wait(), Some(1));
    second.terminate();
    second.expect("released");
}

#[test]
fn remote_neither_revives_nor_accepts_a_released_lease() {
    let directory = tempfile::tempdir().unwrap();
    let (owner, remote, writer) = pair(directory.path());
    owner.terminate();
    owner.expect("released");
    remote.expect("lost");
    let released = lease(directory.path());
    let late = Actor::remote(directory.path(), &writer);
    assert!(late.expect("refused")["why"].as_str().unwrap().contains("released"));
    assert_eq!(lease(directory.path()), released, "it was touched");
}
