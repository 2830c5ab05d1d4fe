//! Many who want one lease: nobody overlaps, and the dead are followed.

use std::path::Path;

use crate::actor::{Actor, blob, lease, now_us, output};

/// When somebody believed to hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Belief {
    from: u64,
    until: u64,
}

/// The detector: sorted by their beginnings, none begins before the one before it ended.
fn assert_no_overlap(mut beliefs: Vec<Belief>) {
    beliefs.sort();
    for pair in beliefs.windows(2) {
        assert!(pair[0].until <= pair[1].from, "two at once: {pair:?}");
    }
}

fn contend(directory: &Path) -> Actor {
    Actor::hold(directory, &["--margin", "0.5", "--expire", "5", "--for", "0.05"])
}

/// Holds it until it is done, or lost.
fn belief_of(actor: &Actor) -> Belief {
    let from = actor.expect("acquired")["at_us"].as_u64().unwrap();
    let end = actor.next().expect("it says how it ended");
    assert!(["released", "lost"].contains(&end["event"].as_str().unwrap()), "{end}");
    Belief { from, until: end["believed_until_us"].as_u64().unwrap() }
}

#[test]
fn eight_contenders_never_overlap() {
    let directory = tempfile::tempdir().unwrap();
    let beliefs: Vec<Belief> = std::thread::scope(|scope| {
        let one = || [0; 2].map(|_| belief_of(&contend(directory.path())));
        let all: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(beliefs.len(), 16);
    assert_no_overlap(beliefs);
    assert!(lease(directory.path())["released_at"].as_str().unwrap().starts_with("20"));
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "temporary files are left: {left:?}");
}

#[test]
fn killed_holders_are_followed_and_nobody_overlaps() {
    let directory = tempfile::tempdir().unwrap();
    let mut beliefs = Vec::new();
    for _ in 0..2 {
        let mut victim = Actor::hold(directory.path(), &["--margin", "0.3", "--expire", "2"]);
        let from = victim.expect("acquired")["at_us"].as_u64().unwrap();
        let waiting =
            Actor::hold(directory.path(), &["--margin", "0.3", "--expire", "2", "--for", "0.05"]);
        victim.kill();
        beliefs.push(Belief { from, until: now_us() });
        beliefs.push(belief_of(&waiting));
    }
    assert_no_overlap(beliefs);
}

#[test]
fn held_lease_is_refused_when_patience_ends_with_a_hint() {
    let directory = tempfile::tempdir().unwrap();
    let holder = Actor::hold(directory.path(), &["--margin", "0.3", "--expire", "60"]);
    let writer = holder.expect("acquired")["writer"].as_str().unwrap().to_owned();
    let mut impatient = blob("hold", directory.path());
    let refused = output(impatient.args(["--margin", "0.3", "--expire", "60", "--wait", "0"]));
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains(&writer) && said.contains("tenure blob status"), "{said}");
    // And nothing was touched.
    assert_eq!(lease(directory.path())["writer_id"], writer.as_str());
}

#[test]
fn empty_and_torn_files_are_never_written_over() {
    for text in ["", "{\"writer_id\": \"a", "[1]"] {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("lock.json");
        std::fs::write(&file, text).unwrap();
        let mut hold = blob("hold", directory.path());
        let refused = output(hold.args(["--margin", "0.3", "--expire", "1", "--wait", "0.5"]));
        assert_eq!(refused.status.code(), Some(1));
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains("cannot be read") && said.contains("tenure blob break"), "{said}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        // Deliberately, it goes.
        assert!(output(&mut blob("break", directory.path())).status.success());
        let hold = Actor::hold(directory.path(), &["--margin", "0.3", "--for", "0"]);
        hold.expect("acquired");
    }
}

#[test]
fn command_runs_under_the_lease_and_its_code_is_ours() {
    let directory = tempfile::tempdir().unwrap();
    let mut hold = blob("hold", directory.path());
    let script = "grep -q \"$TENURE_WRITER\" \"$TENURE_LEASE/lock.json\" && exit 7";
    let done = output(hold.args(["--margin", "0.3", "--", "sh", "-c", script]));
    assert_eq!(done.status.code(), Some(7), "{}", String::from_utf8_lossy(&done.stderr));
    assert_ne!(lease(directory.path())["released_at"], "");
}

#[test]
fn holder_whose_lease_was_taken_stops_its_command_and_touches_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let started = directory.path().join("started");
    let script = format!("touch {}; sleep 1000", started.display());
    let mut hold = blob("hold", directory.path());
    hold.args(["--margin", "0.3", "--expire", "2", "--", "sh", "-c", &script]);
    let mut hold = hold.spawn().unwrap();
    while !started.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let mut theirs = lease(directory.path());
    theirs["writer_id"] = "somebody-else".into();
    let temporary = directory.path().join(".theirs");
    std::fs::write(&temporary, theirs.to_string()).unwrap();
    // A refresh may be under way, as it is in life: then it writes once more, and we again.
    let file = directory.path().join("lock.json");
    let code = loop {
        if lease(directory.path())["writer_id"] != "somebody-else" {
            std::fs::write(&temporary, theirs.to_string()).unwrap();
            std::fs::rename(&temporary, &file).unwrap();
        }
        if let Some(status) = hold.try_wait().unwrap() {
            break status.code();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert_eq!(code, Some(121));
    assert_eq!(lease(directory.path()), theirs);
}
