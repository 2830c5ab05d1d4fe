//! The real binary, real files, real kills.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod rig;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rig::TENURE;

/// A line that acknowledges a claim.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Acknowledged {
    resource: String,
    claim: u64,
    fence: u64,
}

fn acknowledged(line: &str) -> Acknowledged {
    let words: Vec<&str> = line.split(' ').collect();
    let [resource, "claim", claim, "fence", fence] = words[..] else { panic!("{line}") };
    Acknowledged {
        resource: resource.into(),
        claim: claim.parse().unwrap(),
        fence: fence.parse().unwrap(),
    }
}

fn hold(program: &mut Command, data: &Path, count: u64) -> Child {
    let count = count.to_string();
    program.arg("hold").arg("--data").arg(data).args(["--count", &count]);
    program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Everything a victim acknowledged before it ended; `strike` may end it.
fn outlive(
    mut victim: Child,
    mut strike: impl FnMut(&mut Child, usize),
) -> (Vec<Acknowledged>, ExitStatus, String) {
    let out = BufReader::new(victim.stdout.take().unwrap());
    let mut all = Vec::new();
    for line in out.lines() {
        // The last line may have been cut short by the kill; it was not acknowledged then.
        let Ok(line) = line else { break };
        if line.contains(" fence ") {
            all.push(acknowledged(&line));
        }
        strike(&mut victim, all.len());
    }
    let mut said = String::new();
    victim.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (all, victim.wait().unwrap(), said)
}

/// Claims `more`, which proves that everything before is held: the names go on from there.
fn check(data: &Path, before: &[Acknowledged]) -> Vec<Acknowledged> {
    let (new, status, said) = outlive(hold(&mut Command::new(TENURE), data, 3), |_, _| {});
    assert!(status.success(), "{status}: {said}");
    assert_eq!(new.len(), 3);
    let highest = before.iter().map(|one| one.fence).max().unwrap_or(0);
    let used: BTreeSet<&str> = before.iter().map(|one| one.resource.as_str()).collect();
    for one in &new {
        assert!(one.fence > highest, "fence {} was given before", one.fence);
        assert!(!used.contains(one.resource.as_str()), "{} is held already", one.resource);
    }
    new
}

#[test]
fn killed_process_loses_nothing_it_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for round in 0..30 {
        let victim = hold(&mut Command::new(TENURE), directory.path(), 10_000);
        let (more, status, _) = outlive(victim, |victim, count| {
            if count >= 5 + round * 3 {
                let _ = victim.kill();
            }
        });
        assert!(!status.success(), "it was killed");
        assert!(more.len() >= 5);
        all.extend(more);
        let new = check(directory.path(), &all);
        all.extend(new);
    }
}

#[test]
fn kill_at_every_sync_loses_nothing_it_acknowledged() {
    for nth in 1..=12 {
        let directory = tempfile::tempdir().unwrap();
        let mut strace = rig::strace(&format!("fdatasync:signal=KILL:when={nth}"));
        let (all, _, _) = outlive(hold(&mut strace, directory.path(), 30), |_, _| {});
        check(directory.path(), &all);
    }
}

#[test]
fn kill_at_every_write_loses_nothing_it_acknowledged() {
    for nth in 1..=12 {
        let directory = tempfile::tempdir().unwrap();
        let mut strace = rig::strace(&format!("pwrite64:signal=KILL:when={nth}"));
        let (all, _, _) = outlive(hold(&mut strace, directory.path(), 30), |_, _| {});
        check(directory.path(), &all);
    }
}

#[test]
fn failing_sync_stops_the_process_with_a_clear_message() {
    let directory = tempfile::tempdir().unwrap();
    // A store that exists, so that the syncs are those of the log.
    let (before, ..) = outlive(hold(&mut Command::new(TENURE), directory.path(), 3), |_, _| {});
    let mut strace = rig::strace("fdatasync:error=EIO:when=5+");
    let (all, status, said) = outlive(hold(&mut strace, directory.path(), 30), |_, _| {});
    assert_eq!(status.code(), Some(74), "{said}");
    assert!(said.contains("syncing the log failed") && said.contains("stopping"), "{said}");
    assert!(all.len() < 30, "nothing is acknowledged after that");
    check(directory.path(), &[before, all].concat());
}

#[test]
fn second_process_on_one_directory_is_told_the_pid_of_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = hold(&mut Command::new(TENURE), directory.path(), u64::MAX);
    let mut line = String::new();
    BufReader::new(first.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let (_, status, said) =
        outlive(hold(&mut Command::new(TENURE), directory.path(), 1), |_, _| {});
    let pid = first.id();
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(!status.success());
    assert!(said.contains(&format!("in use by process {pid}")), "{said}");
}

#[test]
fn demo_runs_and_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(TENURE).arg("demo").env("TMPDIR", directory.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("fence 8") && text.contains("are held after the restart"), "{text}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
