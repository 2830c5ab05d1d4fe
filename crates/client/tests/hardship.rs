//! The client when things go wrong: networks that are cut, answers that are lost, servers that are
//! restarted.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[allow(dead_code, reason = "no test needs all of it")]
mod house;
mod link;

use std::sync::Arc;
use std::time::Duration;

use house::House;
use link::Link;
use tenure::{Lease, LockManager, Loss, RefreshError};

/// Only a hang is that long.
const LONG: Duration = Duration::from_secs(240);

#[tokio::test]
async fn network_cut_for_less_than_the_ttl_costs_nothing() {
    let house = House::open();
    let link = Link::to(&house.url()).await;
    let manager = LockManager::connect(&link.url()).unwrap();
    let claim = manager.claim("printer").ttl(Duration::from_secs(40)).await.unwrap();
    let (id, fence) = (claim.id(), claim.fence());
    link.cut();
    let error = claim.refresh(None).await.unwrap_err();
    assert!(matches!(error, RefreshError::Unknown(_)), "{error}");
    assert!(matches!(claim.lease(), Lease::Unknown(_)), "unknown, but still certain for a while");
    assert!(claim.check().is_ok());
    link.heal();
    while claim.refresh(None).await.is_err() {
        assert!(claim.check().is_ok());
    }
    assert!(matches!(claim.lease(), Lease::Held(_)));
    assert_eq!((claim.id(), claim.fence()), (id, fence));
    claim.release().await.unwrap();
}

#[tokio::test]
async fn network_cut_for_longer_than_the_ttl_loses_the_claim_before_somebody_else_has_it() {
    let house = House::open();
    let link = Link::to(&house.url()).await;
    let cut_off = LockManager::connect(&link.url()).unwrap();
    let other = LockManager::connect(&house.url()).unwrap();
    for _ in 0..3 {
        let claim = cut_off.claim("printer").ttl(Duration::from_secs(1)).await.unwrap();
        let next = tokio::spawn(other.claim("printer").into_future());
        link.cut();
        let next = tokio::time::timeout(LONG, next).await.unwrap().unwrap().unwrap();
        // The same clock on both sides: the first has stopped believing by now.
        let loss = claim.check().unwrap_err();
        assert!(matches!(loss, Loss::Unconfirmed(_)), "{loss}");
        assert_eq!(claim.valid_for(), Duration::ZERO);
        assert!(next.fence() > claim.fence());
        link.heal();
        assert!(matches!(claim.lost().await, Loss::Unconfirmed(_)), "it stays lost");
        drop(claim);
        next.release().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_replies_leave_no_ghost_in_ten_thousand_registrations() {
    const EACH: usize = 100;
    const WORKERS: usize = 100;
    let house = House::open();
    let link = Link::to(&house.url()).await;
    link.lose_answers(60);
    let manager = LockManager::connect(&link.url()).unwrap();
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..WORKERS {
        let manager = manager.clone();
        workers.spawn(async move {
            let name = format!("resource {worker}");
            for _ in 0..EACH {
                let claim = manager.claim(&name).await.unwrap();
                claim.release().await.unwrap();
            }
        });
    }
    while let Some(done) = workers.join_next().await {
        done.unwrap();
    }
    assert!(link.lost() > 500, "only {} answers were lost", link.lost());
    for status in ["waiting", "active"] {
        let (_, body) =
            house::ask(&house.url(), "GET", &format!("/v1/claims/?status={status}"), "");
        assert_eq!(body, "[]", "{status}");
    }
    // Numbers are given one after the other: ten thousand registrations were ten thousand claims.
    let direct = LockManager::connect(&house.url()).unwrap();
    let next = direct.claim("one more").await.unwrap();
    assert_eq!(next.id(), (EACH * WORKERS + 1) as u64);
}

#[tokio::test]
async fn many_claims_are_renewed_together() {
    const CLAIMS: usize = 500;
    let house = House::open();
    let manager = LockManager::connect(&house.url()).unwrap();
    let mut held = Vec::new();
    for nth in 0..CLAIMS {
        held.push(Arc::new(manager.claim(&format!("resource {nth}")).await.unwrap()));
    }
    let before = requests(&house);
    let mut renewals = tokio::task::JoinSet::new();
    for claim in &held {
        let claim = claim.clone();
        renewals.spawn(async move { claim.refresh(None).await });
    }
    while let Some(renewed) = renewals.join_next().await {
        renewed.unwrap().unwrap();
    }
    let spent = requests(&house) - before;
    assert!(spent < CLAIMS as u64 / 2, "{spent} requests for {CLAIMS} renewals");
}

/// How many requests the server has answered.
fn requests(house: &House) -> u64 {
    let (_, page) = house::ask(&house.url(), "GET", "/metrics", "");
    let answered = page.lines().filter(|line| line.starts_with("tenure_http_answers"));
    let counts = answered.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    counts.sum::<f64>() as u64
}

#[tokio::test]
async fn server_restarted_in_the_middle_keeps_every_claim_and_its_turn() {
    let data = tempfile::tempdir().unwrap();
    let first_life = House::keeping(data.path(), None);
    let (url, address) = (first_life.url(), first_life.address());
    let manager = LockManager::connect(&url).unwrap();
    let holder = Arc::new(manager.claim("printer").ttl(Duration::from_secs(60)).await.unwrap());
    let (id, fence) = (holder.id(), holder.fence());
    let waiter = tokio::spawn(manager.claim("printer").into_future());
    while !house::ask(&url, "GET", "/v1/claims/?status=waiting", "").1.contains("waiting") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(first_life);
    assert!(matches!(holder.refresh(None).await, Err(RefreshError::Unknown(_))));
    assert!(holder.check().is_ok());

    let _second_life = House::keeping(data.path(), Some(address));
    while holder.refresh(None).await.is_err() {
        holder.check().unwrap();
    }
    assert_eq!((holder.id(), holder.fence()), (id, fence));
    assert!(!waiter.is_finished(), "nobody holds twice");
    Arc::into_inner(holder).unwrap().release().await.unwrap();
    let next = tokio::time::timeout(LONG, waiter).await.unwrap().unwrap().unwrap();
    assert!(next.fence() > fence);
}
