//! The real `tenure serve`, as often as it takes.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::Signal;

use crate::process::{Process, command};

/// How it is started each time.
pub(crate) struct Order {
    pub(crate) tenure: PathBuf,
    /// The network it lives in; none is this machine's.
    pub(crate) space: Option<String>,
    /// `host:port`, the same after each start.
    pub(crate) address: String,
    /// Its directory.
    pub(crate) data: PathBuf,
    /// Where its claims are, if not in its directory.
    pub(crate) store: Option<String>,
    /// What else it is told.
    pub(crate) flags: Vec<String>,
    /// A file that says by how much its wall clock is wrong.
    pub(crate) clock: Option<PathBuf>,
    /// Where its log goes.
    pub(crate) log: PathBuf,
}

/// A server that is started again and again.
pub(crate) struct Server {
    order: Order,
    process: Option<Process>,
}

impl Server {
    pub(crate) fn start(order: Order) -> anyhow::Result<Self> {
        let mut server = Self { order, process: None };
        server.again()?;
        Ok(server)
    }

    /// Starts it again after its end, and returns when it serves.
    pub(crate) fn again(&mut self) -> anyhow::Result<()> {
        let mut process = Process::spawn(&mut self.command(&self.order.address))?;
        let mut line = String::new();
        let output = process.child().stdout.as_mut().context("its output is piped")?;
        BufReader::new(output).read_line(&mut line)?;
        if line.is_empty() {
            let status = process.end(Duration::from_secs(60))?;
            bail!("the server does not start ({status}): {}", self.last_words());
        }
        self.process = Some(process);
        Ok(())
    }

    /// The command that serves this directory at some address.
    pub(crate) fn command(&self, address: &str) -> Command {
        let order = &self.order;
        let mut serve = command(&order.tenure, order.space.as_deref());
        serve.args(["serve", "--listen", address, "--log-level", "warn", "--data"]);
        serve.arg(&order.data).arg("--let-everybody-in-without-encryption").args(&order.flags);
        if let Some(store) = &order.store {
            serve.args(["--store", store]);
        }
        if let Some(clock) = &order.clock {
            serve.envs(wrong_clock(clock));
        }
        serve.env("TENURE_CONFIG", "/dev/null").stdout(Stdio::piped());
        let log = OpenOptions::new().create(true).append(true).open(&order.log);
        if let Ok(log) = log {
            serve.stderr(log);
        }
        serve
    }

    pub(crate) fn address(&self) -> &str {
        &self.order.address
    }

    pub(crate) fn data(&self) -> &Path {
        &self.order.data
    }

    /// Where it has its claims, if not in its directory.
    pub(crate) fn store(&self) -> Option<&str> {
        self.order.store.as_deref()
    }

    pub(crate) fn clock(&self) -> Option<&Path> {
        self.order.clock.as_deref()
    }

    /// The end of its log.
    pub(crate) fn last_words(&self) -> String {
        let log = std::fs::read_to_string(&self.order.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(3).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
    }

    /// Ends it without a warning.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(process) = &self.process {
            process.signal(signal);
        }
    }

    pub(crate) fn pid(&self) -> anyhow::Result<u32> {
        Ok(self.process.as_ref().context("the server is running")?.pid())
    }

    /// How it ended although nobody wanted it to.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.process.as_mut()?.ended()
    }

    /// Waits until it ends by itself.
    pub(crate) fn end(&mut self, within: Duration) -> anyhow::Result<ExitStatus> {
        let process = self.process.as_mut().context("the server is running")?;
        let status = process.end(within)?;
        self.process = None;
        Ok(status)
    }
}

/// What a program needs to see the wall clock that a file describes.
pub(crate) fn wrong_clock(file: &Path) -> Vec<(&'static str, PathBuf)> {
    let Some(library) = faketime() else { return Vec::new() };
    vec![
        ("LD_PRELOAD", library),
        ("FAKETIME_TIMESTAMP_FILE", file.to_owned()),
        ("FAKETIME_NO_CACHE", "1".into()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
    ]
}

/// The library that bends the wall clock of a process, where it is installed.
pub(crate) fn faketime() -> Option<PathBuf> {
    let places = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    places.map(|place| place.join("faketime/libfaketimeMT.so.1")).find(|path| path.exists())
}

/// By how many seconds a clock is wrong from now on. Whoever reads it finds the old or the new one.
pub(crate) fn set_clock(file: &Path, secs: i64) -> std::io::Result<()> {
    let new = file.with_extension("new");
    std::fs::write(&new, format!("{secs:+}"))?;
    std::fs::rename(new, file)
}
