//! Programs without a server.

use std::process::{Command, Stdio};
use std::time::Duration;

use tenure::blocking::LockManager;

use crate::house::{TENURE, contend, file_in};

fn tenure(state: &std::path::Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(TENURE);
    command.args(arguments).env("XDG_STATE_HOME", state).env_remove("TENURE_URL");
    command.stdin(Stdio::null());
    command
}

#[test]
fn command_runs_alone_without_any_configuration() {
    let state = tempfile::tempdir().unwrap();
    let script = "mkdir \"$XDG_STATE_HOME/inside\" && rmdir \"$XDG_STATE_HOME/inside\"";
    let runs =
        (0..6).map(|_| tenure(state.path(), &["run", "r", "--", "sh", "-c", script]).spawn());
    let runs: Vec<_> = runs.map(Result::unwrap).collect();
    for mut run in runs {
        assert!(run.wait().unwrap().success(), "two were inside, or one was not served");
    }
    assert!(state.path().join("tenure/claims.db").exists());
}

#[test]
fn held_command_keeps_others_out_without_a_server() {
    let state = tempfile::tempdir().unwrap();
    let nested = format!("{TENURE} run -n -E 9 r -- true");
    let run = tenure(state.path(), &["run", "r", "--", "sh", "-c", &nested]).status().unwrap();
    assert_eq!(run.code(), Some(9), "it is held");
    let run = tenure(state.path(), &["run", "-n", "r", "--", "true"]).status().unwrap();
    assert_eq!(run.code(), Some(0), "it was given back");
}

#[test]
fn once_is_once_without_a_server() {
    let state = tempfile::tempdir().unwrap();
    let once = |word: &str| {
        let output = tenure(state.path(), &["once", "job", "--", "echo", word]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(once("first"), "first\n");
    assert_eq!(once("second"), "");
}

#[test]
fn library_claims_at_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let url = file_in(directory.path());
    let manager = LockManager::connect(&url).unwrap();
    let claim = manager.claim("r").ttl(Duration::from_secs(20)).get().unwrap();
    let other = LockManager::connect(&url).unwrap();
    assert!(other.try_claim("r").get().is_err(), "it is held");
    claim.refresh(Duration::from_secs(60)).unwrap();
    let token = claim.keeper().unwrap();
    other.renew_as_keeper(&token, Duration::from_secs(90)).unwrap();
    let first = claim.fence().unwrap();
    claim.release().unwrap();
    assert!(other.claim("r").get().unwrap().fence().unwrap() > first);
    let both = manager.claim_all(["r", "s"]).get();
    assert!(both.is_ok() || other.try_claim("s").get().is_err());
}

#[test]
fn contenders_at_a_file_never_overlap() {
    let directory = tempfile::tempdir().unwrap();
    let (detector, threads) = contend(vec![file_in(directory.path())], 4, 10);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(detector.passes(), 40);
}

#[test]
fn store_that_cannot_be_opened_is_said_to_be_so() {
    let state = tempfile::tempdir().unwrap();
    let run = ["run", "--at", "sqlite:/dev/null/claims.db", "r", "--", "true"];
    let output = tenure(state.path(), &run).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(69), "{said}");
    assert!(said.contains("/dev/null/claims.db"), "{said}");
}
