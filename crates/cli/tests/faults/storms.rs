//! A server that is started again and again, and never lives for as long as a lease.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::rig::{Line, Server, Told};

const LIFE: Duration = Duration::from_millis(600);
const LIVES_MAX: usize = 100;

fn claim(address: &str, resource: &str, ttl: u32) -> Told {
    let body = format!(r#"{{"resource":"{resource}","ttl":{ttl}}}"#);
    Line::open(address).unwrap().ask("POST", "/v1/claims/", &body).unwrap()
}

/// One life of the server, in which nobody but a holder that is alive asks for anything. Returns
/// the status of the dead one at its end.
fn live(data: &Path, alive: &Told, dead: &Told, last: Signal) -> String {
    let mut server = Server::start(data);
    let mut line = Line::open(&server.address).unwrap();
    line.ask("PATCH", &alive.location, r#"{"ttl":5}"#).unwrap().is(200);
    std::thread::sleep(LIFE);
    let told = line.ask("GET", &dead.location, "").unwrap().is(200);
    drop(line);
    server.signal(last);
    server.wait();
    told.body["status"].as_str().unwrap().to_owned()
}

#[test]
fn restart_storm_neither_keeps_the_dead_nor_ends_the_living() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Server::start(data);
    let dead = claim(&server.address, "left behind", 2).is(201);
    let next = claim(&server.address, "left behind", 60).is(202);
    let alive = claim(&server.address, "in use", 60).is(201);
    let other = claim(&server.address, "in use", 60).is(202);
    server.kill();
    // It has its ttl again after the first restart, and nothing more after the others.
    let mut lives = (0..LIVES_MAX).map(|nth| {
        let last = if nth % 2 == 0 { Signal::KILL } else { Signal::TERM };
        live(data, &alive, &dead, last)
    });
    assert!(lives.any(|status| status == "expired"), "the dead holder lives for ever");

    let server = Server::start(data);
    let mut line = Line::open(&server.address).unwrap();
    let active = r#"{"status":"active"}"#;
    let granted = line.ask("PATCH", &next.location, active).unwrap().is(200);
    assert!(granted.fence() > dead.fence());
    line.ask("PATCH", &other.location, active).unwrap().is(409);
    line.ask("PATCH", &alive.location, r#"{"ttl":60}"#).unwrap().is(200);
}
