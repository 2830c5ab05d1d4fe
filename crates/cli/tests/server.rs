//! The real server over real sockets: contention, handover, kills.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const TENURE: &str = env!("CARGO_BIN_EXE_tenure");

/// A server that does not outlive its test.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(data: &Path) -> Self {
        Self::start_as(&mut Command::new(TENURE), data)
    }

    fn start_as(command: &mut Command, data: &Path) -> Self {
        let mut process = command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .env("TENURE_CONFIG", "/dev/null")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (_, rest) = line.split_once("http://").unwrap_or_else(|| panic!("{line:?}"));
        let address = rest.split('/').next().unwrap().to_owned();
        Self { process, address }
    }

    fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[derive(Debug)]
struct Told {
    status: u16,
    location: String,
    body: serde_json::Value,
}

/// One request on a connection of its own, as the original's client sends it. None if the server
/// went away.
fn ask(address: &str, method: &str, path: &str, body: &str) -> Option<Told> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close, Te\r\nTE: trailers\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let location = head.lines().find_map(|line| line.strip_prefix("location: "));
    let path = location.map(|url| url[url.find("/v1/").unwrap()..].to_owned());
    Some(Told {
        status: head.split(' ').nth(1)?.parse().ok()?,
        location: path.unwrap_or_default(),
        body: serde_json::from_str(body).unwrap_or_default(),
    })
}

const RELEASED: &str = r#"{"status":"released"}"#;

#[test]
fn contenders_over_sockets_never_overlap_and_take_turns() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let inside = AtomicUsize::new(0);
    let fences = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let body = r#"{"resource":"one","ttl":30,"wait":30}"#;
                    let told = ask(&server.address, "POST", "/v1/claims/", body).unwrap();
                    assert_eq!(told.status, 201, "{told:?}");
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                    fences.lock().unwrap().push(told.body["fence"].as_u64().unwrap());
                    std::thread::sleep(Duration::from_millis(1));
                    inside.fetch_sub(1, Ordering::SeqCst);
                    let told = ask(&server.address, "PATCH", &told.location, RELEASED).unwrap();
                    assert_eq!(told.status, 204);
                }
            });
        }
    });
    let fences = fences.into_inner().unwrap();
    assert_eq!(fences.len(), 80);
    assert!(fences.is_sorted_by(|a, b| a < b), "fences rise from holder to holder");
}

#[test]
fn client_that_hangs_up_while_it_waits_is_passed_by() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let claim = r#"{"resource":"one","ttl":0.2}"#;
    let holder = ask(&server.address, "POST", "/v1/claims/", r#"{"resource":"one","ttl":60}"#);
    let mut gone = TcpStream::connect(&server.address).unwrap();
    let head = format!(
        "POST /v1/claims/?wait=60 HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n",
        server.address
    );
    write!(gone, "{head}Content-Length: {}\r\n\r\n{claim}", claim.len()).unwrap();
    let count = |status: &str| {
        let told = ask(&server.address, "GET", &format!("/v1/claims/?status={status}"), "");
        told.unwrap().body.as_array().unwrap().len()
    };
    until(|| count("waiting") == 1);
    drop(gone);
    // Its turn is kept for it for as long as its ttl, then the next one goes ahead.
    let told = ask(&server.address, "PATCH", &holder.unwrap().location, RELEASED).unwrap();
    assert_eq!(told.status, 204);
    let next = ask(&server.address, "POST", "/v1/claims/?wait=60", claim).unwrap();
    assert_eq!(next.status, 201, "{next:?}");
    assert_eq!(count("waiting"), 1, "nobody was made a holder behind its back");
}

fn until(mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never came true");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn killed_server_loses_nothing_it_acknowledged_over_http() {
    let directory = tempfile::tempdir().unwrap();
    let acknowledged = Arc::new(Mutex::new(Vec::<(String, u64)>::new()));
    for round in 0..10 {
        let server = Server::start(directory.path());
        let enough = 10 + round * 7;
        std::thread::scope(|scope| {
            for client in 0..4 {
                let (address, acknowledged) = (server.address.clone(), acknowledged.clone());
                scope.spawn(move || {
                    for nth in 0.. {
                        let body = format!(r#"{{"resource":"{round}/{client}/{nth}","ttl":3600}}"#);
                        let Some(told) = ask(&address, "POST", "/v1/claims/", &body) else { break };
                        if told.status != 201 {
                            break;
                        }
                        let fence = told.body["fence"].as_u64().unwrap();
                        acknowledged.lock().unwrap().push((told.location, fence));
                    }
                });
            }
            let before = acknowledged.lock().unwrap().len();
            until(|| acknowledged.lock().unwrap().len() >= before + enough);
            server.signal("-KILL");
        });
    }
    let server = Server::start(directory.path());
    let all = acknowledged.lock().unwrap();
    let fences: BTreeSet<u64> = all.iter().map(|(_, fence)| *fence).collect();
    assert_eq!(fences.len(), all.len(), "a fence was given twice");
    for (location, fence) in all.iter() {
        let told = ask(&server.address, "GET", location, "").unwrap();
        assert_eq!((told.status, &told.body["status"]), (200, &"active".into()), "{location}");
        assert_eq!(told.body["fence"], *fence);
    }
    let last = &all.last().unwrap().0;
    assert_eq!(ask(&server.address, "PATCH", last, r#"{"ttl":60}"#).unwrap().status, 200);
}

#[test]
fn stopping_server_answers_who_waits_and_ends_well() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path());
    let address = server.address.clone();
    ask(&address, "POST", "/v1/claims/", r#"{"resource":"one","ttl":60}"#).unwrap();
    let waiting = ask(&address, "POST", "/v1/claims/", r#"{"resource":"one","ttl":60}"#).unwrap();
    let begun = Instant::now();
    let waiter = std::thread::spawn(move || {
        ask(&address, "PATCH", &waiting.location, r#"{"status":"active","wait":50}"#)
    });
    // The waiter is seen by the server before it is told to stop.
    std::thread::sleep(Duration::from_millis(200));
    server.signal("-TERM");
    let told = waiter.join().unwrap().unwrap();
    assert_eq!(told.status, 503, "{told:?}");
    assert!(server.process.wait().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn stopped_server_holds_its_pause_against_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let body = r#"{"resource":"one","ttl":2}"#;
    let holder = ask(&server.address, "POST", "/v1/claims/", body).unwrap();
    server.signal("-STOP");
    // Three ttls.
    std::thread::sleep(Duration::from_secs(6));
    server.signal("-CONT");
    let next = ask(&server.address, "POST", "/v1/claims/", body).unwrap();
    assert_eq!(next.status, 202, "the pause was held against the holder: {next:?}");
    assert_eq!(
        ask(&server.address, "PATCH", &holder.location, r#"{"ttl":5}"#).unwrap().status,
        200
    );
}

#[test]
fn pipelined_and_broken_requests_harm_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let mut silent = Vec::new();
    for nth in 0..300 {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        // Silent, half a head, half a body, and noise.
        let begun: &[u8] = match nth % 4 {
            0 => b"",
            1 => b"POST /v1/claims/ HTTP/1.1\r\nHost: 127",
            2 => {
                b"POST /v1/claims/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{\"res"
            }
            _ => b"\x16\x03\x01\x02\x00",
        };
        let _ = stream.write_all(begun);
        silent.push(stream);
    }
    let one = format!("GET /livez HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    let last = one.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.write_all(format!("{one}{one}{last}").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 3);
    let told = ask(&server.address, "GET", "/v1/claims/", "").unwrap();
    assert_eq!(told.body, serde_json::json!([]));
}

#[test]
fn crowd_of_connections_leaves_the_store_its_files() {
    let directory = tempfile::tempdir().unwrap();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 40; exec \"$0\" \"$@\"", TENURE]);
    let server = Server::start_as(&mut limited, directory.path());
    let crowd: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(300));
    drop(crowd);
    let body = r#"{"resource":"one","ttl":60}"#;
    until(|| {
        let told = ask(&server.address, "POST", "/v1/claims/", body);
        told.is_some_and(|told| matches!(told.status, 201 | 202))
    });
}

#[test]
fn command_line_looks_and_revokes() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let body = r#"{"resource":"a b","ttl":60,"user_data":{"pid":7}}"#;
    ask(&server.address, "POST", "/v1/claims/", body).unwrap();
    ask(&server.address, "POST", "/v1/claims/", body).unwrap();
    let tenure = |arguments: &[&str]| {
        let mut command = Command::new(TENURE);
        command.args(arguments).args(["--at", &format!("http://{}", server.address)]);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), text + &said)
    };
    let (good, text) = tenure(&["why", "a b"]);
    assert!(good && text.contains("Claim 1 holds a b") && text.contains("\"pid\":7"), "{text}");
    assert!(text.contains("1 claim waits for it:"), "{text}");
    let (good, text) = tenure(&["claims", "--status", "waiting"]);
    assert!(good && text.lines().count() == 2 && text.contains("a b"), "{text}");
    let data = directory.path().to_str().unwrap();
    let (good, text) = tenure(&["revoke", "1", "--data", data]);
    assert!(good, "{text}");
    let (good, text) = tenure(&["show", "1"]);
    assert!(good && text.contains("revoked"), "{text}");
    let (good, text) = tenure(&["show", "77"]);
    assert!(!good && text.contains("there is no claim 77"), "{text}");
}
