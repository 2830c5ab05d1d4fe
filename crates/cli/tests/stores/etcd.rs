//! Several servers over one etcd, and over one directory.

use std::time::Duration;

use rustix::process::Signal;

use crate::cluster::Cluster;
use crate::house::{Server, contend, until};
use crate::together::{at, with_clock};

/// Three members and three servers keep serving with any one of each gone.
#[test]
fn etcd_and_servers_lose_one_of_each_and_go_on() {
    let mut cluster = Cluster::start();
    let url = cluster.url("servers");
    let mut servers = [(); 3].map(|()| Server::start(&url));
    let mut places: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
    // A program without a server contends with them.
    places.push(url);
    let (detector, threads) = contend(places, 6, 12);
    for nth in 0..3 {
        let before = detector.passes();
        until(|| detector.passes() > before + 5);
        cluster.kill(nth);
        let before = detector.passes();
        until(|| detector.passes() > before + 5);
        cluster.revive(nth);
    }
    servers[0].kill();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(detector.passes(), 72);
}

#[test]
fn server_over_etcd_that_was_stopped_wakes_up_to_a_claim_that_went_on() {
    let cluster = Cluster::of(1, "");
    let url = cluster.url("stopped");
    let (sleeps, goes_on) = (Server::start(&url), Server::start(&url));
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
fn servers_over_etcd_with_clocks_an_hour_apart_agree() {
    let cluster = Cluster::of(1, "");
    let url = cluster.url("clocks");
    let servers = [with_clock("+3600s", &url), Server::start(&url), with_clock("-3600s", &url)];
    let places = servers.iter().map(|server| server.url.clone()).collect();
    let (detector, threads) = contend(places, 6, 6);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(detector.passes(), 36);
}

#[test]
fn two_servers_and_a_program_over_one_directory_let_one_in_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("file://{}", directory.path().display());
    let servers = [(); 2].map(|()| Server::start(&url));
    let mut places: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
    places.push(url);
    let (detector, threads) = contend(places, 3, 8);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(detector.passes(), 24);
}
