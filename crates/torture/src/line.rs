//! HTTP v1 by hand: one connection, one request after the other.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
    /// The path of the claim, key included; empty if there is none.
    pub(crate) location: String,
}

impl Answer {
    pub(crate) fn fence(&self) -> Option<u64> {
        self.body["fence"].as_u64()
    }
}

/// The number of a claim from its path.
pub(crate) fn number(location: &str) -> Option<u64> {
    let rest = location.strip_prefix("/v1/claims/")?;
    rest.split(['.', '/']).next()?.parse().ok()
}

/// A connection that is opened when it is needed, and given up when something goes wrong with it.
pub(crate) struct Line {
    address: String,
    patience: Duration,
    stream: Option<BufReader<TcpStream>>,
}

impl Line {
    /// To a server at `host:port`, which has so long for each answer.
    pub(crate) fn to(address: &str, patience: Duration) -> Self {
        Self { address: address.to_owned(), patience, stream: None }
    }

    /// Asks, and waits for the answer. None if none came: then nobody knows whether it was done.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &str) -> Option<Answer> {
        let answer = self.try_ask(method, path, body);
        if answer.is_none() {
            self.hang_up();
        }
        answer
    }

    /// The next question is asked on another connection.
    pub(crate) fn hang_up(&mut self) {
        self.stream = None;
    }

    /// Asks, and is gone before the answer comes.
    pub(crate) fn ask_and_hang_up(&mut self, method: &str, path: &str, body: &str) {
        let _ = self.send(method, path, body);
        self.hang_up();
    }

    fn try_ask(&mut self, method: &str, path: &str, body: &str) -> Option<Answer> {
        let stream = self.send(method, path, body)?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let header = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
        };
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let length = header("content-length").map_or(Some(0), |length| length.parse().ok())?;
        let location = header("location").and_then(|url| url.find("/v1/").map(|at| &url[at..]));
        let location = location.unwrap_or_default().to_owned();
        let closes = header("connection").is_some_and(|word| word.eq_ignore_ascii_case("close"));
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        if closes {
            self.stream = None;
        }
        Some(Answer { status, body: serde_json::from_slice(&body).unwrap_or_default(), location })
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> Option<&mut BufReader<TcpStream>> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let stream = self.open()?;
        stream.get_mut().write_all(request.as_bytes()).ok()?;
        Some(stream)
    }

    fn open(&mut self) -> Option<&mut BufReader<TcpStream>> {
        if self.stream.is_none() {
            let address = self.address.parse().ok()?;
            let stream = TcpStream::connect_timeout(&address, self.patience).ok()?;
            stream.set_nodelay(true).ok()?;
            stream.set_read_timeout(Some(self.patience)).ok()?;
            stream.set_write_timeout(Some(self.patience)).ok()?;
            self.stream = Some(BufReader::new(stream));
        }
        self.stream.as_mut()
    }
}
