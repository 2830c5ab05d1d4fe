//! Members that die or are cut off, clients that are stopped, clocks that differ.

use std::time::{Duration, Instant};

use claims::{Command as Ask, Farewell, Refusal};

use super::arena::{Arena, Partner, claim, open, persistently, say};
use super::cluster::{self, Cluster};
use super::network::Network;

/// The promise that everything is for, while each member in turn is killed and comes back.
#[test]
fn members_that_are_killed_let_nobody_in_twice() {
    let mut cluster = Cluster::start();
    let (processes, rounds) = (3, 60);
    let mut arena = Arena::new();
    for _ in 0..processes {
        arena.let_in(&cluster.url("killed"), rounds);
    }
    for nth in 0..3 {
        arena.wait_for((nth + 1) * processes * rounds / 5);
        cluster.kill(nth);
        let now = arena.entries().len();
        // They go on without it.
        arena.wait_for((now + 10).min(processes * rounds));
        cluster.revive(nth);
    }
    arena.everybody_was_alone(processes * rounds);
}

/// The same with members that live, and hear nobody.
#[test]
fn members_that_are_cut_off_let_nobody_in_twice() {
    let Some(network) = Network::of(3) else { return };
    let cluster = Cluster::in_networks(&network.members());
    let (processes, rounds) = (3, 60);
    let mut arena = Arena::new();
    for _ in 0..processes {
        arena.let_in(&cluster.url("cut"), rounds);
    }
    for nth in 0..3 {
        arena.wait_for((nth + 1) * processes * rounds / 5);
        network.cut(nth);
        let now = arena.entries().len();
        arena.wait_for((now + 10).min(processes * rounds));
        network.mend(nth);
    }
    arena.everybody_was_alone(processes * rounds);
}

/// No clock is compared with another.
#[test]
fn clocks_an_hour_apart_expire_nobody_and_let_nobody_in_twice() {
    let (processes, rounds) = (3, 25);
    let url = cluster::shared().url("clocks");
    let mut arena = Arena::new();
    arena.let_in(&url, rounds);
    arena.let_in_with_clock(&url, rounds, "+3600");
    arena.let_in_with_clock(&url, rounds, "-3600");
    arena.everybody_was_alone(processes * rounds);
}

/// A holder that is stopped for longer than its ttl is followed, knows it, and can do nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn holder_stopped_for_longer_than_its_ttl_is_followed_and_refused() {
    let url = cluster::shared().url("stopped");
    let store = open(&url).await;
    let mut holder = Partner::start("failures::stopped_holder", &url);
    let first: u64 = holder.hear("holding").parse().unwrap();
    holder.signal("-STOP");
    let (owner, fence) = claim(&*store, "r", 60.0).await;
    assert!(fence > first);
    holder.signal("-CONT");
    holder.tell("go on");
    assert_eq!(holder.hear("believes"), "false");
    assert_eq!(holder.hear("renewal"), "refused");
    let release = store.submit(Ask::End(owner, Farewell::Release)).await.unwrap();
    release.expect("what comes late takes nothing away");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by the test above"]
async fn stopped_holder() {
    let store = open(&std::env::var("TENURE_TEST_URL").unwrap()).await;
    let ttl = Duration::from_secs(2);
    let asked = Instant::now();
    let (owner, fence) = claim(&*store, "r", ttl.as_secs_f64()).await;
    say("holding", fence);
    std::io::stdin().read_line(&mut String::new()).unwrap();
    say("believes", asked.elapsed() < ttl);
    let answer = persistently(|| store.submit(Ask::Renew(owner, None))).await;
    say("renewal", if answer.is_ok() { "granted" } else { "refused" });
}

/// Rule 11. A waiter that was stopped does not take its own absence for the holder's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiter_stopped_for_longer_than_the_ttl_expires_nobody_who_renews() {
    let url = cluster::shared().url("waiter");
    let store = open(&url).await;
    let (owner, first) = claim(&*store, "r", 5.0).await;
    let mut waiter = Partner::start("failures::stopped_waiter", &url);
    waiter.hear("waiting");
    waiter.signal("-STOP");
    let renew = async |rounds| {
        for _ in 0..rounds {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let renewed = persistently(|| store.submit(Ask::Renew(owner, None))).await;
            renewed.expect("it is renewed all the time");
        }
    };
    renew(20).await;
    waiter.signal("-CONT");
    renew(3).await;
    store.submit(Ask::End(owner, Farewell::Release)).await.unwrap().expect("it is still held");
    let fence: u64 = waiter.hear("granted").parse().unwrap();
    assert!(fence > first);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by the test above"]
async fn stopped_waiter() {
    let store = open(&std::env::var("TENURE_TEST_URL").unwrap()).await;
    let waits = claim(&*store, "r", 5.0);
    let tell = async {
        while store.vitals().await.unwrap().tally.waiting == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        say("waiting", "");
    };
    let ((_, fence), ()) = tokio::join!(waits, tell);
    say("granted", fence);
}

/// Rule 10. A process that dies between its decision and the answer leaves what its key finds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registration_of_a_process_that_died_is_found_by_its_key() {
    let url = cluster::shared().url("died");
    let store = open(&url).await;
    let mut other = Partner::start("failures::dying_registrant", &url);
    let fence: u64 = other.hear("granted").parse().unwrap();
    other.signal("-KILL");
    let again = store.submit(Ask::Register(dying_wish())).await.unwrap().expect("it is the same");
    assert_eq!(again.claim.activation().unwrap().fence.0, fence);
    let mut different = dying_wish();
    different.ttl = claims::Ttl::from_secs_f64(5.0).unwrap();
    let refusal = store.submit(Ask::Register(different)).await.unwrap().expect_err("other terms");
    assert!(matches!(refusal, Refusal::KeyInUse { .. }), "{refusal}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by the test above"]
async fn dying_registrant() {
    let store = open(&std::env::var("TENURE_TEST_URL").unwrap()).await;
    let granted = store.submit(Ask::Register(dying_wish())).await.unwrap().unwrap();
    say("granted", granted.claim.activation().unwrap().fence);
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

fn dying_wish() -> claims::Registration {
    claims::Registration {
        key: claims::KeyHash([7; 16]),
        resources: claims::Resources::one(claims::Name::new("r").unwrap()),
        limit: claims::Limit::EXCLUSIVE,
        ttl: claims::Ttl::from_secs_f64(600.0).unwrap(),
        data: None,
    }
}

/// Nothing answers there: that is said, and soon.
#[tokio::test]
async fn etcd_that_is_not_there_is_unavailable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("etcd://somebody:secret@{address}/x?timeout=0.2");
    let error = registry::etcd::open(&url, claims::Rules::default()).await.map(drop).unwrap_err();
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}
