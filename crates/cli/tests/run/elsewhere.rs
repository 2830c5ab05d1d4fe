//! `tenure run --at` at places that were not made for locking.

use std::process::{Command, Stdio};

use crate::house::{Running, TENURE, told};

fn run(at: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(TENURE);
    command.args(["run", "--at", at]).args(arguments).stdin(Stdio::null());
    command
}

/// A directory, by each trick that works on one.
fn places(directory: &tempfile::TempDir) -> [String; 3] {
    let path = directory.path().display();
    [
        format!("mops+file://{path}/blobs?margin=0.3"),
        format!("create+file://{path}/names"),
        // The lock file and rename of our own, with queue and history.
        format!("file://{path}/records"),
    ]
}

#[test]
fn command_holds_the_lock_for_as_long_as_it_runs_and_gives_it_back() {
    let directory = tempfile::tempdir().unwrap();
    for place in places(&directory) {
        let script = "echo held; read line; exit 7";
        let mut command = run(&place, &["--ttl", "4s", "nightly", "--", "sh", "-c", script]);
        let mut holder = Running::start(command.stdin(Stdio::piped()));
        assert_eq!(holder.line(), "held", "{place}");
        // Somebody else is told so, now and after more than a lease.
        for wait in ["0", "6"] {
            let (code, said) =
                told(&run(&place, &["-w", wait, "nightly", "--", "true"]).output().unwrap());
            assert_eq!(code, 1, "{place}: {said}");
        }
        drop(holder.process.stdin.take());
        assert_eq!(holder.end().0, 7, "{place}");
        let (code, said) = told(&run(&place, &["nightly", "--", "echo", "mine"]).output().unwrap());
        assert_eq!((code, said.trim()), (0, "mine"), "{place}");
    }
}

#[test]
fn killed_holder_is_followed_after_its_lease() {
    let directory = tempfile::tempdir().unwrap();
    for place in places(&directory) {
        let command = "echo held; exec sleep 1000";
        let mut holder =
            Running::start(&mut run(&place, &["--ttl", "4s", "r", "--", "sh", "-c", command]));
        assert_eq!(holder.line(), "held", "{place}");
        holder.signal("-KILL");
        let (code, said) = told(&run(&place, &["r", "--", "echo", "mine"]).output().unwrap());
        // It may say whom it followed.
        assert!(code == 0 && said.starts_with("mine\n"), "{place}: {said}");
    }
}

#[test]
fn what_a_place_cannot_do_is_said_before_the_command_runs() {
    let directory = tempfile::tempdir().unwrap();
    let [blobs, names, _] = places(&directory);
    for place in [blobs, names] {
        for asked in [&["-s", "r"][..], &["--data", "1", "r"], &["a", "b"]] {
            let arguments = [asked, &["--", "echo", "ran"]].concat();
            let (code, said) = told(&run(&place, &arguments).output().unwrap());
            assert!(code == 69 && said.contains("cannot"), "{place} {asked:?}: {code} {said}");
            assert!(!said.contains("ran\n"), "{said}");
        }
    }
}
