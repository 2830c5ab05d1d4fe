//! HTTP v1 as clients of the original know it: the facts that decide compatibility, one by one.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod house;

mod v1 {
    mod lists;
    mod original;
    mod parameters;
    mod paths;
}

use house::{HOST, House};
use serde_json::Value;

const RELEASED: &str = r#"{"status":"released"}"#;
const ACTIVE: &str = r#"{"status":"active"}"#;

#[tokio::test]
async fn free_resource_is_granted_with_all_nine_fields() {
    let house = House::new().await;
    let told = house.post(r#"{"resource":"a","ttl":60,"user_data":{"pid":7}}"#).await.is(201);
    let claim = told.json();
    for field in ["url", "resource", "status", "created", "status_history", "ttl"] {
        assert!(!claim[field].is_null(), "{field}");
    }
    assert_eq!(claim["url"], told.location());
    assert!(told.location().starts_with(&format!("http://{HOST}/v1/claims/1.")));
    assert_eq!((&claim["resource"], &claim["status"]), (&"a".into(), &"active".into()));
    assert_eq!(claim["user_data"]["pid"], 7);
    // Floats are floats, and a holder has held for more than nothing.
    for field in ["ttl", "active_duration", "waiting_duration"] {
        assert!(claim[field].is_f64(), "{field} is {}", claim[field]);
    }
    assert!(claim["active_duration"].as_f64().unwrap() > 0.0);
    assert!(claim["created"].as_str().unwrap().ends_with(" -0000"));
    let history: Vec<&Value> = claim["status_history"].as_array().unwrap().iter().collect();
    assert_eq!(
        (&history[0]["status"], &history[1]["status"]),
        (&"waiting".into(), &"active".into())
    );
    assert_eq!(told.headers["content-type"], "application/json");
}

#[tokio::test]
async fn held_resource_makes_the_next_claim_wait() {
    let house = House::new().await;
    house.claim("a", 60.0).await.is(201);
    let waiter = house.claim("a", 60.0).await.is(202);
    let claim = waiter.json();
    assert_eq!(claim["url"], waiter.location());
    assert!(claim["ttl"].is_null() && claim["active_duration"].is_null());
    assert!(claim["waiting_duration"].is_f64());
    assert_eq!((&claim["queue_position"], &claim["holders"][0]), (&1.into(), &1.into()));
}

#[tokio::test]
async fn transitions_have_the_status_codes_of_the_original() {
    // From, asked, status, message.
    let table = [
        ("waiting", r#"{"ttl":5}"#, 400, "Failed to update ttl"),
        ("waiting", ACTIVE, 409, "Resource is locked by another claim"),
        ("waiting", RELEASED, 400, "Failed to remove lock."),
        ("waiting", r#"{"status":"aborted"}"#, 204, ""),
        ("waiting", r#"{"status":"revoked"}"#, 204, ""),
        ("waiting", r#"{"status":"withdrawn"}"#, 204, ""),
        ("active", r#"{"ttl":5}"#, 200, ""),
        ("active", r#"{"ttl":"5"}"#, 200, ""),
        ("active", r#"{"ttl":0}"#, 200, ""),
        ("active", ACTIVE, 200, ""),
        ("active", RELEASED, 204, ""),
        ("active", r#"{"status":"aborted"}"#, 204, ""),
        ("active", r#"{"status":"revoked"}"#, 204, ""),
        ("active", r#"{"status":"withdrawn"}"#, 204, ""),
        ("released", RELEASED, 204, ""),
        ("released", ACTIVE, 400, "Claim has invalid status."),
        ("released", r#"{"ttl":5}"#, 400, "Failed to update ttl"),
        (
            "released",
            r#"{"status":"aborted"}"#,
            400,
            "Cannot set status to \"aborted\" from \"released\"",
        ),
        ("revoked", r#"{"status":"revoked"}"#, 204, ""),
        ("revoked", r#"{"ttl":5}"#, 400, "Failed to update ttl"),
        ("aborted", r#"{"status":"aborted"}"#, 204, ""),
        ("withdrawn", r#"{"status":"withdrawn"}"#, 204, ""),
        ("withdrawn", RELEASED, 400, "Failed to remove lock."),
    ];
    for (from, asked, status, message) in table {
        let house = House::new().await;
        let mut url = house.claim("a", 60.0).await.is(201).location();
        match from {
            "active" => {}
            "waiting" => url = house.claim("a", 60.0).await.is(202).location(),
            other => {
                house.patch(&url, &format!(r#"{{"status":"{other}"}}"#)).await.is(204);
            }
        }
        let told = house.patch(&url, asked).await.is(status);
        if !message.is_empty() {
            let value = told.json();
            assert_eq!(value["message"], message, "{from} {asked}");
            assert!(value["claim_id"].is_u64());
            assert!(status == 409 || value["status"] == from, "{value}");
        }
        if status == 200 {
            assert_eq!(told.json()["url"], url);
        }
    }
}

#[tokio::test]
async fn conflict_names_the_holder_and_the_place() {
    let house = House::new().await;
    house.claim("a", 60.0).await;
    house.claim("a", 60.0).await;
    let last = house.claim("a", 60.0).await.location();
    let value = house.patch(&last, ACTIVE).await.is(409).json();
    assert_eq!(value["exception_class"], "ConflictException");
    assert_eq!((&value["active_claim_id"], &value["queue_position"]), (&1.into(), &2.into()));
    assert_eq!(value["holders"], serde_json::json!([1]));
}

#[tokio::test]
async fn expiry_is_lazy() {
    let house = House::new().await;
    let url = house.claim("a", 0.0).await.is(201).location();
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let overdue = house.get(&url).await.is(200).json();
    assert_eq!(overdue["status"], "active");
    assert!(overdue["ttl"].as_f64().unwrap() < 0.0);
    // It can still be activated, renewed, and released; somebody else's wish ends it.
    house.patch(&url, ACTIVE).await.is(200);
    let renewed = house.patch(&url, r#"{"ttl":0.001}"#).await.is(200).json();
    assert!(renewed["ttl"].is_f64());
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    house.claim("a", 60.0).await.is(201);
    assert_eq!(house.get(&url).await.json()["status"], "expired");
    house.patch(&url, r#"{"ttl":60}"#).await.is(400);
}

#[tokio::test]
async fn lease_is_told_exactly() {
    let house = House::new().await;
    let told = house.claim("a", 60.0).await;
    assert_eq!(told.json()["ttl"], 60.0);
    for _ in 0..100 {
        let renewed = house.patch(&told.location(), r#"{"ttl":7}"#).await.is(200).json();
        assert_eq!(renewed["ttl"], 7.0);
        // As time passes, lease and hold change by the same amount.
        let claim = house.patch(&told.location(), ACTIVE).await.is(200).json();
        let sum = |claim: &Value| {
            claim["ttl"].as_f64().unwrap() + claim["active_duration"].as_f64().unwrap()
        };
        assert!((sum(&claim) - sum(&renewed)).abs() < 2e-6, "{renewed} {claim}");
    }
}

#[tokio::test]
async fn waiter_does_not_lose_its_turn_behind_its_back() {
    let house = House::new().await;
    let holder = house.claim("a", 60.0).await.location();
    let first = house.claim("a", 1.0).await.is(202).location();
    let second = house.claim("a", 60.0).await.is(202).location();
    house.patch(&holder, RELEASED).await.is(204);
    // The second asks: it is not its turn, and the first's lease has not begun.
    house.patch(&second, ACTIVE).await.is(409);
    assert_eq!(house.get(&first).await.json()["status"], "waiting");
    house.patch(&first, ACTIVE).await.is(200);
}

#[tokio::test]
async fn unknown_wrong_and_missing_keys_are_one_answer() {
    let house = House::new().await;
    let url = house.claim("a", 60.0).await.location();
    let wrong = "/v1/claims/1.AAAAAAAAAAAAAAAAAAAAAA/";
    let mut answers = Vec::new();
    for path in [wrong, "/v1/claims/1.x/", "/v1/claims/1./", "/v1/claims/1/"] {
        answers.push(house.patch(path, RELEASED).await.is(404).text);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    let value: Value = serde_json::from_str(&answers[0]).unwrap();
    assert_eq!(
        (&value["exception_class"], &value["claim_id"]),
        (&"ClaimNotFound".into(), &1.into())
    );
    let unknown = house.patch("/v1/claims/77.AAAAAAAAAAAAAAAAAAAAAA/", RELEASED).await.is(404);
    assert_eq!(unknown.text.replace("77", "1"), answers[0]);
    house.get(wrong).await.is(404);
    assert_eq!(house.get(&url).await.json()["status"], "active");
}

#[tokio::test]
async fn bare_address_reads_and_shows_no_key() {
    let house = House::new().await;
    let url = house.claim("a", 60.0).await.location();
    let key = url.rsplit_once('.').unwrap().1.trim_end_matches('/').to_owned();
    for path in ["/v1/claims/1/", "/v1/claims/0001/", "/v1/claims/", "/v1/resources/a/"] {
        let told = house.get(path).await.is(200);
        assert!(!told.text.contains(&key), "{path} shows the key");
    }
    assert_eq!(house.get(&url).await.json()["url"], url);
}
