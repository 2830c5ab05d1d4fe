//! The short form of what `make torture` does: real processes, real faults, a few seconds each.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::process::{Command, Output};

use serde_json::Value;

/// Runs the program to its end.
fn torture(words: &[&str]) -> Output {
    let torture = env!("CARGO_BIN_EXE_torture");
    let tenure = std::path::Path::new(torture).with_file_name("tenure");
    assert!(tenure.exists(), "these tests torture {}: cargo build -p cli", tenure.display());
    let output = Command::new(torture).args(words).output().unwrap();
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The same, and it must say that everything held. Returns its report.
fn holds(words: &[&str]) -> Value {
    let output = torture(&[words, &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words:?}: {said}");
    let report: Value = serde_json::from_str(&said).unwrap();
    for (fault, why) in report["skipped"].as_object().into_iter().flatten() {
        eprintln!("SKIPPED, NOT TESTED: {fault}: {why}");
    }
    report
}

/// Whether this machine lets us mount a file system; a word about it if not.
fn has_disk() -> bool {
    let tried = torture(&["power", "--rounds", "0"]);
    if !tried.status.success() {
        eprintln!("SKIPPED, NOT TESTED: no power is cut, because no file system can be mounted");
    }
    tried.status.success()
}

fn count(report: &Value, figure: &str) -> u64 {
    report[figure].as_u64().unwrap_or_else(|| panic!("{figure} in {report}"))
}

#[test]
fn everything_holds_on_the_embedded_store_under_all_faults() {
    let report = holds(&["run", "--seed", "1", "--seconds", "20"]);
    assert!(count(&report["figures"], "grants") > 0, "{report}");
    assert!(count(&report["figures"], "effects") > 0, "{report}");
    assert!(report["faults"].as_object().unwrap().len() > 5, "{report}");
}

#[test]
fn everything_holds_on_sqlite_while_its_server_and_workers_are_killed() {
    let faults =
        "server-kill,server-stop,worker-kill,worker-stop,keychain-kill,partition,power-cut";
    let report = holds(&["run", "--store", "sqlite", "--seconds", "8", "--faults", faults]);
    assert!(count(&report["figures"], "grants") > 0, "{report}");
}

#[test]
fn kills_lose_nothing_that_was_acknowledged() {
    let outcome = holds(&["kill", "--rounds", "20"]);
    assert_eq!(count(&outcome, "lost"), 0);
    assert!(count(&outcome, "unanswered") > 0, "nobody was killed at work: {outcome}");
}

#[test]
fn power_cuts_lose_nothing_that_was_acknowledged() {
    if has_disk() {
        let outcome = holds(&["power", "--rounds", "20"]);
        assert_eq!(count(&outcome, "lost"), 0);
        assert!(count(&outcome, "acknowledged") > 20, "{outcome}");
    }
}

/// A rig that cannot fail proves nothing.
#[test]
fn power_cuts_show_that_a_server_answers_before_it_syncs() {
    if has_disk() {
        let lax = "--server-flag=--durability=none";
        let output = torture(&["power", "--rounds", "6", "--json", lax]);
        assert_eq!(output.status.code(), Some(1));
        let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(count(&outcome, "lost") > 3, "{outcome}");
    }
}

/// The same through workers and the judge: it says what was lost, how to do it again, and where to look.
#[test]
fn run_that_loses_something_says_so_and_how_to_run_it_again() {
    if !has_disk() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let keep = directory.path().join("kept");
    let words = ["--seed", "5", "--seconds", "4", "--faults", "power-cut"];
    let lax = ["--server-flag=--durability=none", "--keep", keep.to_str().unwrap()];
    let output = torture(&[&["run"], &words[..], &lax[..]].concat());
    let (said, advice) = (output.stdout, output.stderr);
    let (said, advice) = (String::from_utf8_lossy(&said), String::from_utf8_lossy(&advice));
    assert_eq!(output.status.code(), Some(1), "{said}");
    // Somebody looks for what is gone, or its numbers are given once more: which comes first is chance.
    let signs = ["ClaimForgotten", "GrantLost", "ReleaseLost", "FenceTwice", "FenceOrder"];
    assert!(signs.iter().any(|sign| said.contains(sign)), "{said}");
    let again = advice.lines().find(|line| line.starts_with("again: ")).unwrap();
    let mut same = words.chunks(2).map(|pair| pair.join(" ")).chain([lax[0].to_owned()]);
    assert!(same.all(|words| again.contains(&words)), "{again}");
    assert!(keep.join("history").join("faults.jsonl").exists(), "{advice}");
}

#[test]
fn fault_that_does_not_exist_is_answered_with_those_that_do() {
    let output = torture(&["run", "--faults", "earthquake"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("earthquake") && said.contains("power-cut"), "{said}");
}
