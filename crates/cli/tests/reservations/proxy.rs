//! A way to the server that loses answers to what succeeded: the server has done what was asked,
//! and nobody hears.
//!
//! It never loses two answers to one session in a row, so that a client that sends three times gets
//! one. While the server is away, it waits for it.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[derive(Default)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    fate: Arc<Fate>,
}

#[derive(Default)]
struct Fate {
    /// By call: how often it succeeded, and how many of these answers were lost.
    told: Mutex<HashMap<String, (usize, usize)>>,
    /// Whether the last answer to a session was lost.
    unlucky: Mutex<HashMap<String, bool>>,
}

impl Proxy {
    pub(crate) fn before(address: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let fate = Arc::new(Fate::default());
        let (own, address) = (fate.clone(), address.to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (fate, address) = (own.clone(), address.clone());
                std::thread::spawn(move || carry(client, &address, &fate));
            }
        });
        Self { port, fate }
    }

    /// Whether every session has the answer to what it asked last, or has not asked yet.
    pub(crate) fn is_everybody_told(&self) -> bool {
        self.fate.unlucky.lock().unwrap().values().all(|&lost| !lost)
    }

    pub(crate) fn lost(&self, call: &str) -> usize {
        self.fate.told.lock().unwrap().get(call).map_or(0, |(_, lost)| *lost)
    }
}

impl Fate {
    /// Whether to lose an answer: every other success of a call, if the session had its last one.
    fn loses(&self, call: &str, token: &str, answer: &[u8]) -> bool {
        let mut unlucky = self.unlucky.lock().unwrap();
        let before = unlucky.insert(token.into(), false).unwrap_or(false);
        let succeeded = String::from_utf8_lossy(answer).contains("Success=\"true\"");
        if !succeeded || before || token.is_empty() {
            return false;
        }
        let mut told = self.told.lock().unwrap();
        let (count, lost) = told.entry(call.into()).or_default();
        *count += 1;
        let loses = !count.is_multiple_of(2);
        *lost += usize::from(loses);
        unlucky.insert(token.into(), loses);
        loses
    }

    fn lost_with_the_server(&self, token: &str) {
        self.unlucky.lock().unwrap().insert(token.into(), true);
    }
}

/// Carries one connection, a request and an answer at a time.
fn carry(mut client: TcpStream, address: &str, fate: &Fate) {
    let mut server = None;
    while let Some(request) = message(&mut client) {
        let head = String::from_utf8_lossy(&request).into_owned();
        let call = head.split([' ', '/']).nth(3).unwrap_or("").to_owned();
        let token = head.split("Token=").nth(1).and_then(|rest| rest.lines().next()).unwrap_or("");
        let stream = server.get_or_insert_with(|| reach(address));
        let answer = match stream.write_all(&request) {
            Ok(()) => message(stream),
            Err(_) => None,
        };
        let told = match answer {
            None => {
                fate.lost_with_the_server(token);
                None
            }
            Some(answer) => Some(answer).filter(|answer| !fate.loses(&call, token, answer)),
        };
        if told.is_none_or(|answer| client.write_all(&answer).is_err()) {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    if let Some(server) = server {
        let _ = server.shutdown(Shutdown::Both);
    }
}

fn reach(address: &str) -> TcpStream {
    let begun = Instant::now();
    loop {
        match TcpStream::connect(address) {
            Ok(stream) => return stream,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(180), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// One message of HTTP with a length; none if the connection ended.
fn message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            if bytes.len() >= end + 4 + length {
                return Some(bytes);
            }
        }
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => bytes.extend_from_slice(&piece[..count]),
            _ => return None,
        }
    }
}
