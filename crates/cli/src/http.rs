//! A small blocking HTTP client, enough to ask a server on this machine.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(90);

/// Where a server is.
pub(crate) struct Server {
    authority: String,
    token: Option<String>,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Server {
    /// The server at an address such as `http://127.0.0.1:7117`.
    pub(crate) fn at(url: &str, token: Option<String>) -> anyhow::Result<Self> {
        let Some(rest) = url.strip_prefix("http://") else {
            bail!("{url:?} is not an address such as http://127.0.0.1:7117");
        };
        let authority = rest.split('/').next().unwrap_or(rest).to_owned();
        ensure!(!authority.is_empty(), "{url:?} names no host");
        let token = token.or_else(|| std::env::var("TENURE_TOKEN").ok());
        Ok(Self { authority, token })
    }

    /// Sends a request and reads the whole answer.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> anyhow::Result<Answer> {
        let address = match self.authority.contains(':') {
            true => self.authority.clone(),
            false => format!("{}:80", self.authority),
        };
        let mut stream = TcpStream::connect(&address).with_context(|| {
            format!("no server at {address}: start one with `tenure serve`, or say where with --at")
        })?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let token = match &self.token {
            Some(token) => format!("authorization: Bearer {token}\r\n"),
            None => String::new(),
        };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{token}\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.authority,
            body.len()
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        read(&answer).with_context(|| format!("{address} does not speak HTTP"))
    }

    /// Asks for JSON; anything but success is an error in the server's words.
    pub(crate) fn json(&self, method: &str, path: &str, body: &str) -> anyhow::Result<String> {
        let answer = self.ask(method, path, body)?;
        if answer.status < 400 {
            return Ok(answer.body);
        }
        let problem: serde_json::Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let detail = problem["detail"].as_str().unwrap_or("no reason given");
        bail!("{detail} (HTTP {})", answer.status)
    }
}

fn read(answer: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, body: body.to_owned() })
}
