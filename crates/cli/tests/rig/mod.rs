//! A real server process, real connections to it, and what may happen to both.
#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

mod line;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub(crate) use self::line::{Line, Told, ask};

pub(crate) const TENURE: &str = env!("CARGO_BIN_EXE_tenure");
pub(crate) const RELEASED: &str = r#"{"status":"released"}"#;

/// Longer than anything takes on the slowest machine: only what hangs is caught by it.
const NEVER: Duration = Duration::from_secs(180);

/// A server that does not outlive its test.
pub(crate) struct Server {
    process: Child,
    /// The server's own, also if it was started through something else.
    pid: Pid,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_as(&mut Command::new(TENURE), data)
    }

    pub(crate) fn start_as(command: &mut Command, data: &Path) -> Self {
        Self::try_start_as(command, data).unwrap_or_else(|| panic!("{command:?} does not serve"))
    }

    /// None if it ended before it served.
    pub(crate) fn try_start_as(command: &mut Command, data: &Path) -> Option<Self> {
        let mut process = command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .env("TENURE_CONFIG", "/dev/null")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Some((_, rest)) = line.split_once("http://") else {
            process.wait().unwrap();
            return None;
        };
        let address = rest.split('/').next().unwrap().to_owned();
        let pid = std::fs::read_to_string(data.join("lock")).unwrap();
        let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
        Some(Self { process, pid, address })
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Ends it without a warning, and waits until it is gone.
    pub(crate) fn kill(mut self) {
        self.signal(Signal::KILL);
        self.process.wait().unwrap();
    }

    /// Waits until it ends.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            // What was started under something else would outlive it, but not the other way round.
            let _ = kill_process(self.pid, Signal::KILL);
            let _ = self.process.wait();
        }
    }
}

/// A command under which chosen system calls of the binary go wrong, as `inject` says.
pub(crate) fn strace(inject: &str) -> Command {
    let calls = inject.split(':').next().unwrap();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null"]);
    strace.args(["-e", &format!("trace={calls}"), "-e", &format!("inject={inject}"), TENURE]);
    strace
}

/// Waits for something to come true.
pub(crate) fn until(mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < NEVER, "it never came true");
        std::thread::sleep(Duration::from_millis(2));
    }
}
