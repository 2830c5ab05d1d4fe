//! A lock server in a process of its own, and commands that are run under its claims.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::signals::hearing;

pub(crate) const TENURE: &str = env!("CARGO_BIN_EXE_tenure");

/// Only a hang is that long.
const LONG: Duration = Duration::from_secs(120);

/// A server and a directory to work in. Both are gone with this value.
pub(crate) struct House {
    directory: tempfile::TempDir,
    server: Child,
    address: String,
}

impl House {
    pub(crate) fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (server, address) = serve(&directory.path().join("data"), "127.0.0.1:0");
        Self { directory, server, address }
    }

    /// A file of the test's own.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `tenure`, speaking to this server, with the test's directory for `$DIR` and our binary for `$T`.
    pub(crate) fn tenure(&self, verb: &str, arguments: &[&str]) -> Command {
        let mut command = hearing(TENURE);
        command.arg(verb).args(arguments).stdin(Stdio::null());
        command.env("TENURE_URL", format!("http://{}", self.address));
        command.env("DIR", self.directory.path()).env("T", TENURE);
        command
    }

    /// Runs to the end; the exit code and what was written.
    pub(crate) fn output(&self, verb: &str, arguments: &[&str]) -> (i32, String) {
        told(&self.tenure(verb, arguments).output().unwrap())
    }

    /// Starts it, with its output to be read.
    pub(crate) fn start(&self, verb: &str, arguments: &[&str]) -> Running {
        Running::start(&mut self.tenure(verb, arguments))
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn signal_server(&self, name: &str) {
        signal(self.server.id(), name);
    }

    /// Kills the server, and opens it again at the same address.
    pub(crate) fn restart(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        let (server, _) = serve(&self.directory.path().join("data"), &self.address);
        self.server = server;
    }

    /// How many claims on a resource have this status.
    pub(crate) fn count(&self, resource: &str, status: &str) -> usize {
        let path = format!("/v1/claims/?resource={resource}&status={status}&limit=1000");
        self.get(&path).matches("\"status_history\"").count()
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.address
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    /// Takes a claim away, as the administrator.
    pub(crate) fn revoke(&self, claim: &str) {
        let data = self.directory.path().join("data");
        let (code, said) = self.output("revoke", &[claim, "--data", data.to_str().unwrap()]);
        assert_eq!(code, 0, "{said}");
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn serve(data: &Path, listen: &str) -> (Child, String) {
    let mut server = Command::new(TENURE)
        .args(["serve", "--listen", listen, "--data"])
        .arg(data)
        .env("TENURE_CONFIG", "/dev/null")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let (_, rest) = line.split_once("http://").unwrap_or_else(|| panic!("{line:?}"));
    (server, rest.split('/').next().unwrap().to_owned())
}

/// A `tenure run` under way. Killed with this value, if it has not ended.
pub(crate) struct Running {
    pub(crate) process: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        Self { process, out }
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// What it writes, up to these words.
    pub(crate) fn shown(&mut self, words: &str) -> String {
        let mut text = Vec::new();
        let mut byte = [0];
        while !text.ends_with(words.as_bytes()) {
            assert_eq!(self.out.read(&mut byte).unwrap(), 1, "{words:?} was never shown");
            text.push(byte[0]);
        }
        String::from_utf8(text).unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.process.id(), name);
    }

    /// Reads events (of `--json`) until this one has come.
    pub(crate) fn wait_for_event(&mut self, name: &str) {
        let said = self.process.stderr.as_mut().unwrap();
        let wanted = format!("\"event\":\"{name}\"");
        let mut line = Vec::new();
        let mut byte = [0];
        // Byte by byte, so that nothing of what comes later is taken.
        while said.read(&mut byte).unwrap() == 1 {
            line.push(byte[0]);
            if byte[0] == b'\n'
                && String::from_utf8(std::mem::take(&mut line)).unwrap().contains(&wanted)
            {
                return;
            }
        }
        panic!("{name} never came");
    }

    /// The exit code, and what it said on the error stream.
    pub(crate) fn end(&mut self) -> (i32, String) {
        let started = Instant::now();
        while self.process.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < LONG, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut said = String::new();
        self.process.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
        (self.process.wait().unwrap().code().unwrap(), said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn told(output: &Output) -> (i32, String) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), text + &said)
}

pub(crate) fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

pub(crate) fn until(mut is: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is() {
        assert!(started.elapsed() < LONG, "it never came to that");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process with this number lives.
pub(crate) fn lives(pid: &str) -> bool {
    !matches!(state(pid), 'Z' | 'X')
}

/// The state of a process in one letter, as the kernel has it.
pub(crate) fn state(pid: &str) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('X')
}
