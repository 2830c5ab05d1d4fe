//! Unique names in a directory: real processes, real kills.

use std::path::Path;
use std::process::Command;

use crate::actor::{Actor, TENURE, output};

fn verb(verb: &str, directory: &Path, name: &str) -> Command {
    let mut command = Command::new(TENURE);
    let address = format!("create+file://{}", directory.join("names").display());
    command.args(["blob", verb, &address, "--name", name]);
    command
}

fn hold(directory: &Path, name: &str, more: &[&str]) -> Actor {
    Actor::start(verb("hold", directory, name).arg("--json").args(more))
}

#[test]
fn contenders_for_a_name_never_overlap_and_their_fences_rise() {
    let directory = tempfile::tempdir().unwrap();
    let mut beliefs: Vec<(u64, u64, u64)> = std::thread::scope(|scope| {
        let one = || {
            [0; 5].map(|_| {
                let actor = hold(directory.path(), "a/b", &["--for", "0.02"]);
                let acquired = actor.expect("acquired");
                let end = actor.next().unwrap();
                let number = |event: &serde_json::Value, key: &str| event[key].as_u64().unwrap();
                (
                    number(&acquired, "at_us"),
                    number(&end, "believed_until_us"),
                    number(&acquired, "fence"),
                )
            })
        };
        let all: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    beliefs.sort_unstable();
    for pair in beliefs.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "two at once: {pair:?}");
        assert!(pair[0].2 < pair[1].2, "the fence fell: {pair:?}");
    }
}

#[test]
fn killed_holder_of_a_name_is_followed_after_its_lease() {
    let directory = tempfile::tempdir().unwrap();
    let mut victim = hold(directory.path(), "x", &["--expire", "1"]);
    let first = victim.expect("acquired")["fence"].as_u64().unwrap();
    victim.kill();
    let next = hold(directory.path(), "x", &["--expire", "1", "--for", "0"]);
    assert!(next.expect("acquired")["fence"].as_u64().unwrap() > first);
}

#[test]
fn names_are_independent_and_a_held_one_is_refused_with_its_owner() {
    let directory = tempfile::tempdir().unwrap();
    let holder = hold(directory.path(), "x", &["--expire", "60"]);
    let owner = holder.expect("acquired")["owner"].as_str().unwrap().to_owned();
    hold(directory.path(), "y", &["--for", "0"]).expect("acquired");
    let refused = output(verb("hold", directory.path(), "x").args(["--wait", "0"]));
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains(&owner));
    let status = output(&mut verb("status", directory.path(), "x"));
    assert!(String::from_utf8_lossy(&status.stdout).contains(&owner));
}

#[test]
fn going_on_without_is_loud_and_leaves_the_other_s_lock_alone() {
    let directory = tempfile::tempdir().unwrap();
    let holder = hold(directory.path(), "x", &["--expire", "60"]);
    holder.expect("acquired");
    let mut other = verb("hold", directory.path(), "x");
    let other = output(other.args(["--wait", "0", "--go-on-without", "--", "true"]));
    assert!(other.status.success());
    assert!(String::from_utf8_lossy(&other.stderr).contains("GOING ON WITHOUT THE LOCK"));
    let status = output(&mut verb("status", directory.path(), "x"));
    assert!(String::from_utf8_lossy(&status.stdout).contains("held by"));
    holder.terminate();
    holder.expect("released");
}

#[test]
fn broken_name_is_lost_by_its_holder() {
    let directory = tempfile::tempdir().unwrap();
    let holder = hold(directory.path(), "x", &["--expire", "6"]);
    holder.expect("acquired");
    // Renewed just then, it is not broken: somebody is alive.
    while !output(&mut verb("break", directory.path(), "x")).status.success() {}
    holder.expect("lost");
    hold(directory.path(), "x", &["--for", "0"]).expect("acquired");
}

#[test]
fn directory_that_others_may_write_to_or_a_link_is_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = tempfile::tempdir().unwrap();
    let names = directory.path().join("names");
    std::fs::create_dir(&names).unwrap();
    std::fs::set_permissions(&names, PermissionsExt::from_mode(0o777)).unwrap();
    let refused = output(&mut verb("hold", directory.path(), "x"));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("chmod 700"));
    std::fs::remove_dir(&names).unwrap();
    symlink(directory.path(), &names).unwrap();
    let refused = output(&mut verb("hold", directory.path(), "x"));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("links are not followed"));
}
