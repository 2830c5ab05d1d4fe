//! A `tenure blob` that runs, and what it says.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

pub(crate) const TENURE: &str = env!("CARGO_BIN_EXE_tenure");
/// Only a hang takes this long.
pub(crate) const HANG: Duration = Duration::from_secs(300);

/// A process that says lines of JSON. Killed when it is dropped.
pub(crate) struct Actor {
    child: Child,
    said: Receiver<Value>,
}

impl Actor {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, said) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if let Ok(event) = serde_json::from_str(&line) {
                    let _ = tell.send(event);
                }
            }
        });
        Self { child, said }
    }

    /// `tenure blob hold` on a lease directory.
    pub(crate) fn hold(directory: &Path, more: &[&str]) -> Self {
        Self::start(blob("hold", directory).args(["--json"]).args(more))
    }

    /// `tenure blob remote` on a lease directory.
    pub(crate) fn remote(directory: &Path, writer: &str) -> Self {
        Self::start(
            blob("remote", directory).args(["--json", "--margin", "0.3", "--writer", writer]),
        )
    }

    /// The next thing it says; nothing when it has ended.
    pub(crate) fn next(&self) -> Option<Value> {
        match self.said.recv_timeout(HANG) {
            Ok(event) => Some(event),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it says nothing"),
        }
    }

    /// The next thing it says, which must be this.
    pub(crate) fn expect(&self, event: &str) -> Value {
        let said = self.next().unwrap_or_else(|| panic!("it ended before it said {event}"));
        assert_eq!(said["event"], event, "{said}");
        said
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn terminate(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    }

    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn blob(verb: &str, directory: &Path) -> Command {
    let mut command = Command::new(TENURE);
    command.args(["blob", verb]).arg(directory);
    command
}

/// Runs it to its end.
pub(crate) fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap()
}

/// What the lease file says.
pub(crate) fn lease(directory: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(directory.join("lock.json")).unwrap()).unwrap()
}

/// Waits until the lease file says so.
pub(crate) fn until(directory: &Path, mut so: impl FnMut(&Value) -> bool) -> Value {
    let started = std::time::Instant::now();
    loop {
        if let Ok(text) = std::fs::read(directory.join("lock.json"))
            && let Ok(value) = serde_json::from_slice::<Value>(&text)
            && so(&value)
        {
            return value;
        }
        assert!(started.elapsed() < HANG, "the lease file never says so");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Now, by the clock of the events.
pub(crate) fn now_us() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000
}

/// Where `.ci/peers` puts what the tests need.
pub(crate) fn tools() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    cache.unwrap_or_else(home).join("tenure-tools")
}
