//! Bad input over real sockets to the real process: nothing changes, and memory stays bounded.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that does not outlive its test.
struct Server {
    process: Child,
    address: String,
    _data: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_tenure"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (_, rest) = line.split_once("http://").unwrap_or_else(|| panic!("{line:?}"));
        let address = rest.split('/').next().unwrap().to_owned();
        Self { process, address, _data: data }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Sends these bytes and reads all that is said to them.
    fn tell(&self, bytes: &[u8]) -> String {
        self.tell_and(bytes, |_| {})
    }

    /// Sends these bytes and no more.
    fn tell_no_more_than(&self, bytes: &[u8]) -> String {
        self.tell_and(bytes, |stream| stream.shutdown(Shutdown::Write).unwrap_or_default())
    }

    fn tell_and(&self, bytes: &[u8], then: impl Fn(&TcpStream)) -> String {
        let mut stream = self.connect();
        // The server may answer and close before it has read all of it.
        let _ = stream.write_all(bytes);
        then(&stream);
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    }

    /// A request as the original's client sends it.
    fn post(&self, body: &str) -> Vec<u8> {
        self.request("POST", "/v1/claims/", "close, Te", body)
    }

    fn request(&self, method: &str, path: &str, connection: &str, body: &str) -> Vec<u8> {
        let (address, length) = (&self.address, body.len());
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: {connection}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }

    /// All claims and all resources, as text.
    fn state(&self) -> String {
        let claims = self.tell(&self.request("GET", "/v1/claims/?limit=1000", "close", ""));
        let (head, claims) = claims.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let claims: serde_json::Value = serde_json::from_str(claims).unwrap();
        let names = claims.as_array().unwrap().iter().map(|claim| claim["resource"].to_string());
        names.collect::<Vec<_>>().join(" ")
    }

    /// How much memory the process has, in kilobytes.
    fn resident(&self) -> u64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const CLAIM: &str = r#"{"resource":"one","ttl":600}"#;

#[test]
fn truncated_requests_change_nothing() {
    let server = Server::start();
    let whole = server.post(CLAIM);
    for length in 0..whole.len() {
        let said = server.tell_no_more_than(&whole[..length]);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 400"), "{length}: {said}");
    }
    assert_eq!(server.state(), "");
    assert!(server.tell(&whole).starts_with("HTTP/1.1 201"));
}

#[test]
fn doubled_requests_are_two_and_doubled_lengths_are_none() {
    let server = Server::start();
    let close = server.post(CLAIM);
    let open = server.request("POST", "/v1/claims/", "keep-alive", CLAIM);
    let said = server.tell(&[open, close].concat());
    let codes: Vec<&str> = said.matches("HTTP/1.1 20").collect();
    assert_eq!((codes.len(), server.state().as_str()), (2, "\"one\" \"one\""), "{said}");
    // The same body twice under one length, lengths that differ, a length and chunks.
    let twice = server.post(&format!("{CLAIM}{CLAIM}"));
    let whole = String::from_utf8(server.post(CLAIM)).unwrap();
    let lengths = whole.replace("\r\n\r\n", "\r\nContent-Length: 5\r\n\r\n");
    let chunks = whole.replace("\r\n\r\n", "\r\nTransfer-Encoding: gzip, chunked, 5\r\n\r\n");
    for request in [twice, lengths.into_bytes(), chunks.into_bytes()] {
        let said = server.tell(&request);
        assert!(said.starts_with("HTTP/1.1 400"), "{said}");
    }
    assert_eq!(server.state(), "\"one\" \"one\"");
}

#[test]
fn chunked_body_is_read_like_any_other_and_a_broken_one_is_not() {
    let server = Server::start();
    let head = format!(
        "POST /v1/claims/ HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        server.address
    );
    let (first, rest) = CLAIM.split_at(7);
    let good = format!("{head}7\r\n{first}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n", rest.len());
    let bad = good.replace("\r\n7\r\n", "\r\nseven\r\n");
    let said = server.tell(bad.as_bytes());
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 400"), "{said}");
    assert_eq!(server.state(), "");
    let said = server.tell(good.as_bytes());
    assert!(said.starts_with("HTTP/1.1 201"), "{said}");
}

#[test]
fn pipelined_requests_are_answered_in_order_though_one_of_them_is_bad() {
    let server = Server::start();
    let mut pipeline = Vec::new();
    for nth in 0..50 {
        let ttl = if nth % 5 == 4 { "\"never\"" } else { "600" };
        let body = format!(r#"{{"resource":"{nth}","ttl":{ttl}}}"#);
        pipeline.extend(server.request("POST", "/v1/claims/", "keep-alive", &body));
    }
    pipeline.extend(server.request("GET", "/livez", "close", ""));
    let said = server.tell(&pipeline);
    let codes: Vec<&str> =
        said.split("HTTP/1.1 ").skip(1).map(|answer| answer.split(' ').next().unwrap()).collect();
    assert_eq!(codes.len(), 51, "{said}");
    for (nth, code) in codes.iter().enumerate().take(50) {
        assert_eq!(*code, if nth % 5 == 4 { "400" } else { "201" }, "{nth}");
    }
    assert_eq!(server.state().split(' ').count(), 40);
}

#[test]
fn interleaved_requests_are_not_mixed_up() {
    let server = Server::start();
    let bodies: Vec<String> =
        (0..8).map(|nth| format!(r#"{{"resource":"{nth}","ttl":600}}"#)).collect();
    let requests: Vec<Vec<u8>> = bodies.iter().map(|body| server.post(body)).collect();
    let mut streams: Vec<TcpStream> = requests.iter().map(|_| server.connect()).collect();
    // Three bytes of each in turn, and one of them stops half-way.
    let longest = requests.iter().map(Vec::len).max().unwrap();
    for at in (0..longest).step_by(3) {
        for (nth, (stream, request)) in streams.iter_mut().zip(&requests).enumerate() {
            let end = if nth == 3 { request.len() / 2 } else { request.len() };
            if at < end {
                stream.write_all(&request[at..end.min(at + 3)]).unwrap();
            }
        }
    }
    for (nth, stream) in streams.iter_mut().enumerate().filter(|(nth, _)| *nth != 3) {
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        assert!(said.starts_with("HTTP/1.1 201"), "{said}");
        assert!(said.contains(&format!("\"resource\":\"{nth}\"")), "{said}");
    }
    assert_eq!(server.state().split(' ').count(), 7);
}

#[test]
fn flood_of_bad_requests_leaves_memory_bounded_and_state_as_it_was() {
    let server = Server::start();
    assert!(server.tell(&server.post(CLAIM)).starts_with("HTTP/1.1 201"));
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"resource":"a","ttl":1,"user_data":{open}{close}}}"#)
    };
    let large =
        |bytes: usize| format!(r#"{{"resource":"a","ttl":1,"user_data":"{}"}}"#, "x".repeat(bytes));
    let renewals = vec!["\"9.AAAAAAAAAAAAAAAAAAAAAA\""; 4_000].join(",");
    let flood = [
        server.post(&large(10 << 20)),
        server.post(&large(100 << 10)),
        server.post(&nested(100_000)),
        server.post(&nested(60_000)),
        server.post(&format!(r#"{{"resource":"{}","ttl":1}}"#, "x".repeat(100_000))),
        server.request("POST", "/v1/renewals", "close", &format!("{{\"claims\":[{renewals}]}}")),
        server.request("PATCH", "/v1/claims/7.AAAAAAAAAAAAAAAAAAAAAA/", "close", "{\"ttl\":5}"),
        server.request("GET", &format!("/v1/claims/?status={}", "x".repeat(60_000)), "close", ""),
        server.request("GET", "/v1/claims/?limit=-1", "close", ""),
        b"\x16\x03\x01\x02\x00\x01\x00".to_vec(),
    ];
    let wave = |rounds: usize| {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for request in std::iter::repeat_n(&flood, rounds).flatten() {
                        let said = server.tell(request);
                        let refused = ["HTTP/1.1 4", "HTTP/1.1 200 OK"];
                        let clear = refused.iter().any(|one| said.starts_with(one));
                        // A connection may be cut while it still sends what is far too much.
                        assert!(clear || said.is_empty(), "{said}");
                    }
                });
            }
        });
    };
    let before = server.state();
    // What the first wave takes, threads and buffers, is there to stay; the next must fit in it.
    wave(3);
    let first = server.resident();
    wave(12);
    let grown = server.resident().saturating_sub(first);
    assert!(grown < 32 << 10, "{grown} kB more after {first} kB");
    assert_eq!(server.state(), before);
}
