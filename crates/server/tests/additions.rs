//! What was added to HTTP v1: waiting, keys, sharing, several resources, renewals, events.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod house;

use std::pin::pin;
use std::time::Duration;

use house::{House, pieces, request, waits};
use serde_json::Value;

const RELEASED: &str = r#"{"status":"released"}"#;
const KEY: &str = "a-key-that-the-client-chose";

#[tokio::test]
async fn open_wait_is_granted_by_the_release() {
    let house = House::new().await;
    let holder = house.claim("a", 60.0).await.location();
    let body = r#"{"resource":"a","ttl":60}"#;
    let mut waiter = pin!(house.ask("POST", "/v1/claims/?wait=30", body));
    assert!(waits(&mut waiter).await);
    let waiting = house.claim("a", 60.0).await.is(202).location();
    house.patch(&holder, RELEASED).await.is(204);
    let granted = waiter.await.is(201);
    assert_eq!(granted.json()["fence"], 2);

    let mut prefers = request("PATCH", &waiting, br#"{"status":"active"}"#);
    prefers.headers_mut().insert("prefer", "respond-async, wait=30".parse().unwrap());
    let mut waiter = pin!(house.send(prefers));
    assert!(waits(&mut waiter).await);
    house.patch(&granted.location(), RELEASED).await.is(204);
    assert_eq!(waiter.await.is(200).json()["fence"], 3);
}

#[tokio::test]
async fn wait_ends_with_the_patience_of_the_client() {
    let house = House::new().await;
    house.claim("a", 60.0).await;
    let body = r#"{"resource":"a","ttl":60}"#;
    let waiting = house.ask("POST", "/v1/claims/?wait=0.02", body).await.is(202).location();
    let body = r#"{"status":"active","wait":0.02}"#;
    house.patch(&waiting, body).await.is(409);
    for wait in ["-1", "nan", "abc", ""] {
        let path = format!("/v1/claims/?wait={wait}");
        let value = house.ask("POST", &path, r#"{"resource":"b","ttl":60}"#).await.is(400).json();
        assert!(value["wait"].is_string());
    }
    assert_eq!(house.get("/v1/claims/?resource=b").await.text, "[]");
}

#[tokio::test]
async fn waiter_that_hangs_up_is_not_granted() {
    let house = House::new().await;
    let holder = house.claim("a", 60.0).await.location();
    {
        let body = r#"{"resource":"a","ttl":60}"#;
        let mut gone = pin!(house.ask("POST", "/v1/claims/?wait=30", body));
        assert!(waits(&mut gone).await);
    }
    house.patch(&holder, RELEASED).await.is(204);
    assert_eq!(house.get("/v1/claims/2/").await.json()["status"], "waiting");
}

#[tokio::test]
async fn stopping_server_wakes_who_waits() {
    let house = House::new().await;
    house.claim("a", 60.0).await;
    let waiting = house.claim("a", 60.0).await.location();
    let mut activating = pin!(house.patch(&waiting, r#"{"status":"active","wait":30}"#));
    let body = r#"{"resource":"a","ttl":60,"wait":30}"#;
    let mut registering = pin!(house.post(body));
    assert!(waits(&mut activating).await && waits(&mut registering).await);
    house.server.close();
    activating.await.is(503);
    // A claim that was made is told, or nobody could end it.
    let url = registering.await.is(202).location();
    house.patch(&url, r#"{"status":"withdrawn"}"#).await.is(204);
    house.get("/readyz").await.is(503);
    house.get("/livez").await.is(200);
}

#[tokio::test]
async fn registration_sent_again_is_the_same_claim() {
    let house = House::new().await;
    let body = format!(r#"{{"resource":"a","ttl":60,"key":"{KEY}","user_data":[1, 2]}}"#);
    let first = house.post(&body).await.is(201);
    assert!(first.location().ends_with(&format!("/v1/claims/1.{KEY}/")));
    let again = house.post(&body).await.is(201);
    assert_eq!(first.location(), again.location());
    let other = house.post(&body.replace("60", "61")).await.is(400).json();
    assert!(other["key"].is_string() && other["code"] == "key-in-use");
    house.patch(&first.location(), RELEASED).await.is(204);
    assert_eq!(house.post(&body).await.is(200).json()["status"], "released");
}

#[tokio::test]
async fn shared_and_counted_claims_hold_together() {
    let house = House::new().await;
    for _ in 0..2 {
        let told = house.post(r#"{"resource":"a","ttl":60,"shared":true}"#).await.is(201).json();
        assert_eq!((&told["limit"], &told["shared"]), (&Value::Null, &true.into()));
    }
    house.claim("a", 60.0).await.is(202);
    for expected in [201, 201, 202] {
        house.post(r#"{"resource":"b","ttl":60,"limit":2}"#).await.is(expected);
    }
    house.post(r#"{"resource":"c","ttl":60,"limit":1e9}"#).await.is(201);
}

#[tokio::test]
async fn several_resources_are_all_or_none() {
    let house = House::new().await;
    house.claim("b", 60.0).await;
    let both = house.post(r#"{"resources":["a","b"],"ttl":60}"#).await.is(202).json();
    assert_eq!((&both["resource"], &both["resources"][1]), (&"a".into(), &"b".into()));
    // It does not hold the free one, but nobody goes ahead of it either.
    house.claim("a", 60.0).await.is(202);
}

#[tokio::test]
async fn keeper_may_renew_and_nothing_else() {
    let house = House::new().await;
    let url = house.claim("a", 60.0).await.location();
    house.patch(&url, &format!(r#"{{"keeper":"{KEY}"}}"#)).await.is(200);
    let keeper = format!("/v1/claims/1.{KEY}/");
    house.get(&keeper).await.is(200);
    house.patch(&keeper, r#"{"ttl":5}"#).await.is(200);
    for status in ["released", "aborted", "revoked", "active"] {
        house.patch(&keeper, &format!(r#"{{"status":"{status}"}}"#)).await.is(403);
    }
    assert_eq!(house.get(&url).await.json()["status"], "active");
}

#[tokio::test]
async fn many_claims_are_renewed_by_one_request() {
    let house = House::new().await;
    let first = house.claim("a", 60.0).await.location();
    let second = house.claim("b", 60.0).await.location();
    let waiting = house.claim("b", 60.0).await.location();
    let short = second.rsplit('/').nth(1).unwrap();
    let body = format!(
        r#"{{"ttl":100,"claims":["{first}",{{"claim":"{short}","ttl":"7"}},"{waiting}","9.x","1","?",5]}}"#
    );
    let told = house.ask("POST", "/v1/renewals", &body).await.is(200);
    let value = told.json();
    let list = value["renewals"].as_array().unwrap();
    let codes: Vec<u64> = list.iter().map(|one| one["http_status"].as_u64().unwrap()).collect();
    assert_eq!(codes, [200, 200, 400, 404, 404, 404, 400], "{value}");
    assert!(list[0]["ttl"].as_f64().unwrap() > 99.0 && list[1]["ttl"].as_f64().unwrap() <= 7.0);
    for body in ["{}", r#"{"claims":5}"#, r#"{"claims":["1.x"],"ttl":-1}"#, "[]"] {
        house.ask("POST", "/v1/renewals", body).await.is(400);
    }
}

#[tokio::test]
async fn resources_tell_who_holds_and_who_waits() {
    let house = House::new().await;
    let url = house.claim("a/b c", 60.0).await.location();
    house.patch(&url, RELEASED).await;
    house.claim("a/b c", 60.0).await;
    house.claim("a/b c", 60.0).await;
    house.claim("ночь", 60.0).await;
    let list = house.get("/v1/resources/").await.is(200).json();
    assert_eq!(list[0], serde_json::json!({"resource":"a/b c","holders":[2],"waiting":1}));
    assert_eq!(list[1]["resource"], "ночь");
    for path in ["/v1/resources/a%2Fb%20c/", "/v1/resources/a/b%20c"] {
        let one = house.get(path).await.is(200).json();
        assert_eq!((&one["holders"][0]["id"], &one["queue"][0]["id"]), (&2.into(), &3.into()));
        assert_eq!(one["queue"][0]["queue_position"], 1);
        assert!(one["usual_hold"].is_f64());
    }
    let none = house.get("/v1/resources/nobody").await.is(200).json();
    assert_eq!((&none["waiting"], &none["usual_hold"]), (&0.into(), &Value::Null));
    house.get("/v1/resources/%00").await.is(400);
    house.get("/v1/resources/%ff").await.is(400);
}

#[tokio::test]
async fn events_go_on_where_a_client_left_off() {
    let house = House::new().await;
    house.claim("a", 60.0).await;
    let stream = |last: Option<&str>, path: &str| {
        let mut request = request("GET", path, b"");
        if let Some(last) = last {
            request.headers_mut().insert("last-event-id", last.parse().unwrap());
        }
        let house = house.clone();
        async move {
            let answer = house.server.handle(request).await;
            assert_eq!(answer.headers()["content-type"], "text/event-stream");
            answer.into_body()
        }
    };
    let all = pieces(stream(None, "/v1/events?from=0").await, 2).await;
    assert!(
        all.contains("id: 0\nevent: registered\n") && all.contains("id: 1\nevent: activated\n")
    );
    let rest = pieces(stream(Some("0"), "/v1/events").await, 2).await;
    assert!(!rest.contains("event: registered\n") && rest.contains("id: 1\nevent: activated\n"));
    let new = stream(None, "/v1/events").await;
    house.claim("b", 60.0).await;
    assert!(pieces(new, 2).await.contains("id: 2\nevent: registered\n"));
    house.get("/v1/events?from=x").await.is(400);
}

#[tokio::test]
async fn event_stream_says_what_it_skipped_and_streams_are_bounded() {
    let config = server::Config { streams_max: 1, ..server::Config::default() };
    let house = House::with(claims::Rules::default(), config).await;
    let url = house.claim("a", 60.0).await.location();
    // More than the store keeps for those who are late.
    let body = format!(r#"{{"claims":[{}]}}"#, vec![format!("\"{url}\""); 1_000].join(","));
    for _ in 0..40 {
        house.ask("POST", "/v1/renewals", &body).await.is(200);
    }
    let answer = house.server.handle(request("GET", "/v1/events?from=0", b"")).await;
    house.get("/v1/events").await.is(503);
    let text = pieces(answer.into_body(), 2).await;
    assert!(text.contains("event: skipped\ndata: {\"skipped\":"), "{}", &text[..200]);
    // The one who went makes room.
    for _ in 0..100 {
        let answer = house.server.handle(request("GET", "/v1/events", b"")).await;
        if answer.status() == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the stream that went takes up room");
}
