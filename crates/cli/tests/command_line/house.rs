//! A server of one's own, and commands that ask it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::signals::hearing;

pub(crate) const TENURE: &str = env!("CARGO_BIN_EXE_tenure");

/// The program in an empty world: no variables of the person who runs the tests, no configuration.
pub(crate) fn tenure(home: &Path) -> Command {
    let mut command = hearing(TENURE);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TENURE_") {
            command.env_remove(name);
        }
    }
    command.current_dir(home).env("HOME", home).env("XDG_CONFIG_HOME", home.join("config"));
    command
}

/// A server that does not outlive its test.
pub(crate) struct House {
    pub(crate) home: tempfile::TempDir,
    process: Child,
    pub(crate) address: String,
    /// What it said when it started.
    pub(crate) greeting: String,
}

impl House {
    pub(crate) fn open() -> Self {
        Self::open_with(&["--listen", "127.0.0.1:0"])
    }

    pub(crate) fn open_with(flags: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (process, address, greeting) = start(home.path(), flags);
        Self { home, process, address, greeting }
    }

    /// Kills the server and starts it again at the same address.
    pub(crate) fn restart(&mut self) {
        self.stop();
        let listen = self.address.clone();
        (self.process, ..) = start(self.home.path(), &["--listen", &listen]);
    }

    pub(crate) fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A command in the directory of the server.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = tenure(self.home.path());
        command.args(arguments).env("TENURE_URL", self.url());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(arguments).output().unwrap())
    }

    /// Registers a claim; its address, and the answer.
    pub(crate) fn claim(&self, body: &str) -> (String, serde_json::Value) {
        let (head, body) = ask(&self.address, "POST", "/v1/claims/", body);
        let location = head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
        let path = location[location.find("/v1/").unwrap()..].to_owned();
        (path, serde_json::from_str(&body).unwrap())
    }

    pub(crate) fn release(&self, path: &str) {
        let (head, _) = ask(&self.address, "PATCH", path, r#"{"status":"released"}"#);
        assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    }

    pub(crate) fn get(&self, path: &str) -> serde_json::Value {
        serde_json::from_str(&ask(&self.address, "GET", path, "").1).unwrap()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop();
    }
}

fn start(home: &Path, flags: &[&str]) -> (Child, String, String) {
    let mut command = tenure(home);
    command.arg("serve").args(flags);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(process.stdout.as_mut().unwrap());
    let mut greeting = String::new();
    for _ in 0..3 {
        out.read_line(&mut greeting).unwrap();
    }
    let address = greeting.split("http://").nth(1).unwrap_or_else(|| panic!("{greeting:?}"));
    let address = address.split('/').next().unwrap().to_owned();
    (process, address, greeting)
}

fn ask(address: &str, method: &str, path: &str, body: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// How a command ended, and what it said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The output of a command that succeeded.
    pub(crate) fn good(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    /// The error of a command that ended with this code.
    pub(crate) fn bad(self, code: i32) -> String {
        assert_eq!(self.code, code, "{self:?}");
        self.err
    }
}

pub(crate) fn until(mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(120), "it never came true");
        std::thread::sleep(Duration::from_millis(20));
    }
}
