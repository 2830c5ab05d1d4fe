//! Ten thousand connections that are slow on purpose, while others are answered.

use std::io::Write;
use std::net::TcpStream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::rig::{Line, Server, until};

const CROWD: usize = 10_000;

/// Two crowds at once are more than one process may have.
static ONE_CROWD: Mutex<()> = Mutex::new(());

/// As many connections, as the system has to let us have. For as long as this is kept, nobody else has
/// a crowd.
fn make_room() -> MutexGuard<'static, ()> {
    let alone = ONE_CROWD.lock().unwrap_or_else(PoisonError::into_inner);
    let limit = getrlimit(Resource::Nofile);
    let room = Some(CROWD as u64 + 1_000);
    if limit.current.is_some_and(|current| Some(current) < room) {
        let maximum = limit.maximum.map(|maximum| maximum.max(CROWD as u64 + 1_000));
        setrlimit(Resource::Nofile, Rlimit { current: room, maximum }).unwrap();
    }
    alone
}

/// Silent, half a head, half a body, half closed, and never reading what it asked for.
fn crowd(address: &str) -> Vec<TcpStream> {
    let list = "GET /v1/claims/?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20);
    let kinds: [&[u8]; 5] = [
        b"",
        b"POST /v1/claims/ HTTP/1.1\r\nHost: 127",
        b"POST /v1/claims/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{\"res",
        b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
        list.as_bytes(),
    ];
    let open = |nth: usize| {
        let mut stream = TcpStream::connect(address).unwrap();
        // It may be gone already: that is one way not to be bothered by it.
        let _ = stream.write_all(kinds[nth % kinds.len()]);
        if nth.is_multiple_of(50) {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        stream
    };
    (0..CROWD).map(open).collect()
}

fn descriptors(server: &Server) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count()
}

/// Claims and releases; how long each took.
fn work(address: &str, cycles: usize) -> Vec<Duration> {
    let mut line = Line::open(address).unwrap();
    let mut took = Vec::new();
    for nth in 0..cycles {
        let begun = Instant::now();
        let body = format!(r#"{{"resource":"work {nth}","ttl":60}}"#);
        let told = line.ask("POST", "/v1/claims/", &body).unwrap().is(201);
        took.push(begun.elapsed());
        line.ask("PATCH", &told.location, crate::rig::RELEASED).unwrap().is(204);
    }
    took.sort();
    took
}

#[test]
fn ten_thousand_slow_connections_keep_nobody_from_being_served() {
    let _alone = make_room();
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    work(&server.address, 3);
    let before = descriptors(&server);
    let slow = crowd(&server.address);
    work(&server.address, 100);
    drop(slow);
    until(|| descriptors(&server) <= before + 1);
    work(&server.address, 3);
}

#[test]
fn ten_thousand_slow_connections_are_let_go_although_they_stay() {
    let _alone = make_room();
    let directory = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(crate::rig::TENURE);
    for time_out in ["HEAD", "BODY", "IDLE", "WRITE"] {
        command.env(format!("TENURE_{time_out}_FOR"), "2s");
    }
    let server = Server::start_as(&mut command, directory.path());
    work(&server.address, 3);
    let before = descriptors(&server);
    let slow = crowd(&server.address);
    // Who follows the events is not slow: there may be 64 of them.
    until(|| descriptors(&server) <= before + 64 + 1);
    work(&server.address, 3);
    drop(slow);
}

/// The figure of docs/performance.md.
#[test]
#[ignore = "a measurement: run it alone, in release, with --nocapture"]
fn measure_answers_beside_ten_thousand_slow_connections() {
    let _alone = make_room();
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let memory = |server: &Server| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
    };
    let tell = |what: &str| {
        let took = work(&server.address, 2_000);
        let at = |percent: usize| took[took.len() * percent / 100];
        let (connections, rss) = (descriptors(&server), memory(&server));
        eprintln!(
            "{what}: p50 {:?}, p99 {:?}, max {:?}; {connections} descriptors, {rss} MB resident",
            at(50),
            at(99),
            took[took.len() - 1]
        );
    };
    tell("alone");
    let slow = crowd(&server.address);
    tell("beside the crowd");
    drop(slow);
    tell("after it");
}
