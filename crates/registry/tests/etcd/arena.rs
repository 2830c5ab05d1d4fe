//! Processes that contend for one resource, and what notices if two are inside.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use claims::{
    Command as Ask, Farewell, KeyHash, Limit, Name, Owner, Refusal, Registration, Resources, Rules,
    Ttl,
};
use registry::{Answer, Store, StoreError};

use super::cluster::PATIENCE;

/// Longer than any outage here: nobody's lease may end.
const TTL: f64 = 60.0;

/// A directory that the contenders share.
pub(crate) struct Arena {
    directory: tempfile::TempDir,
    contenders: Vec<Child>,
}

impl Arena {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), contenders: Vec::new() }
    }

    /// Lets a process in that takes turns.
    pub(crate) fn let_in(&mut self, url: &str, rounds: usize) {
        self.start(url, rounds, &[]);
    }

    /// Lets one in whose clock on the wall is wrong by an offset of libfaketime.
    ///
    /// By the library alone: its program leaves semaphores behind if it is killed, and ends at once
    /// when its process number comes again.
    pub(crate) fn let_in_with_clock(&mut self, url: &str, rounds: usize, offset: &str) {
        let library = faketime();
        let library = library.to_str().unwrap();
        let clock = [
            ("LD_PRELOAD", library),
            ("FAKETIME", offset),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ("TENURE_TEST_CLOCK", offset),
        ];
        self.start(url, rounds, &clock);
    }

    fn start(&mut self, url: &str, rounds: usize, variables: &[(&str, &str)]) {
        let contender = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "arena::contender", "--nocapture"])
            .envs(variables.iter().copied())
            .env("TENURE_TEST_BEGUN", wall_clock().to_string())
            .env("TENURE_TEST_URL", url)
            .env("TENURE_TEST_ARENA", self.directory.path())
            .env("TENURE_TEST_ROUNDS", rounds.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        self.contenders.push(contender.unwrap());
    }

    /// The fences of all who were inside so far, in order.
    pub(crate) fn entries(&self) -> Vec<u64> {
        let text = std::fs::read_to_string(self.directory.path().join("entries"));
        text.unwrap_or_default().lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Returns when so many have been inside.
    pub(crate) fn wait_for(&self, entries: usize) {
        let start = Instant::now();
        while self.entries().len() < entries {
            assert!(start.elapsed() < PATIENCE, "they go on taking turns");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Everybody has had all turns, one at a time, each with a greater fence.
    pub(crate) fn everybody_was_alone(mut self, entries: usize) {
        for contender in &mut self.contenders {
            assert!(contender.wait().unwrap().success(), "a contender has failed: see above");
        }
        let fences = self.entries();
        assert_eq!(fences.len(), entries);
        assert!(fences.is_sorted_by(|one, two| one < two), "{fences:?}");
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for contender in &mut self.contenders {
            let _ = contender.kill();
            let _ = contender.wait();
        }
    }
}

/// One contender: a child of the tests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by the tests of failures"]
async fn contender() {
    let variable = |name| std::env::var(name).unwrap();
    let begun: i64 = variable("TENURE_TEST_BEGUN").parse().unwrap();
    let wrong_by: i64 = std::env::var("TENURE_TEST_CLOCK").map_or(0, |secs| secs.parse().unwrap());
    assert!(
        (wall_clock() - begun - wrong_by).abs() < 1_800,
        "its clock is as wrong as it should be"
    );
    let arena = PathBuf::from(variable("TENURE_TEST_ARENA"));
    let store = open(&variable("TENURE_TEST_URL")).await;
    for _ in 0..variable("TENURE_TEST_ROUNDS").parse().unwrap() {
        let (owner, fence) = claim(&*store, "arena", TTL).await;
        be_inside(&arena, fence);
        give_back(&*store, owner).await;
    }
}

/// The library that bends the wall clock of a process.
fn faketime() -> PathBuf {
    let places = std::fs::read_dir("/usr/lib").unwrap().map(|entry| entry.unwrap().path());
    let mut found = places.map(|place| place.join("faketime/libfaketimeMT.so.1"));
    found.find(|path| path.exists()).expect("libfaketime is installed: `make tools` does it")
}

fn wall_clock() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap()
}

/// Nobody has taken it away; but who has to ask again may find it over and forgotten.
async fn give_back(store: &dyn Store, owner: Owner) {
    let release = || store.submit(Ask::End(owner, Farewell::Release));
    match release().await {
        Ok(answer) => drop(answer.expect("it has not been taken away")),
        Err(_) => match persistently(release).await {
            Ok(_) | Err(Refusal::Unknown { .. }) => {}
            Err(refusal) => panic!("{refusal}"),
        },
    }
}

fn be_inside(arena: &Path, fence: u64) {
    let sign = arena.join("inside");
    let entered = OpenOptions::new().write(true).create_new(true).open(&sign);
    assert!(entered.is_ok(), "two are inside, one with fence {fence}");
    let mut entries =
        OpenOptions::new().append(true).create(true).open(arena.join("entries")).unwrap();
    writeln!(entries, "{fence}").unwrap();
    std::fs::remove_file(sign).unwrap();
}

pub(crate) async fn open(url: &str) -> Box<dyn Store> {
    let start = Instant::now();
    loop {
        match registry::etcd::open(url, Rules::default()).await {
            Ok(store) => return store,
            Err(error) => assert!(start.elapsed() < PATIENCE, "{error}"),
        }
    }
}

/// Claims and waits, with one key however often it has to ask.
pub(crate) async fn claim(store: &dyn Store, name: &str, ttl: f64) -> (Owner, u64) {
    let mut key = [0; 16];
    getrandom::fill(&mut key).unwrap();
    let registration = Registration {
        key: KeyHash(key),
        resources: Resources::one(Name::new(name).unwrap()),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::from_secs_f64(ttl).unwrap(),
        data: None,
    };
    let ask = || store.submit_and_wait(Ask::Register(registration.clone()), PATIENCE);
    let granted = persistently(ask).await.expect("it may");
    let fence = granted.claim.activation().expect("it has waited long enough").fence.0;
    (Owner { claim: granted.claim.id, key: KeyHash(key) }, fence)
}

/// Asks until there is an answer: an outcome that is not known is found out by asking again.
pub(crate) async fn persistently<F>(ask: impl Fn() -> F) -> Answer
where
    F: Future<Output = Result<Answer, StoreError>>,
{
    let start = Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(StoreError::Corrupt(error)) => panic!("{error}"),
            Err(error) => {
                assert!(start.elapsed() < PATIENCE, "{error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// A child of this test binary that is spoken to, a line at a time.
pub(crate) struct Partner {
    pub(crate) child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Partner {
    pub(crate) fn start(test: &str, url: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", test, "--nocapture"])
            .env("TENURE_TEST_URL", url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said }
    }

    /// The rest of the next line that begins with this word.
    pub(crate) fn hear(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "it ended before it said {word}");
            if let Some((_, rest)) = line.trim().split_once(&format!("<{word}>")) {
                return rest.trim().to_owned();
            }
        }
    }

    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a child says to its parent.
pub(crate) fn say(word: &str, rest: impl std::fmt::Display) {
    let mut out = std::io::stdout();
    writeln!(out, "<{word}> {rest}").unwrap();
    out.flush().unwrap();
}
