//! What the client of the original does, in its own order, and what it needs to be told.

use serde_json::Value;

use crate::house::{House, Told};

const RELEASED: &str = r#"{"status":"released"}"#;
const ACTIVE: &str = r#"{"status":"active"}"#;

/// Registers as it does: always with user data, its ttl as text.
async fn register(house: &House, resource: &str, ttl: &str) -> Told {
    let body = format!(r#"{{"resource":"{resource}","ttl":"{ttl}","user_data":null}}"#);
    house.post(&body).await
}

/// What `validate()` looks at.
async fn validates(house: &House, url: &str) -> bool {
    let told = house.get(url).await;
    told.status == 200 && told.json()["status"] == "active"
}

#[tokio::test]
async fn claim_renew_validate_release() {
    let house = House::new().await;
    let url = register(&house, "a", "2").await.is(201).location();
    for _ in 0..5 {
        let renewed = house.patch(&url, r#"{"ttl":"2"}"#).await.is(200).json();
        assert_eq!((&renewed["ttl"], &renewed["url"]), (&2.0.into(), &url.as_str().into()));
    }
    assert!(validates(&house, &url).await);
    house.patch(&url, RELEASED).await.is(204);
    assert!(!validates(&house, &url).await);
    // Its answer was lost, so it is sent again.
    house.patch(&url, RELEASED).await.is(204);
}

#[tokio::test]
async fn waiter_that_times_out_withdraws_and_blocks_nobody() {
    let house = House::new().await;
    let holder = register(&house, "a", "60").await.is(201).location();
    let waiter = register(&house, "a", "60").await.is(202).location();
    house.patch(&waiter, ACTIVE).await.is(409);
    house.patch(&waiter, r#"{"status":"withdrawn"}"#).await.is(204);
    house.patch(&holder, RELEASED).await.is(204);
    register(&house, "a", "60").await.is(201);
}

#[tokio::test]
async fn shutdown_aborts_holders_and_waiters() {
    let house = House::new().await;
    let holder = register(&house, "a", "60").await.is(201).location();
    let waiter = register(&house, "a", "60").await.is(202).location();
    for url in [&holder, &waiter] {
        house.patch(url, r#"{"status":"aborted"}"#).await.is(204);
        house.patch(url, r#"{"status":"aborted"}"#).await.is(204);
    }
    register(&house, "a", "60").await.is(201);
}

#[tokio::test]
async fn polling_waiter_becomes_the_holder() {
    let house = House::new().await;
    let holder = register(&house, "a", "60").await.is(201).location();
    let waiter = register(&house, "a", "60").await.is(202).location();
    for _ in 0..3 {
        house.patch(&waiter, ACTIVE).await.is(409);
    }
    house.patch(&holder, RELEASED).await.is(204);
    // Whoever comes now is behind the one who waits.
    register(&house, "a", "60").await.is(202);
    let granted = house.patch(&waiter, ACTIVE).await.is(200).json();
    assert_eq!(granted["status"], "active");
    assert!(granted["active_duration"].as_f64().unwrap() > 0.0 && granted["ttl"] == 60.0);
    house.patch(&waiter, ACTIVE).await.is(200);
}

#[tokio::test]
async fn wrong_address_is_a_plain_refusal() {
    let house = House::new().await;
    house.ask("POST", "/bad/v1/claims/", r#"{"resource":"a","ttl":1}"#).await.is(404);
    assert_eq!(house.get("/v1/claims/").await.text, "[]");
}

#[tokio::test]
async fn registration_without_a_key_sent_twice_is_two_claims() {
    let house = House::new().await;
    let first = register(&house, "a", "60").await.is(201).location();
    assert_ne!(register(&house, "a", "60").await.is(202).location(), first);
}

#[tokio::test]
async fn overdue_holder_may_release_and_is_ended_by_the_wish_of_a_waiter() {
    let house = House::new().await;
    let first = register(&house, "a", "0").await.is(201).location();
    house.patch(&first, RELEASED).await.is(204);
    let overdue = register(&house, "b", "600").await.is(201).location();
    let waiter = register(&house, "b", "60").await.is(202).location();
    house.patch(&overdue, r#"{"ttl":0}"#).await.is(200);
    // Time has to pass: a moment of the store is enough.
    while house.patch(&waiter, ACTIVE).await.status == 409 {}
    assert_eq!(house.get(&overdue).await.json()["status"], "expired");
    for (body, message) in [
        (r#"{"ttl":5}"#, "Failed to update ttl"),
        (ACTIVE, "Claim has invalid status."),
        (RELEASED, "Failed to remove lock."),
        (r#"{"status":"aborted"}"#, "Cannot set status to \"aborted\" from \"expired\""),
    ] {
        let value = house.patch(&overdue, body).await.is(400).json();
        assert_eq!((&value["message"], &value["status"]), (&message.into(), &"expired".into()));
        assert_eq!(value["exception_class"], "InvalidRequest");
    }
}

#[tokio::test]
async fn times_of_a_finished_claim_stand_still() {
    let house = House::new().await;
    let holder = register(&house, "a", "60").await.is(201).location();
    let waiter = register(&house, "a", "60").await.is(202).location();
    house.patch(&waiter, r#"{"status":"withdrawn"}"#).await.is(204);
    house.patch(&holder, RELEASED).await.is(204);
    let times = async |url: &str| {
        let claim = house.get(url).await.is(200).json();
        assert!(claim["ttl"].is_null(), "{claim}");
        (claim["active_duration"].clone(), claim["waiting_duration"].clone())
    };
    let (held, waited) = (times(&holder).await, times(&waiter).await);
    assert!(held.0.is_f64() && waited.0.is_null() && waited.1.is_f64());
    std::thread::sleep(std::time::Duration::from_millis(2));
    assert_eq!((times(&holder).await, times(&waiter).await), (held, waited));
}

#[tokio::test]
async fn history_has_each_status_once_oldest_first() {
    let house = House::new().await;
    let url = register(&house, "a", "60").await.location();
    house.patch(&url, ACTIVE).await.is(200);
    house.patch(&url, RELEASED).await.is(204);
    house.patch(&url, RELEASED).await.is(204);
    let claim = house.get(&url).await.json();
    let history = claim["status_history"].as_array().unwrap();
    let statuses: Vec<&Value> = history.iter().map(|step| &step["status"]).collect();
    assert_eq!(statuses, ["waiting", "active", "released"]);
}

#[tokio::test]
async fn ids_rise_and_are_never_used_again() {
    let house = House::new().await;
    let mut last = 0;
    for _ in 0..5 {
        let told = register(&house, "a", "60").await.is(201);
        let id = told.json()["id"].as_u64().unwrap();
        assert!(id > last);
        last = id;
        house.patch(&told.location(), RELEASED).await.is(204);
    }
}
