//! Claims through the client, against a real server in this process.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[allow(dead_code, reason = "no test needs all of it")]
mod house;

use std::time::Duration;

use house::House;
use tenure::{ClaimError, ConnectError, Key, Lease, LockManager, Loss, RefreshError, ReleaseError};

/// Only a hang is that long.
const LONG: Duration = Duration::from_secs(120);

fn manager(house: &House) -> LockManager {
    LockManager::connect(&house.url()).unwrap()
}

#[tokio::test]
async fn claim_is_held_with_a_fence_and_given_back() {
    let house = House::open();
    let manager = manager(&house);
    let first = manager.claim("printer").await.unwrap();
    assert!(first.check().is_ok());
    assert!(matches!(first.lease(), Lease::Held(left) if left <= Duration::from_secs(57)));
    let fence = first.fence().unwrap();
    first.release().await.unwrap();
    let second = manager.claim("printer").await.unwrap();
    assert!(second.fence().unwrap() > fence);
}

#[tokio::test]
async fn waiter_is_served_when_the_holder_gives_back() {
    let house = House::open();
    let manager = manager(&house);
    let holder = manager.claim("printer").await.unwrap();
    let waiter = tokio::spawn(manager.claim("printer").into_future());
    wait_until(|| queue(&house, "printer") == 1).await;
    holder.release().await.unwrap();
    let waiter = tokio::time::timeout(LONG, waiter).await.unwrap().unwrap().unwrap();
    assert!(waiter.check().is_ok());
}

#[tokio::test]
async fn who_only_tries_is_told_that_it_is_busy_and_leaves_nothing() {
    let house = House::open();
    let manager = manager(&house);
    let _holder = manager.claim("printer").await.unwrap();
    let error = manager.try_claim("printer").await.unwrap_err();
    assert!(
        matches!(&error, ClaimError::Busy { what, position: Some(1) } if what == "\"printer\"")
    );
    wait_until(|| queue(&house, "printer") == 0).await;
}

#[tokio::test]
async fn timeout_is_told_and_leaves_nothing() {
    let house = House::open();
    let manager = manager(&house);
    let _holder = manager.claim("printer").await.unwrap();
    let error = manager.claim("printer").timeout(Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(error, ClaimError::TimedOut { .. }), "{error}");
    wait_until(|| queue(&house, "printer") == 0).await;
}

#[tokio::test]
async fn dropping_the_future_while_it_waits_leaves_the_queue() {
    let house = House::open();
    let manager = manager(&house);
    let _holder = manager.claim("printer").await.unwrap();
    let waiter = tokio::spawn(manager.claim("printer").into_future());
    wait_until(|| queue(&house, "printer") == 1).await;
    waiter.abort();
    wait_until(|| queue(&house, "printer") == 0).await;
}

#[tokio::test]
async fn readers_share_and_semaphores_count() {
    let house = House::open();
    let manager = manager(&house);
    let readers = [
        manager.claim("book").shared().await.unwrap(),
        manager.claim("book").shared().await.unwrap(),
    ];
    assert!(matches!(manager.try_claim("book").await, Err(ClaimError::Busy { .. })));
    drop(readers);
    let seats = [
        manager.claim("room").limit(2).await.unwrap(),
        manager.claim("room").limit(2).await.unwrap(),
    ];
    assert!(matches!(manager.try_claim("room").limit(2).await, Err(ClaimError::Busy { .. })));
    drop(seats);
}

#[tokio::test]
async fn several_resources_are_held_together() {
    let house = House::open();
    let manager = manager(&house);
    let both = manager.claim_all(["left", "right"]).await.unwrap();
    assert_eq!(both.resources().collect::<Vec<_>>(), ["left", "right"]);
    for one in ["left", "right"] {
        assert!(matches!(manager.try_claim(one).await, Err(ClaimError::Busy { .. })));
    }
    both.release().await.unwrap();
    manager.try_claim("left").await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn lease_is_renewed_in_the_background() {
    let house = House::open();
    let manager = manager(&house);
    let claim = manager.claim("printer").ttl(Duration::from_secs(9)).await.unwrap();
    // Somebody wants it all the time, so that it would be taken away at once if it were overdue.
    let waiter = tokio::spawn(manager.claim("printer").into_future());
    let first = std::time::Instant::now() + claim.valid_for();
    wait_until(|| {
        claim.check().unwrap();
        std::time::Instant::now() + claim.valid_for() > first + Duration::from_secs(1)
    })
    .await;
    assert!(!waiter.is_finished());
    claim.release().await.unwrap();
    assert!(waiter.await.unwrap().is_ok());
}

#[tokio::test]
async fn refresh_lengthens_the_lease() {
    let house = House::open();
    let manager = manager(&house);
    let claim = manager.claim("printer").ttl(Duration::from_secs(10)).await.unwrap();
    assert!(claim.valid_for() < Duration::from_secs(10));
    claim.refresh(Duration::from_secs(1000)).await.unwrap();
    assert!(claim.valid_for() > Duration::from_secs(500));
    claim.refresh(None).await.unwrap();
}

#[tokio::test]
async fn revoked_claim_is_lost_with_its_cause() {
    let admin = server::AdminToken::of("an administrator's token");
    let config = server::Config { admin: Some(admin), ..server::Config::default() };
    let house = House::with(claims::Rules::default(), config);
    let manager = manager(&house);
    let claim = manager.claim("printer").ttl(Duration::from_secs(2)).await.unwrap();
    // The administrator is another client, with a token.
    let (id, fence) = (claim.id(), claim.fence());
    ask(&house, "PATCH", &format!("/v1/claims/{id}/"), r#"{"status":"revoked"}"#);
    let loss = tokio::time::timeout(LONG, claim.lost()).await.unwrap();
    assert_eq!(loss, Loss::Revoked);
    assert_eq!((claim.id(), claim.fence()), (id, fence), "it still says what it was");
    assert_eq!(claim.check(), Err(Loss::Revoked));
    assert_eq!(claim.valid_for(), Duration::ZERO);
    assert!(matches!(claim.refresh(None).await, Err(RefreshError::Lost(Loss::Revoked))));
    assert_eq!(claim.release().await, Err(ReleaseError::Lost(Loss::Revoked)));
}

#[tokio::test]
async fn keeper_renews_and_can_do_nothing_else() {
    let house = House::open();
    let manager = manager(&house);
    let claim = manager.claim("printer").await.unwrap();
    let token = claim.keeper().await.unwrap();
    let other = LockManager::connect(&house.url()).unwrap();
    other.keeper(&token).renew(Duration::from_secs(90)).await.unwrap();
    let path = format!("/v1/claims/{token}/");
    assert_eq!(ask(&house, "PATCH", &path, r#"{"status":"released"}"#), 403);
    claim.release().await.unwrap();
    let error = other.keeper(&token).renew(Duration::from_secs(90)).await.unwrap_err();
    assert!(matches!(error, RefreshError::Refused(_)), "{error}");
}

#[tokio::test]
async fn claim_of_a_process_that_is_gone_is_taken_over_by_its_key() {
    let house = House::open();
    let key = Key::random();
    let first = manager(&house).claim("printer").key(key.clone()).await.unwrap();
    let id = first.id();
    // It dies without a word.
    std::mem::forget(first);
    let again = manager(&house).claim("printer").key(key).await.unwrap();
    assert_eq!(again.id(), id);
    assert!(again.check().is_ok());
    again.release().await.unwrap();
}

#[tokio::test]
async fn what_is_out_of_bounds_is_refused_with_a_reason() {
    let house = House::open();
    let manager = manager(&house);
    let error = manager.claim("").await.unwrap_err();
    assert!(error.to_string().contains("empty"), "{error}");
    let error = manager.claim("a").limit(0).await.unwrap_err();
    assert!(matches!(error, ClaimError::Terms(_)));
    let error = manager.claim_all(["a", "a"]).await.unwrap_err();
    assert!(matches!(error, ClaimError::Terms(_)));
    let error = manager.claim("a").data("{not json").await.unwrap_err();
    assert!(matches!(error, ClaimError::Data(_)));
    let connecting = LockManager::at(&house.url()).api_version("v9");
    assert!(matches!(connecting.connect(), Err(ConnectError::Version { .. })));
}

#[tokio::test]
async fn server_that_is_not_there_is_said_to_be_so() {
    let url = House::open().url();
    let manager = LockManager::connect(&url).unwrap();
    let error = manager.claim("a").timeout(Duration::from_millis(100)).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ClaimError::Unavailable { .. }), "{text}");
    assert!(text.contains(&url), "{text}");
}

#[test]
fn blocking_facade_does_the_same_without_a_runtime() {
    let house = House::open();
    let manager = tenure::blocking::LockManager::connect(&house.url()).unwrap();
    let claim = manager.claim("printer").data(r#"{"host":"a"}"#).get().unwrap();
    assert!(claim.fence().is_some());
    assert!(matches!(manager.try_claim("printer").get(), Err(ClaimError::Busy { .. })));
    claim.refresh(Duration::from_secs(30)).unwrap();
    let token = claim.keeper().unwrap();
    manager.renew_as_keeper(&token, Duration::from_secs(30)).unwrap();
    let waiter = std::thread::spawn({
        let manager = manager.clone();
        move || manager.claim("printer").get().map(|claim| claim.release())
    });
    claim.release().unwrap();
    assert_eq!(waiter.join().unwrap().unwrap(), Ok(()));
    let both = manager.claim_all(["a", "b"]).get().unwrap();
    drop(both);
}

#[test]
fn dropped_guard_is_released_though_the_program_goes_on_at_once() {
    let house = House::open();
    let manager = tenure::blocking::LockManager::connect(&house.url()).unwrap();
    drop(manager.claim("printer").get().unwrap());
    drop(manager);
    // The last one out waited for the goodbye.
    assert_eq!(holders(&house, "printer"), 0);
}

async fn wait_until(condition: impl Fn() -> bool) {
    let started = std::time::Instant::now();
    while !condition() {
        assert!(started.elapsed() < LONG, "it never came to that");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn queue(house: &House, resource: &str) -> usize {
    count(house, resource, "waiting")
}

fn holders(house: &House, resource: &str) -> usize {
    count(house, resource, "active")
}

fn count(house: &House, resource: &str, status: &str) -> usize {
    let path = format!("/v1/claims/?resource={resource}&status={status}");
    let (_, body) = house::ask(&house.url(), "GET", &path, "");
    body.matches("\"status_history\"").count()
}

fn ask(house: &House, method: &str, path: &str, body: &str) -> u16 {
    house::ask(&house.url(), method, path, body).0
}
