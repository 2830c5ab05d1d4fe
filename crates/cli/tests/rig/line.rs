//! One connection to a server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use super::NEVER;

/// An answer.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// The path of the claim, key included.
    pub(crate) location: String,
    pub(crate) body: serde_json::Value,
}

impl Told {
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    pub(crate) fn fence(&self) -> u64 {
        self.body["fence"].as_u64().unwrap_or_else(|| panic!("{self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// A connection that is kept open.
pub(crate) struct Line {
    address: String,
    stream: BufReader<TcpStream>,
}

impl Line {
    pub(crate) fn open(address: &str) -> Option<Self> {
        let stream = TcpStream::connect(address).ok()?;
        stream.set_nodelay(true).ok()?;
        stream.set_read_timeout(Some(NEVER)).ok()?;
        Some(Self { address: address.to_owned(), stream: BufReader::new(stream) })
    }

    /// Asks, and waits for the answer. None if the server went away: then nobody knows whether it
    /// was done.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &str) -> Option<Told> {
        self.send(method, path, body, "")?;
        self.hear()
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str, more: &str) -> Option<()> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{more}\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).ok()
    }

    pub(crate) fn hear(&mut self) -> Option<Told> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let mut told =
            Told { status, head, location: String::new(), body: serde_json::Value::Null };
        let length = told.header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        told.body = serde_json::from_slice(&body).unwrap_or_default();
        let url = told.header("location").unwrap_or_default();
        told.location = url.find("/v1/").map_or(String::new(), |at| url[at..].to_owned());
        Some(told)
    }
}

/// One request on a connection of its own, as the original's client sends it. None if the server
/// went away.
pub(crate) fn ask(address: &str, method: &str, path: &str, body: &str) -> Option<Told> {
    let mut line = Line::open(address)?;
    line.send(method, path, body, "Connection: close, Te\r\nTE: trailers\r\n")?;
    line.hear()
}
