//! A lock server, keychains and programs as processes of their own. None outlives its test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(crate) const TENURE: &str = env!("CARGO_BIN_EXE_tenure");

/// Only a hang is that long.
pub(crate) const LONG: Duration = Duration::from_secs(180);

pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_at("127.0.0.1:0", data)
    }

    pub(crate) fn start_at(address: &str, data: &Path) -> Self {
        Self::start_with(address, data, &[])
    }

    pub(crate) fn start_with(address: &str, data: &Path, flags: &[&str]) -> Self {
        let mut command = Command::new(TENURE);
        command.args(["serve", "--listen", address, "--data"]).arg(data).args(flags);
        let mut process = Process(command.stdout(Stdio::piped()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(process.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (_, rest) = line.split_once("http://").unwrap_or_else(|| panic!("{line:?}"));
        Self { process, address: rest.split('/').next().unwrap().to_owned() }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What the server says of a claim, such as "active".
    pub(crate) fn status(&self, number: &Value) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let address = &self.address;
        let head = format!("GET /v1/claims/{number}/ HTTP/1.1\r\nHost: {address}");
        write!(stream, "{head}\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        body["status"].as_str().unwrap().to_owned()
    }

    pub(crate) fn wait_until(&self, number: &Value, status: &str) {
        wait_until(|| self.status(number) == status);
    }
}

/// A process that is killed with its test.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn signal(&self, name: &str) {
        signal(self.0.id().into(), name);
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn signal(pid: u64, name: &str) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

/// A keychain whose program is this test.
pub(crate) struct Keychain {
    pub(crate) process: Process,
    input: Option<ChildStdin>,
    told: Receiver<Value>,
}

impl Keychain {
    pub(crate) fn start(url: &str) -> Self {
        Self::start_with(url, &[])
    }

    pub(crate) fn start_with(url: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(TENURE);
        command.args(["keychain", "--server", url]).args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (tell, told) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = tell.send(serde_json::from_str(&line).unwrap());
            }
        });
        let input = child.stdin.take();
        let mut keychain = Self { process: Process(child), input, told };
        assert_eq!(keychain.next()["event"], "ready");
        keychain
    }

    pub(crate) fn say_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
    }

    pub(crate) fn say(&mut self, request: &Value) {
        self.say_line(request.to_string().as_bytes());
    }

    /// Ends the pipe, as a program that ends does.
    pub(crate) fn hang_up(&mut self) {
        drop(self.input.take());
    }

    pub(crate) fn next(&mut self) -> Value {
        self.told.recv_timeout(LONG).expect("the keychain says something")
    }

    /// The next event of this kind. Others are passed over, unless they are an end.
    pub(crate) fn expect(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next();
            if event["event"] == kind {
                return event;
            }
            let passing = ["waiting", "renewed", "unknown", "granted"];
            assert!(passing.contains(&event["event"].as_str().unwrap()), "{kind}, but {event}");
        }
    }

    /// Claims, and waits until it is held.
    pub(crate) fn hold(&mut self, claim: &str, resource: &str, ttl: f64) -> Value {
        self.say(&json!({"do": "claim", "claim": claim, "resource": resource, "ttl": ttl}));
        self.expect("granted")
    }

    /// Claims, and waits until it is in the queue.
    pub(crate) fn queue(&mut self, claim: &str, resource: &str, ttl: f64) -> Value {
        self.say(&json!({"do": "claim", "claim": claim, "resource": resource, "ttl": ttl}));
        self.expect("waiting")
    }
}

/// A program in another language, which holds "printer" through a keychain of its own, prints what
/// it was told, and then answers each line it reads by asking whether the claim is still held.
pub(crate) struct Program {
    pub(crate) process: Process,
    output: BufReader<std::process::ChildStdout>,
    pub(crate) granted: Value,
    pub(crate) keychain: u64,
    /// Somebody else who has the ends of its pipes.
    pub(crate) third: u64,
}

impl Program {
    pub(crate) fn start(url: &str, ttl: f64, mode: &str) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/keychain/program.py");
        let mut command = Command::new("python3");
        command.args([script, TENURE, url, &ttl.to_string(), mode]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (process, granted) = (Process(child), Value::Null);
        let mut program = Self { process, output, granted, keychain: 0, third: 0 };
        let pids = program.read();
        program.keychain = pids["keychain"].as_u64().unwrap();
        program.third = pids["third"].as_u64().unwrap_or(0);
        program.granted = program.read();
        assert_eq!(program.granted["event"], "granted");
        program
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn validate(&mut self) -> Value {
        self.process.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        self.read()
    }
}

pub(crate) fn wait_until(is: impl Fn() -> bool) {
    let until = Instant::now() + LONG;
    while !is() {
        assert!(Instant::now() < until, "this takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The clock that deadlines are told on.
pub(crate) fn boot_time() -> f64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}
