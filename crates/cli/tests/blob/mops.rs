//! The original, from its own package, against ours on one directory.
//!
//! `.ci/peers` makes a virtual environment with it; without that these tests say so and do nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::actor::{Actor, blob, lease, output, until};

/// The Python that has the package.
fn python() -> Option<PathBuf> {
    let python = crate::actor::tools().join("peers/bin/python");
    let there = Command::new(&python).args(["-c", "import thds.mops"]).output();
    if there.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    eprintln!("SKIPPED, NOT TESTED: the mops package is not installed ({})", python.display());
    None
}

/// A process of the original that acquires, says so, and obeys its standard input.
fn original(python: &Path, directory: &Path, script: &str) -> Actor {
    let head = "import json, sys, time\n\
        from datetime import timedelta\n\
        from thds.mops.pure.core import lease\n\
        def say(**event): print(json.dumps(event), flush=True)\n\
        uri = 'file://' + sys.argv[1]\n\
        sec = lambda s: timedelta(seconds=s)\n\
        def acquire(expire=8, block=None):\n\
        \x20   return lease.acquire(uri, expire=sec(expire), acquire_margin=sec(0.5), \
        block=None if block is None else sec(block))\n";
    let code = format!("{head}{script}");
    Actor::start(Command::new(python).args(["-c", &code]).arg(directory))
}

const OURS: [&str; 4] = ["--margin", "0.5", "--expire", "8"];

#[test]
fn original_waits_for_ours_and_ours_for_the_original() {
    let Some(python) = python() else { return };
    let directory = tempfile::tempdir().unwrap();
    let ours = Actor::hold(directory.path(), &OURS);
    let writer = ours.expect("acquired")["writer"].clone();
    let refused =
        original(&python, directory.path(), "say(event='tried', got=bool(acquire(block=0)))\n");
    assert_eq!(refused.expect("tried")["got"], false, "the original took what is ours");
    let waits = "l = acquire()\nsay(event='acquired', writer=l.writer_id)\n\
        end = time.time() + 6\n\
        while time.time() < end:\n    l.maintain(); time.sleep(0.5)\n\
        l.release()\nsay(event='released')\n";
    let theirs = original(&python, directory.path(), waits);
    assert_eq!(lease(directory.path())["writer_id"], writer);
    ours.terminate();
    ours.expect("released");
    let writer = theirs.expect("acquired")["writer"].clone();
    // While it is theirs, ours waits.
    let mut impatient = blob("hold", directory.path());
    assert_eq!(output(impatient.args(OURS).args(["--wait", "0"])).status.code(), Some(1));
    let next = Actor::hold(directory.path(), &OURS);
    theirs.expect("released");
    assert_ne!(next.expect("acquired")["writer"], writer);
}

fn belief(actor: &Actor) -> (u64, u64) {
    let from = actor.expect("acquired")["at_us"].as_u64().unwrap();
    (from, actor.next().unwrap()["believed_until_us"].as_u64().unwrap())
}

#[test]
fn contenders_of_both_kinds_never_overlap() {
    let Some(python) = python() else { return };
    let directory = tempfile::tempdir().unwrap();
    let script = "now = lambda: int(time.clock_gettime(time.CLOCK_BOOTTIME) * 1e6)\n\
        for _ in range(2):\n\
        \x20   l = acquire(expire=5)\n\
        \x20   say(event='acquired', at_us=now())\n\
        \x20   time.sleep(0.05)\n\
        \x20   say(event='released', believed_until_us=now())\n\
        \x20   l.release()\n";
    let mut beliefs: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let theirs = || {
            let actor = original(&python, directory.path(), script);
            [belief(&actor), belief(&actor)]
        };
        let ours = || {
            let terms = ["--margin", "0.5", "--expire", "5", "--for", "0.05"];
            [0; 2].map(|_| belief(&Actor::hold(directory.path(), &terms)))
        };
        let mut all: Vec<_> = (0..3).map(|_| scope.spawn(theirs)).collect();
        all.extend((0..3).map(|_| scope.spawn(ours)));
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    beliefs.sort_unstable();
    assert_eq!(beliefs.len(), 12);
    for pair in beliefs.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "two at once: {pair:?}");
    }
}

#[test]
fn remotes_of_both_kinds_keep_leases_of_both_kinds() {
    let Some(python) = python() else { return };
    let directory = tempfile::tempdir().unwrap();
    // Ours acquires, their remote keeps.
    let mut ours = Actor::hold(directory.path(), &OURS);
    let writer = ours.expect("acquired")["writer"].as_str().unwrap().to_owned();
    let keep = format!(
        "w = lease.make_remote_lease_writer(uri, '{writer}')\nsay(event='joined')\n\
         end = time.time() + 8\n\
         while time.time() < end:\n    w.maintain(); time.sleep(0.5)\n"
    );
    let theirs = original(&python, directory.path(), &keep);
    theirs.expect("joined");
    ours.kill();
    until(directory.path(), |value| {
        value["writer_name"] == "remote" && value["write_count"].as_u64().unwrap() > 8
    });
    assert_eq!(lease(directory.path())["writer_id"], writer.as_str());
    drop(theirs);
    // Theirs acquires, our remote keeps.
    let once = "l = acquire()\nsay(event='acquired', writer=l.writer_id)\n";
    let theirs = original(&python, directory.path(), once);
    let writer = theirs.expect("acquired")["writer"].as_str().unwrap().to_owned();
    let remote = Actor::remote(directory.path(), &writer);
    remote.expect("acquired");
    until(directory.path(), |value| {
        value["writer_name"] == "remote" && value["write_count"].as_u64().unwrap() > 4
    });
    let refused =
        original(&python, directory.path(), "say(event='tried', got=bool(acquire(block=0)))\n");
    assert_eq!(refused.expect("tried")["got"], false);
}
