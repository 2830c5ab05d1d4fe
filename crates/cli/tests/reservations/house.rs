//! A server with reservations that does not outlive its test.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

const TENURE: &str = env!("CARGO_BIN_EXE_tenure");

/// The program in an empty world: no variables of the person who runs the tests, no configuration.
pub(crate) fn tenure(home: &Path) -> Command {
    let mut command = Command::new(TENURE);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TENURE_") {
            command.env_remove(name);
        }
    }
    command.current_dir(home).env("HOME", home).env("XDG_CONFIG_HOME", home.join("config"));
    command
}

pub(crate) struct House {
    pub(crate) home: tempfile::TempDir,
    flags: Vec<String>,
    process: Child,
    /// Where the server's own protocol is.
    pub(crate) address: String,
    /// Where reservations are.
    pub(crate) reservations: String,
}

impl House {
    pub(crate) fn open(flags: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let flags: Vec<String> = flags.iter().map(|&flag| flag.into()).collect();
        let any = "127.0.0.1:0";
        let (process, address, reservations) = start(home.path(), &flags, any, any);
        Self { home, flags, process, address, reservations }
    }

    /// Ends the server without a warning.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Asks the server to stop, and waits until it has.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        self.process.wait().unwrap()
    }

    /// Starts it again, at the same addresses.
    pub(crate) fn start_again(&mut self) {
        let home = self.home.path();
        (self.process, ..) = start(home, &self.flags, &self.address, &self.reservations);
    }

    /// What a command says; it has to succeed.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let url = format!("http://{}", self.address);
        let output = tenure(self.home.path()).args(arguments).env("TENURE_URL", url).output();
        let Output { status, stdout, stderr } = output.unwrap();
        assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    }

    /// The claims with this status, as JSON.
    pub(crate) fn claims(&self, resource: &str, status: &str) -> Vec<serde_json::Value> {
        let arguments = ["claims", "--json", "--resource", resource, "--status", status];
        let said = self.run(&arguments);
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("log")).unwrap()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.kill();
    }
}

fn start(home: &Path, flags: &[String], own: &str, face: &str) -> (Child, String, String) {
    let log = std::fs::OpenOptions::new().create(true).append(true).open(home.join("log")).unwrap();
    let mut command = tenure(home);
    command.args(["serve", "--listen", own, "--cloudshell", face]).args(flags);
    let mut process = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    let mut out = BufReader::new(process.stdout.as_mut().unwrap());
    let mut greeting = String::new();
    for _ in 0..4 {
        out.read_line(&mut greeting).unwrap();
    }
    let mut addresses = greeting.lines().filter_map(|line| {
        let (_, rest) = line.split_once("://").filter(|_| !line.contains("curl"))?;
        Some(rest.split('/').next().unwrap().to_owned())
    });
    let own = addresses.next().unwrap_or_else(|| panic!("{greeting:?}"));
    let face = addresses.next().unwrap_or_else(|| panic!("{greeting:?}"));
    (process, own, face)
}

/// Waits for something to come true.
pub(crate) fn until(mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(180), "it never came true");
        std::thread::sleep(Duration::from_millis(20));
    }
}
