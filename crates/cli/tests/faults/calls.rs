//! A kill at every system call that has to do with the disk or with an answer.
//!
//! `strace` counts the calls of each thread for itself, and the kill comes with the first thread
//! that reaches the count. So the script says similar things more than once: what the thread that
//! opens the store hides at the beginning comes again later. And it is run twice: with one thread that
//! serves, the store's own does all that is to be kept; with two, the one that serves does most of it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::rig::{Line, Server, Told, strace, until};

/// One request of the script, and the answers that are right: it may be sent again after a kill.
pub(crate) struct Step {
    method: &'static str,
    /// The key of the claim.
    key: &'static str,
    body: &'static str,
    right: &'static [u16],
}

/// The segment that a new store keeps in reserve.
const RESERVE: &str = "log-0000000000000002";

const FIRST: &str = "key-of-the-first-claimant";
const SECOND: &str = "key-of-the-second-claimant";
const THIRD: &str = "key-of-the-third-claimant";
const SHARED: &str = "key-of-one-that-shares";

const fn claim(key: &'static str, body: &'static str, right: &'static [u16]) -> Step {
    Step { method: "POST", key, body, right }
}

const fn change(key: &'static str, body: &'static str, right: &'static [u16]) -> Step {
    Step { method: "PATCH", key, body, right }
}

pub(crate) const SCRIPT: [Step; 9] = [
    claim(SHARED, r#""resource":"b","ttl":3600,"shared":true"#, &[201]),
    claim(FIRST, r#""resource":"a","ttl":3600"#, &[201]),
    claim(SECOND, r#""resources":["a","c"],"ttl":3600"#, &[202]),
    change(FIRST, r#""ttl":7200"#, &[200]),
    change(FIRST, r#""status":"released""#, &[204]),
    change(SECOND, r#""status":"active""#, &[200]),
    claim(THIRD, r#""resource":"a","ttl":3600"#, &[202]),
    change(SECOND, r#""status":"released""#, &[204]),
    change(THIRD, r#""status":"active""#, &[200]),
];

/// How much of the script the thread that serves it does by itself, at least. What may wait for company is
/// the store's own thread's if none comes in time.
pub(crate) const BY_ITSELF: usize = SCRIPT.len() / 2;

/// What was acknowledged about a claim.
#[derive(Debug, Clone)]
struct Known {
    location: String,
    fence: Option<u64>,
    released: bool,
}

#[derive(Default)]
pub(crate) struct Script {
    /// The first step that was not acknowledged.
    pub(crate) next: usize,
    known: BTreeMap<&'static str, Known>,
}

impl Script {
    /// Goes on with the script; false if the server went away.
    pub(crate) fn run(&mut self, address: &str) -> bool {
        let Some(mut line) = Line::open(address) else { return false };
        while let Some(step) = SCRIPT.get(self.next) {
            let (path, body) = match (step.method, self.known.get(step.key)) {
                ("PATCH", Some(known)) => (known.location.clone(), format!("{{{}}}", step.body)),
                _ => ("/v1/claims/".into(), format!(r#"{{{},"key":"{}"}}"#, step.body, step.key)),
            };
            let Some(told) = line.ask(step.method, &path, &body) else { return false };
            // It cannot keep anything any more, and is about to end.
            if told.status == 503 {
                return false;
            }
            assert!(step.right.contains(&told.status), "step {}: {told:?}", self.next);
            self.learn(step, &told);
            self.next += 1;
        }
        true
    }

    fn learn(&mut self, step: &Step, told: &Told) {
        let known = self.known.entry(step.key).or_insert(Known {
            location: told.location.clone(),
            fence: None,
            released: false,
        });
        match told.status {
            204 => known.released = true,
            _ => known.fence = told.body["fence"].as_u64().or(known.fence),
        }
    }

    /// Everything that was acknowledged is there.
    pub(crate) fn check(&self, address: &str) {
        let mut line = Line::open(address).unwrap();
        for (key, known) in &self.known {
            let told = line.ask("GET", &known.location, "").unwrap().is(200);
            let status = told.body["status"].as_str().unwrap();
            match (known.released, known.fence) {
                (true, _) => assert_eq!(status, "released", "{key}"),
                // The last request may have been done, although nobody heard of it.
                (false, Some(_)) => assert!(["active", "released"].contains(&status), "{told:?}"),
                (false, None) => assert!(["waiting", "active"].contains(&status), "{told:?}"),
            }
            if let Some(fence) = known.fence {
                assert_eq!(told.body["fence"], fence, "{key}");
            }
        }
    }

    pub(crate) fn check_fences(&self) {
        let fence = |key| self.known[key].fence.unwrap();
        let all = [SHARED, FIRST, SECOND, THIRD].map(fence);
        assert!(all.is_sorted_by(|a, b| a < b), "fences in the order of grants: {all:?}");
    }
}

/// How many threads serve.
pub(crate) const SERVING: [&str; 2] = ["1", "2"];

/// Kills at the first, the second, … call of this name, each time on a directory of its own, until
/// the script gets through; returns how many kills there were with one thread that serves, and with two.
fn kill_at_every(call: &str, prepare: fn(&Path)) -> [usize; 2] {
    kill_at_every_in(&std::env::temp_dir(), call, prepare)
}

/// The same, with those directories in this one.
pub(crate) fn kill_at_every_in(place: &Path, call: &str, prepare: fn(&Path)) -> [usize; 2] {
    SERVING.map(|threads| kill_at_every_with(threads, place, call, prepare))
}

fn kill_at_every_with(threads: &str, place: &Path, call: &str, prepare: fn(&Path)) -> usize {
    for nth in 1.. {
        let directory = tempfile::tempdir_in(place).unwrap();
        let data = directory.path().join("data");
        prepare(&data);
        let mut script = Script::default();
        let mut victim = strace(&format!("{call}:signal=KILL:when={nth}"));
        let survived = match Server::try_start_as(victim.env("TENURE_THREADS", threads), &data) {
            None => false,
            Some(server) => script.run(&server.address) && is_ready(&server, &data),
        };
        let again = Server::start(&data);
        script.check(&again.address);
        assert!(script.run(&again.address), "nobody kills this one");
        script.check(&again.address);
        script.check_fences();
        if survived {
            return nth - 1;
        }
    }
    unreachable!("the script is short")
}

/// Waits until the work beside the script is done, too; false if the server went away.
fn is_ready(server: &Server, data: &Path) -> bool {
    let (mut alive, mut ready) = (true, false);
    until(|| {
        alive = Line::open(&server.address).is_some_and(|mut line| {
            line.ask("GET", "/livez", "").is_some_and(|told| told.status == 200)
        });
        ready = data.join(RESERVE).exists();
        ready || !alive
    });
    alive
}

pub(crate) fn nothing(_: &Path) {}

pub(crate) fn is_each_at_least(kills: [usize; 2], expected: [usize; 2]) {
    assert!(kills.iter().zip(expected).all(|(kills, least)| *kills >= least), "{kills:?}");
}

/// A store that was used before, and has no segment in reserve.
fn used(data: &Path) {
    let server = Server::start(data);
    let body = r#"{"resource":"before","ttl":3600}"#;
    let mut line = Line::open(&server.address).unwrap();
    line.ask("POST", "/v1/claims/", body).unwrap().is(201);
    server.kill();
    let _ = std::fs::remove_file(data.join(RESERVE));
}

#[test]
fn kill_at_every_sync_of_a_script_over_http_loses_nothing() {
    is_each_at_least(kill_at_every("fdatasync", nothing), [SCRIPT.len(), BY_ITSELF]);
    is_each_at_least(kill_at_every("fsync", nothing), [1, 1]);
    is_each_at_least(kill_at_every("fsync", used), [1, 1]);
}

#[test]
fn kill_at_every_write_of_a_script_over_http_loses_nothing() {
    is_each_at_least(kill_at_every("pwrite64", nothing), [SCRIPT.len(), BY_ITSELF]);
    // Also while a segment is being filled.
    is_each_at_least(kill_at_every("write", nothing), [17, 17]);
}

#[test]
fn kill_at_every_answer_and_name_of_a_script_over_http_loses_nothing() {
    is_each_at_least(kill_at_every("sendto", nothing), [SCRIPT.len(), SCRIPT.len()]);
    for call in ["mkdir", "ftruncate", "rename"] {
        is_each_at_least(kill_at_every(call, nothing), [1, 1]);
    }
    is_each_at_least(kill_at_every("rename", used), [1, 1]);
}

/// A signal that comes in the middle of a call is no failure of the disk. This one comes again and
/// again, to every thread.
#[test]
fn calls_that_are_interrupted_are_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut disturbed = strace("pwrite64,fdatasync,fsync:error=EINTR:when=1+2");
    let server = Server::start_as(&mut disturbed, &data);
    let mut script = Script::default();
    assert!(script.run(&server.address), "it gave up");
    assert!(is_ready(&server, &data), "it gave up on what is beside the script");
    server.kill();
    let again = Server::start(&data);
    script.check(&again.address);
    script.check_fences();
}
