//! Which paths and methods there are, and how addresses are written.

use crate::house::{HOST, House, request};

#[tokio::test]
async fn slashes_are_forgiven_without_a_redirect() {
    let house = House::new().await;
    for (nth, path) in
        ["/v1/claims/", "/v1/claims", "//v1/claims/", "//v1//claims"].iter().enumerate()
    {
        let body = format!(r#"{{"resource":"{nth}","ttl":60}}"#);
        let told = house.ask("POST", path, &body).await.is(201);
        let url = told.location();
        house.patch(url.trim_end_matches('/'), r#"{"ttl":5}"#).await.is(200);
        house.get(&url.replace("/v1/", "//v1//")).await.is(200);
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_answered_in_json() {
    let house = House::new().await;
    let unknown = [
        "/",
        "/v1/",
        "/v1/unknown-resource/",
        "/bad/v1/claims/",
        "/v1/claims/x/",
        "/v1/claims/-1/",
        "/v1/claims/99999999999999999999999999/",
        "/v1/claims/1/2/",
    ];
    for path in unknown {
        house.get(path).await.is(404);
    }
    house.patch("/v1/claims/99999999999999999999999999/", r#"{"status":"released"}"#).await.is(404);
    for (method, path) in [
        ("PUT", "/v1/claims/"),
        ("DELETE", "/v1/claims/1/"),
        ("PATCH", "/v1/claims/"),
        ("POST", "/v1/claims/1/"),
        ("GET", "/v1/renewals"),
        ("POST", "/metrics"),
    ] {
        let told = house.ask(method, path, "{}").await.is(405);
        assert!(!told.headers["allow"].is_empty());
    }
    let options = house.ask("OPTIONS", "/v1/claims/", "").await.is(200);
    assert!(options.text.is_empty() && options.headers["allow"] == "GET, HEAD, OPTIONS, POST");
    house.ask("HEAD", "/v1/claims/", "").await.is(200);
}

#[tokio::test]
async fn location_is_built_from_the_host_asked_for() {
    let house = House::new().await;
    for host in ["localhost:1234", "[::1]:7117", "127.0.0.1"] {
        let mut request = request("POST", "/v1/claims/", br#"{"resource":"x","ttl":1}"#);
        request.headers_mut().insert("host", host.parse().unwrap());
        let told = house.send(request).await;
        assert!(told.location().starts_with(&format!("http://{host}/v1/claims/")));
    }
    let mut old = request("POST", "/v1/claims/", br#"{"resource":"x","ttl":1}"#);
    old.headers_mut().remove("host");
    assert!(house.send(old).await.location().starts_with(&format!("http://{HOST}/")));
}
