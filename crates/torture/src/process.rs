//! Processes that do not outlive the rig, each in the network it belongs to.

use std::ffi::OsStr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// Only what hangs takes so long.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A command that dies with the thread that starts it, however that ends: only for the main thread.
pub(crate) fn command(program: impl AsRef<OsStr>, space: Option<&str>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).args(inside(space)).arg(program);
    command.stdin(Stdio::null());
    command
}

/// What a command line begins with to be run in a network of its own.
pub(crate) fn inside(space: Option<&str>) -> Vec<String> {
    // Not `ip netns exec`: that has mounts of its own, which would keep a disk busy for ever.
    let enter =
        |space| ["nsenter".to_owned(), format!("--net=/run/netns/{space}"), "--".to_owned()];
    space.map(enter).into_iter().flatten().collect()
}

/// Runs a command line to its end; what it said if it failed.
pub(crate) fn run(line: &str) -> anyhow::Result<()> {
    let mut words = line.split(' ');
    let program = words.next().unwrap_or_default();
    let done = Command::new(program).args(words).stdin(Stdio::null()).output();
    let done = done.with_context(|| format!("{program} is not there: `make tools` installs it"))?;
    ensure!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr).trim());
    Ok(())
}

/// A process of ours, which ends with this value.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn spawn(command: &mut Command) -> anyhow::Result<Self> {
        Ok(Self(command.spawn().with_context(|| format!("cannot start {command:?}"))?))
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // It may have ended by itself: then there is nothing to do.
        let _ = kill_process(Pid::from_child(&self.0), signal);
    }

    /// How it ended; none if it is running.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }

    /// Ends it without a warning.
    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Waits until it ends by itself.
    pub(crate) fn end(&mut self, within: Duration) -> anyhow::Result<ExitStatus> {
        let mut status = None;
        let ended = until(within, || {
            status = self.ended();
            status.is_some()
        });
        match (ended, status) {
            (true, Some(status)) => Ok(status),
            _ => bail!("process {} did not end within {within:?}", self.pid()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal to a process that is not a child of ours.
pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// The processes that this one has started, and that are still there.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// Waits for something to come true; false if it did not in time.
pub(crate) fn until(within: Duration, mut is: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !is() {
        if begun.elapsed() > within {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}
