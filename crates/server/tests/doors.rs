//! Who is let in, and what they are told when the store is not available.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod house;

use std::sync::Arc;
use std::time::Duration;

use claims::Rules;
use house::down::Down;
use house::{House, TOKEN, request};
use server::Config;

#[tokio::test]
async fn web_pages_may_not_write() {
    let house = House::new().await;
    let mut page = request("POST", "/v1/claims/", br#"{"resource":"a","ttl":5}"#);
    page.headers_mut().insert("origin", "http://evil.example".parse().unwrap());
    house.send(page).await.is(403);
    let mut rebound = request("GET", "/v1/claims/", b"");
    rebound.headers_mut().insert("host", "evil.example:7117".parse().unwrap());
    house.send(rebound).await.is(421);
    assert_eq!(house.get("/v1/claims/").await.text, "[]");
}

#[tokio::test]
async fn request_that_says_twice_who_asks_or_whom_is_refused() {
    let house = House::new().await;
    let right = format!("Bearer {TOKEN}");
    house.claim("a", 60.0).await;
    for (header, values) in [
        ("authorization", [right.as_str(), "Bearer wrong"]),
        ("authorization", ["Bearer wrong", right.as_str()]),
        ("authorization", [right.as_str(), right.as_str()]),
        ("host", ["127.0.0.1:7117", "evil.example"]),
        ("host", ["127.0.0.1:7117", "127.0.0.1:7117"]),
    ] {
        let mut twice = request("PATCH", "/v1/claims/1/", br#"{"status":"revoked"}"#);
        twice.headers_mut().remove(header);
        for value in values {
            twice.headers_mut().append(header, value.parse().unwrap());
        }
        let told = house.send(twice).await.is(400);
        let detail = told.json()["detail"].as_str().unwrap().to_lowercase();
        assert!(detail.contains(&format!("more than one {header} header")), "{detail}");
    }
    assert_eq!(house.get("/v1/claims/1/").await.json()["status"], "active");
}

#[tokio::test]
async fn administrator_revokes_by_bare_id_and_nobody_else() {
    let house = House::new().await;
    let url = house.claim("a", 60.0).await.location();
    let revoke = |token: Option<&str>, body: &str| {
        let mut request = request("PATCH", "/v1/claims/1/", body.as_bytes());
        if let Some(token) = token {
            request.headers_mut().insert("authorization", token.parse().unwrap());
        }
        request
    };
    let revoked = r#"{"status":"revoked"}"#;
    house.send(revoke(None, revoked)).await.is(404);
    for wrong in ["Bearer wrong", "Basic abc", TOKEN] {
        house.send(revoke(Some(wrong), revoked)).await.is(401);
    }
    let right = format!("Bearer {TOKEN}");
    // The right to revoke is no right to anything else.
    house.send(revoke(Some(&right), r#"{"status":"released"}"#)).await.is(404);
    house.send(revoke(Some(&right), r#"{"ttl":600}"#)).await.is(404);
    assert_eq!(house.get(&url).await.json()["status"], "active");
    house.send(revoke(Some(&right), revoked)).await.is(204);
    assert_eq!(house.get(&url).await.json()["status"], "revoked");
    house.patch(&url, r#"{"ttl":5}"#).await.is(400);
}

#[tokio::test]
async fn store_that_is_down_is_never_the_client_s_fault() {
    let house = House::over(Arc::new(Down), Config::default()).await;
    let one = "/v1/claims/1.AAAAAAAAAAAAAAAAAAAAAA/";
    let table = [
        ("POST", "/v1/claims/", r#"{"resource":"a","ttl":5}"#),
        ("POST", "/v1/claims/?wait=5", r#"{"resource":"a","ttl":5}"#),
        ("PATCH", one, r#"{"ttl":5}"#),
        ("PATCH", one, r#"{"status":"active"}"#),
        ("PATCH", one, r#"{"status":"released"}"#),
        ("PATCH", one, r#"{"status":"revoked"}"#),
        ("GET", one, ""),
        ("GET", "/v1/claims/", ""),
        ("GET", "/v1/resources/", ""),
        ("GET", "/v1/resources/a", ""),
        ("GET", "/v1/events", ""),
        ("GET", "/readyz", ""),
        ("GET", "/metrics", ""),
    ];
    for (method, path, body) in table {
        let value = house.ask(method, path, body).await.is(503).json();
        assert_eq!(value["detail"], "the disk is on holiday", "{method} {path}");
    }
    let body = r#"{"claims":["1.AAAAAAAAAAAAAAAAAAAAAA"]}"#;
    let many = house.ask("POST", "/v1/renewals", body).await.is(200).json();
    assert_eq!(many["renewals"][0]["http_status"], 503);
    house.get("/livez").await.is(200);
}

/// What somebody can do who found an address with a key in it, in a log or on a screen.
#[tokio::test]
async fn stolen_key_opens_its_own_claim_and_nothing_else_until_it_is_revoked() {
    let house = House::new().await;
    let stolen = house.claim("a", 60.0).await.location();
    let other = house.claim("b", 60.0).await.location();
    let key = stolen.trim_end_matches('/').rsplit_once('.').unwrap().1;
    for body in [r#"{"ttl":600}"#, r#"{"status":"released"}"#, r#"{"status":"active"}"#] {
        house.patch(&format!("/v1/claims/2.{key}/"), body).await.is(404);
    }
    let renewals = format!(r#"{{"claims":["2.{key}"]}}"#);
    let told = house.ask("POST", "/v1/renewals", &renewals).await.is(200).json();
    assert_eq!(told["renewals"][0]["http_status"], 404);
    assert_eq!(house.get(&other).await.json()["status"], "active");
    // Its own claim it can keep for ever, which is seen, and ended by the administrator.
    house.patch(&stolen, r#"{"ttl":600}"#).await.is(200);
    let mut revoke = request("PATCH", "/v1/claims/1/", br#"{"status":"revoked"}"#);
    let admin = format!("Bearer {TOKEN}").parse().unwrap();
    revoke.headers_mut().insert("authorization", admin);
    house.send(revoke).await.is(204);
    for body in [r#"{"ttl":600}"#, r#"{"status":"active"}"#, r#"{"status":"released"}"#] {
        assert!(house.patch(&stolen, body).await.status >= 400, "the key still opens something");
    }
    house.claim("a", 60.0).await.is(201);
}

#[tokio::test]
async fn renewals_beyond_the_bound_are_refused_as_a_whole() {
    let house =
        House::with(Rules::default(), Config { renewals_max: 2, ..Config::default() }).await;
    let url = house.claim("a", 60.0).await.location();
    let body = format!(r#"{{"ttl":600,"claims":["{url}","{url}","{url}"]}}"#);
    let told = house.ask("POST", "/v1/renewals", &body).await.is(400);
    assert!(told.text.contains("At most 2 claims"), "{told:?}");
    assert!(house.get(&url).await.json()["ttl"].as_f64().unwrap() <= 60.0, "one was renewed");
}

#[tokio::test]
async fn nobody_waits_longer_than_the_server_allows() {
    let config = Config { wait_for_max: Duration::from_millis(20), ..Config::default() };
    let house = House::with(Rules::default(), config).await;
    house.claim("a", 60.0).await.is(201);
    for wait in ["3600", "1e300"] {
        let body = format!(r#"{{"resource":"a","ttl":60,"wait":{wait}}}"#);
        let told = tokio::time::timeout(Duration::from_secs(60), house.post(&body)).await;
        told.expect("it waits on").is(202);
    }
}
