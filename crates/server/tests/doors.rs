//! Who is let in, what is too much, and how the server says how it is.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod house;

use std::sync::Arc;
use std::time::Duration;

use claims::{Claim, ClaimId, Command, Name, Standing};
use house::{House, TOKEN, request};
use registry::{
    Answer, EventPage, Filter, Page, Pending, ResourceReport, Store, StoreError, Vitals,
};
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
async fn bad_input_is_a_clear_answer_and_changes_nothing() {
    let house = House::new().await;
    house.claim("held", 60.0).await.is(201);
    let before = house.store.vitals().await.unwrap().position;
    let deep = format!(
        r#"{{"resource":"a","ttl":1,"user_data":{}{}}}"#,
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    let long = format!(r#"{{"resource":"{}","ttl":1}}"#, "x".repeat(1_025));
    let large = format!(r#"{{"resource":"a","ttl":1,"user_data":"{}"}}"#, "x".repeat(10 << 20));
    let many: Vec<String> = (0..17).map(|nth| nth.to_string()).collect();
    let many = format!(r#"{{"resources":{many:?},"ttl":1}}"#);
    let table: [(&[u8], u16); 25] = [
        (b"", 400),
        (b"{", 400),
        (b"nonsense", 400),
        (b"\xff\xfe\x00", 400),
        (br#"{"resource":"","ttl":1}"#, 400),
        (br#"{"resource":"a\u0000","ttl":1}"#, 400),
        (br#"{"resource":"a\nb","ttl":1}"#, 400),
        (br#"{"resource":"\ud800","ttl":1}"#, 400),
        (b"{\"resource\":\"caf\xe9\",\"ttl\":1}", 400),
        (long.as_bytes(), 400),
        (br#"{"resource":"a"}"#, 400),
        (br#"{"resource":"a","ttl":-1}"#, 400),
        (br#"{"resource":"a","ttl":NaN}"#, 400),
        (br#"{"resource":"a","ttl":Infinity}"#, 400),
        (br#"{"resource":"a","ttl":"inf"}"#, 400),
        (br#"{"resource":"a","ttl":1e308}"#, 400),
        (br#"{"resource":"a","ttl":[1]}"#, 400),
        (br#"{"resource":"a","ttl":1,"limit":0}"#, 400),
        (br#"{"resource":"a","ttl":1,"limit":-1}"#, 400),
        (br#"{"resource":"a","ttl":1,"limit":"many"}"#, 400),
        (many.as_bytes(), 400),
        (br#"{"resources":["a","a"],"ttl":1}"#, 400),
        (deep.as_bytes(), 400),
        (large.as_bytes(), 413),
        (br#"{"resource":"a","ttl":1,"key":"guessable"}"#, 400),
    ];
    for (body, status) in table {
        house.send(request("POST", "/v1/claims/", body)).await.is(status);
    }
    for query in ["resource=%ff&ttl=1", "resource=%00&ttl=1", "ttl=1", "resource=a&ttl=x"] {
        house.ask("POST", &format!("/v1/claims/?{query}"), "").await.is(400);
    }
    assert_eq!(house.store.vitals().await.unwrap().position, before, "something changed");
}

#[tokio::test]
async fn metrics_are_there_without_a_label_per_resource() {
    let house = House::new().await;
    house.claim("some-resource", 60.0).await;
    let waiting = house.claim("some-resource", 60.0).await.location();
    house.patch(&waiting, r#"{"status":"active"}"#).await.is(409);
    let page = house.get("/metrics").await.is(200);
    assert_eq!(page.headers["content-type"], "text/plain; version=0.0.4");
    assert!(!page.text.contains("some-resource"));
    for line in [
        "tenure_claims{phase=\"active\"} 1",
        "tenure_claims{phase=\"waiting\"} 1",
        "tenure_refused_total{code=\"still-waiting\"} 1",
        "tenure_http_answers_total{class=\"2xx\"} 2",
        "# TYPE tenure_wait_seconds histogram",
        "# TYPE tenure_hold_seconds histogram",
    ] {
        assert!(page.text.contains(line), "{line} is not in {}", page.text);
    }
}

/// A store that is not available.
struct Down;

fn down<'a, T>() -> Pending<'a, T> {
    Box::pin(async { Err(StoreError::Unavailable("the disk is on holiday".into())) })
}

impl Store for Down {
    fn submit(&self, _: Command) -> Pending<'_, Answer> {
        down()
    }
    fn submit_and_wait(&self, _: Command, _: Duration) -> Pending<'_, Answer> {
        down()
    }
    fn standing(&self, _: ClaimId) -> Pending<'_, Option<Standing>> {
        down()
    }
    fn claims(&self, _: Filter, _: Page<ClaimId>) -> Pending<'_, Vec<Claim>> {
        down()
    }
    fn resources(&self, _: Page<Name>) -> Pending<'_, Vec<ResourceReport>> {
        down()
    }
    fn resource(&self, _: Name, _: usize) -> Pending<'_, ResourceReport> {
        down()
    }
    fn events(&self, _: u64, _: usize) -> Pending<'_, EventPage> {
        down()
    }
    fn wait_for_event(&self, _: u64) -> Pending<'_, ()> {
        down()
    }
    fn sweep(&self) -> Pending<'_, Option<Duration>> {
        down()
    }
    fn vitals(&self) -> Pending<'_, Vitals> {
        down()
    }
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
