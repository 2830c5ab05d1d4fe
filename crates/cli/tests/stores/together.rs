//! Several servers over one store, and what may happen to them and to the database.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use tenure::blocking::LockManager;
use tenure::{ClaimError, Key};

use crate::house::{Server, TENURE, contend, file_in, until};
use crate::postgres::Postgres;

pub(crate) fn at(server: &Server) -> LockManager {
    LockManager::connect(&server.url).unwrap()
}

#[test]
fn three_servers_over_one_database_let_one_in_at_a_time() {
    let postgres = Postgres::start();
    let servers = [(); 3].map(|()| Server::start(&postgres.url()));
    let mut places: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
    // A program without a server contends with them.
    places.push(postgres.url());
    let (detector, threads) = contend(places, 8, 8);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(detector.passes(), 64);
}

#[test]
fn two_servers_over_one_file_let_one_in_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let servers = [(); 2].map(|()| Server::start(&file_in(directory.path())));
    let places = servers.iter().map(|server| server.url.clone()).collect();
    let (detector, threads) = contend(places, 4, 8);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(detector.passes(), 32);
}

#[test]
fn killed_server_takes_nobody_with_it() {
    let postgres = Postgres::start();
    let mut servers = [(); 3].map(|()| Server::start(&postgres.url()));
    let places = servers.iter().map(|server| server.url.clone()).collect();
    let (detector, threads) = contend(places, 4, 12);
    for server in servers.iter_mut().take(2) {
        let before = detector.passes();
        until(|| detector.passes() > before + 4);
        server.kill();
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(detector.passes(), 48);
}

/// Rule 10: whoever asked a server that was killed before it answered asks another, and it is one claim.
#[test]
fn server_killed_between_decision_and_answer_leaves_no_ghost() {
    use std::io::Write;
    let postgres = Postgres::start();
    let stays = Server::start(&postgres.url());
    for round in 0..8_u64 {
        let mut dies = Server::start(&postgres.url());
        let key = Key::random();
        let body = format!(r#"{{"resource":"r{round}","ttl":60,"key":"{}"}}"#, key.reveal());
        let head = format!(
            "POST /v1/claims/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        let address = dies.url.trim_start_matches("http://").to_owned();
        let mut line = std::net::TcpStream::connect(address).unwrap();
        line.write_all((head + &body).as_bytes()).unwrap();
        // Wherever it is by then: before, in the middle of, or after the decision.
        std::thread::sleep(Duration::from_millis(round));
        dies.kill();
        let manager = at(&stays);
        let name = format!("r{round}");
        let claim = manager.claim(&name).ttl(Duration::from_secs(60)).key(key).get().unwrap();
        claim.check().unwrap();
        claim.release().unwrap();
        let next = manager.try_claim(&name).get();
        assert!(next.is_ok(), "nobody else holds it: {next:?}");
    }
}

#[test]
fn stopped_server_wakes_up_to_a_claim_that_went_on() {
    let postgres = Postgres::start();
    let (sleeps, goes_on) = (Server::start(&postgres.url()), Server::start(&postgres.url()));
    let held = at(&sleeps).claim("r").ttl(Duration::from_secs(2)).get().unwrap();
    sleeps.signal(Signal::STOP);
    let next = at(&goes_on).claim("r").ttl(Duration::from_secs(60)).get().unwrap();
    assert!(held.check().is_err(), "the first has stopped believing before");
    assert!(next.fence() > held.fence());
    sleeps.signal(Signal::CONT);
    assert!(held.refresh(Duration::from_secs(60)).is_err(), "it is not given back to life");
    next.check().unwrap();
    next.refresh(Duration::from_secs(60)).unwrap();
}

#[test]
fn database_killed_under_load_comes_back_with_every_claim() {
    let mut postgres = Postgres::start();
    let servers = [(); 2].map(|()| Server::start(&postgres.url()));
    let held =
        at(&servers[0]).claim("held throughout").ttl(Duration::from_secs(600)).get().unwrap();
    let places = servers.iter().map(|server| server.url.clone()).collect();
    let (detector, threads) = contend(places, 4, 15);
    for _ in 0..2 {
        let before = detector.passes();
        until(|| detector.passes() > before + 6);
        postgres.kill();
        postgres.serve();
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(detector.passes(), 60);
    let refused = at(&servers[1]).try_claim("held throughout").get();
    assert!(matches!(refused, Err(ClaimError::Busy { .. })), "{refused:?}");
    held.release().unwrap();
}

/// No clock of a server counts, only the database's.
#[test]
fn servers_with_clocks_an_hour_apart_agree() {
    let postgres = Postgres::start();
    let ahead = |offset| with_clock(offset, &postgres.url());
    let servers = [ahead("+3600s"), Server::start(&postgres.url()), ahead("-3600s")];
    for (nth, holder) in servers.iter().enumerate() {
        let name = format!("held at {nth}");
        let held = at(holder).claim(&name).ttl(Duration::from_secs(30)).get().unwrap();
        for other in &servers {
            let busy = at(other).try_claim(&name).get();
            assert!(matches!(busy, Err(ClaimError::Busy { .. })), "it ends early: {busy:?}");
        }
        held.check().unwrap();
        held.release().unwrap();
    }
    let places = servers.iter().map(|server| server.url.clone()).collect();
    let (detector, threads) = contend(places, 6, 5);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(detector.passes(), 30);
}

/// A server whose clock on the wall is wrong.
pub(crate) fn with_clock(offset: &str, store: &str) -> Server {
    let mut command = Command::new(TENURE);
    command.env("LD_PRELOAD", faketime()).env("FAKETIME", offset);
    command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    Server::start_as(command, store)
}

fn faketime() -> PathBuf {
    let places = std::fs::read_dir("/usr/lib").unwrap().map(|entry| entry.unwrap().path());
    let mut found = places.map(|place| place.join("faketime/libfaketimeMT.so.1"));
    found.find(|path| path.exists()).expect("libfaketime is installed: `make tools` does it")
}
