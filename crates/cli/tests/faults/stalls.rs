//! A server that does not get on, stopped or stuck in a slow disk: nobody loses a lease for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::Signal;

use crate::rig::{Line, RELEASED, Server, Told, strace, until};

/// Claims a resource, on a connection that stays open.
fn hold(server: &Server, resource: &str, ttl: u32) -> (Line, Told) {
    let mut line = Line::open(&server.address).unwrap();
    let body = format!(r#"{{"resource":"{resource}","ttl":{ttl}}}"#);
    let told = line.ask("POST", "/v1/claims/", &body).unwrap().is(201);
    (line, told)
}

/// Somebody who waits for a resource, and is seen to.
fn contend(server: &Server, resource: &str) -> JoinHandle<Told> {
    let mut line = Line::open(&server.address).unwrap();
    let body = format!(r#"{{"resource":"{resource}","ttl":60,"wait":60}}"#);
    let contender = std::thread::spawn(move || line.ask("POST", "/v1/claims/", &body).unwrap());
    let mut line = Line::open(&server.address).unwrap();
    let path = format!("/v1/claims/?status=waiting&resource={resource}");
    until(|| line.ask("GET", &path, "").unwrap().body.as_array().unwrap().len() == 1);
    contender
}

/// The holder gives it back, and then the contender has it: not before.
fn hand_over(line: &mut Line, holder: &Told, contender: JoinHandle<Told>) {
    assert!(!contender.is_finished(), "it was given to the next");
    line.ask("PATCH", &holder.location, RELEASED).unwrap().is(204);
    let next = contender.join().unwrap().is(201);
    assert!(next.fence() > holder.fence());
}

#[test]
fn server_stopped_for_three_ttls_expires_nobody() {
    const TTL: u32 = 3;
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let mut all: Vec<_> = ["a", "b", "c"]
        .map(|resource| (hold(&server, resource, TTL), contend(&server, resource)))
        .into();
    server.signal(Signal::STOP);
    // Renewals arrive meanwhile, and nobody reads them.
    for ((line, holder), _) in &mut all {
        line.send("PATCH", &holder.location, r#"{"ttl":60}"#, "").unwrap();
    }
    std::thread::sleep(Duration::from_secs(u64::from(3 * TTL)));
    server.signal(Signal::CONT);
    for ((line, _), _) in &mut all {
        line.hear().unwrap().is(200);
    }
    for ((mut line, holder), contender) in all {
        hand_over(&mut line, &holder, contender);
    }
}

/// Every sync takes three ttls. Whoever asks again as soon as it is answered keeps its lease.
#[test]
fn server_stuck_in_a_slow_disk_expires_nobody_who_renews() {
    let directory = tempfile::tempdir().unwrap();
    // The first two syncs of each thread are quick: the store is opened, the holder and the
    // contender are there.
    let mut slow = strace("fdatasync:delay_enter=3000000:when=3+");
    let server = Server::start_as(&mut slow, directory.path());
    let (mut line, holder) = hold(&server, "a", 60);
    let contender = contend(&server, "a");
    // The lease is a second from here on.
    for _ in 0..2 {
        line.ask("PATCH", &holder.location, r#"{"ttl":1}"#).unwrap().is(200);
    }
    hand_over(&mut line, &holder, contender);
}

/// A thread that waits for a disk that hangs serves nobody meanwhile. Whoever comes then is not its to serve.
#[test]
fn server_whose_disk_hangs_answers_whoever_comes_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let mut hangs = strace("fdatasync:delay_enter=3000000:when=3+");
    let server = Server::start_as(&mut hangs, directory.path());
    let answered = Arc::new(AtomicUsize::new(0));
    let mut line = Line::open(&server.address).unwrap();
    let asker = std::thread::spawn({
        let answered = answered.clone();
        move || {
            for nth in 1..=6 {
                let body = format!(r#"{{"resource":"{nth}","ttl":60}}"#);
                line.ask("POST", "/v1/claims/", &body).unwrap().is(201);
                answered.store(nth, Ordering::SeqCst);
            }
        }
    });
    let alive = |_| Line::open(&server.address).unwrap().ask("GET", "/livez", "").unwrap().is(200);
    until(|| answered.load(Ordering::SeqCst) == 2);
    until(|| {
        let before = answered.load(Ordering::SeqCst);
        assert!(!asker.is_finished(), "everybody waited for the disk, each time");
        (0..10).for_each(|nth| drop(alive(nth)));
        answered.load(Ordering::SeqCst) == before
    });
    asker.join().unwrap();
}
