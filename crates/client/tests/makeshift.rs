//! Claims at places without a lock server.
#![cfg(feature = "makeshift")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::time::Duration;

use tenure::{ClaimError, ConnectError, Guarantee, Lease, LockManager, Loss};

/// Both kinds, each in a directory of its own.
fn places(directory: &tempfile::TempDir) -> [LockManager; 2] {
    let path = directory.path().display();
    [format!("create+file://{path}/create"), format!("mops+file://{path}/mops?margin=0.3")]
        .map(|url| LockManager::at(&url).ttl(Duration::from_secs(30)).connect().unwrap())
}

#[tokio::test]
async fn one_holds_the_other_is_told_and_follows() {
    let directory = tempfile::tempdir().unwrap();
    for manager in places(&directory) {
        let claim = manager.claim("a/b").await.unwrap();
        claim.check().unwrap();
        assert!(matches!(claim.lease(), Lease::Held(left) if left > Duration::ZERO));
        assert_eq!(claim.fence().is_some(), manager.capabilities().fence);
        let busy = manager.try_claim("a/b").await.unwrap_err();
        assert!(matches!(busy, ClaimError::Busy { .. }), "{busy}");
        let late = manager.claim("a/b").timeout(Duration::from_millis(500)).await.unwrap_err();
        assert!(matches!(late, ClaimError::TimedOut { .. }), "{late}");
        let other = manager.claim("c").await.unwrap();
        let (next, released) = tokio::join!(manager.claim("a/b"), claim.release());
        released.unwrap();
        drop(other);
        next.unwrap().release().await.unwrap();
    }
}

#[tokio::test]
async fn what_a_place_cannot_do_is_refused_and_named() {
    let directory = tempfile::tempdir().unwrap();
    for manager in places(&directory) {
        let abilities = manager.capabilities();
        assert!(!abilities.queue && !abilities.shared && !abilities.several && abilities.expiry);
        for claiming in [
            manager.claim("x").shared(),
            manager.claim("x").limit(3),
            manager.claim("x").data("{}"),
            manager.claim_all(["x", "y"]),
        ] {
            let refusal = claiming.await.unwrap_err();
            assert!(matches!(refusal, ClaimError::Unable { .. }), "{refusal}");
        }
    }
    let [create, mops] = places(&directory).map(|manager| manager.capabilities().guarantee);
    assert_eq!((create, mops), (Guarantee::OneHolder, Guarantee::BestEffort));
}

/// It is renewed by itself there; whoever asks for it is told so, and does not wait for ever.
#[tokio::test]
async fn refresh_is_answered_where_leases_renew_themselves() {
    let directory = tempfile::tempdir().unwrap();
    for manager in places(&directory) {
        let claim = manager.claim("r").await.unwrap();
        let patience = Duration::from_secs(20);
        let several = async { tokio::join!(claim.refresh(None), claim.refresh(None)) };
        let (one, two) = tokio::time::timeout(patience, several).await.expect("it is answered");
        one.unwrap();
        two.unwrap();
        let longer = claim.refresh(Duration::from_secs(60));
        let refused = tokio::time::timeout(patience, longer).await.expect("it is answered");
        assert!(refused.unwrap_err().to_string().contains("cannot be changed here"));
        claim.release().await.unwrap();
    }
}

#[tokio::test]
async fn claim_that_is_taken_away_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mops");
    let url = format!("mops+file://{}?margin=0.3", path.display());
    let manager = LockManager::at(&url).ttl(Duration::from_secs(6)).connect().unwrap();
    let claim = manager.claim("x").await.unwrap();
    std::fs::remove_file(path.join("x/lock/lock.json")).unwrap();
    let loss = claim.lost().await;
    assert!(matches!(loss, Loss::Taken(_)), "{loss}");
    assert_eq!(claim.valid_for(), Duration::ZERO);
    assert!(!path.join("x/lock/lock.json").exists(), "it was written again");
}

#[test]
fn dropped_claims_are_given_back_without_a_runtime() {
    let directory = tempfile::tempdir().unwrap();
    for manager in places(&directory) {
        let manager = tenure::blocking::LockManager::from(manager);
        drop(manager.claim("x").get().unwrap());
        manager.claim("x").get().unwrap().release().unwrap();
    }
}

#[tokio::test]
async fn claim_that_is_given_up_while_it_waits_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for manager in places(&directory) {
        let holder = manager.claim("x").await.unwrap();
        let waiting = manager.claim("x");
        let impatient = tokio::time::timeout(Duration::from_millis(300), waiting.into_future());
        assert!(impatient.await.is_err(), "two at once");
        holder.release().await.unwrap();
        manager.claim("x").await.unwrap().release().await.unwrap();
    }
}

#[test]
fn bad_addresses_are_refused_at_once() {
    for url in
        ["mops+nonsense://x", "create+http://x", "cloudshell://host/", "mops+file://relative"]
    {
        let error = LockManager::connect(url).unwrap_err();
        assert!(matches!(error, ConnectError::Store(_)), "{url}: {error}");
    }
}
