//! `tenure verify`: the real binary on a real directory.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(120);

fn verify(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tenure"));
    command.arg("verify").args(arguments).stdin(Stdio::null());
    command
}

fn address(directory: &Path) -> String {
    format!("file://{}", directory.display())
}

fn text(output: &Output) -> String {
    let (out, error) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(error))
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn good_store_is_said_to_be_good_and_nothing_is_left_there() {
    let directory = tempfile::tempdir().unwrap();
    let url = address(directory.path());
    let done = verify(&[&url, "--processes", "3", "--rounds", "8"]).output().unwrap();
    let said = text(&done);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("24 of 24 turns taken by 3 processes: never two inside"), "{said}");
    assert!(said.contains("record exclusion   holds"), "{said}");
    assert!(!said.contains("BROKEN"), "{said}");
    assert!(is_empty(directory.path()));
}

#[test]
fn programs_are_told_in_lines_of_json() {
    let directory = tempfile::tempdir().unwrap();
    let url = address(directory.path());
    let done = verify(&[&url, "--processes", "2", "--rounds", "2", "--json"]).output().unwrap();
    let lines: Vec<serde_json::Value> = String::from_utf8_lossy(&done.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| lines.iter().filter(|it| it["finding"] == kind).collect::<Vec<_>>();
    assert!(of("promise").len() > 30 && of("promise").iter().all(|it| it["kept"] == true));
    assert_eq!(
        (&of("exclusion")[0]["turns"], &of("exclusion")[0]["overlap"]),
        (&4.into(), &false.into())
    );
    assert_eq!(lines.last().unwrap()["good"], true);
    assert_eq!(lines.last().unwrap()["holds"]["several resources"], false);
}

/// A store that somebody damages does not get away with it.
#[test]
fn store_that_breaks_a_promise_is_found_out() {
    let directory = tempfile::tempdir().unwrap();
    let mut verifying = verify(&[&address(directory.path()), "--rounds", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The first records that appear are replaced by nonsense, as a failing disk would.
    let mut damaged = 0;
    while verifying.try_wait().unwrap().is_none() {
        let trials = std::fs::read_dir(directory.path()).unwrap().flatten();
        for record in trials.flat_map(|it| std::fs::read_dir(it.path())).flatten().flatten() {
            if record.file_name().len() == 5 && damaged < 10 {
                damaged += usize::from(std::fs::write(record.path(), "nonsense").is_ok());
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let done = verifying.wait_with_output().unwrap();
    let said = text(&done);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("BROKEN") && said.contains("DOES NOT HOLD"), "{said}");
}

#[test]
fn interrupted_verification_cleans_up() {
    let directory = tempfile::tempdir().unwrap();
    let mut verifying = verify(&[&address(directory.path()), "--rounds", "60000"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while is_empty(directory.path()) {
        assert!(start.elapsed() < PATIENCE, "it begins");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = verifying.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(verifying.wait().unwrap().code(), Some(130));
    assert!(is_empty(directory.path()));
}

#[test]
fn what_cannot_be_verified_is_said_with_the_right_code() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, code, word) in [
        ("ftp://host/x".to_owned(), 64, "etcd://"),
        ("memory:".into(), 64, "process"),
        ("file:///no/such/directory".into(), 64, "make it first"),
        (format!("etcd://me:secret@{free}/x?timeout=0.2"), 69, "etcd://"),
    ] {
        let done = verify(&[&url]).output().unwrap();
        let said = text(&done);
        assert_eq!(done.status.code(), Some(code), "{url}: {said}");
        assert!(said.contains(word) && !said.contains("secret"), "{said}");
    }
}

#[test]
fn database_is_tried_out_beside_what_is_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/claims.db", directory.path().display());
    let done = verify(&[&url, "--processes", "3", "--rounds", "8"]).output().unwrap();
    let said = text(&done);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("24 of 24 turns taken by 3 processes: never two inside"), "{said}");
    assert!(said.contains("several resources  holds"), "{said}");
    assert!(is_empty(directory.path()));
}
