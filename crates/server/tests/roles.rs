//! Every route and every role: who is let in, who is not, and that being sent away changes nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod house;

use std::collections::BTreeSet;
use std::sync::Arc;

use claims::{Grant, Rules, WallTime};
use house::{House, TOKEN, pieces, request, whole};
use server::{Body, Config, TokenFile, Tokens};

/// A house that wants tokens, and the file they are in.
struct Guarded {
    house: House,
    file: TokenFile,
    tokens: Arc<Tokens>,
    _data: tempfile::TempDir,
}

const YEAR: u64 = 365 * 24 * 3_600_000;

impl Guarded {
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let file = TokenFile::within(data.path());
        let tokens = Arc::new(Tokens::open(file.clone()).unwrap());
        let config = Config { tokens: Some(tokens.clone()), ..Config::default() };
        let house = House::with(Rules::default(), config).await;
        Self { house, file, tokens, _data: data }
    }

    fn token(&self, name: &str, grants: &[&str], lives_for_ms: u64) -> String {
        let grants: Vec<Grant> = grants.iter().map(|text| Grant::parse(text).unwrap()).collect();
        let made = self
            .file
            .change(|list| list.create(name, grants.into(), Some(lives_for_ms), now()))
            .unwrap()
            .unwrap();
        self.tokens.refresh();
        made
    }

    async fn ask(&self, token: Option<&str>, method: &str, path: &str, body: &str) -> (u16, Body) {
        let mut request = request(method, path, body.as_bytes());
        if let Some(token) = token {
            let value = format!("Bearer {token}").parse().unwrap();
            request.headers_mut().insert("authorization", value);
        }
        let (head, body) = self.house.server.handle(request).await.into_parts();
        (head.status.as_u16(), body)
    }

    /// Asks for something that is not a stream.
    async fn read(&self, token: &str, method: &str, path: &str, body: &str) -> (u16, String) {
        let (status, body) = self.ask(Some(token), method, path, body).await;
        let Ok(bytes) = body.into_bytes() else { panic!("{path} is a stream") };
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    /// Makes a claim as the administrator; the end of its address.
    async fn claim(&self, resources: &[&str]) -> String {
        let body = format!(r#"{{"resources":{resources:?},"ttl":60}}"#);
        let (status, text) = self.read(TOKEN, "POST", "/v1/claims/", &body).await;
        assert!(matches!(status, 201 | 202), "{text}");
        let url = serde_json::from_str::<serde_json::Value>(&text).unwrap()["url"].clone();
        url.as_str().unwrap().trim_end_matches('/').rsplit('/').next().unwrap().to_owned()
    }
}

fn now() -> WallTime {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    WallTime(since.as_millis() as u64)
}

/// What is asked, and what each role is answered.
struct Row {
    method: &'static str,
    /// As the router calls it.
    route: &'static str,
    /// `{handle}`, `{id}` and `{name}` are those of a new claim.
    path: &'static str,
    body: &'static str,
    /// The verb it takes; the other verbs are what is insufficient.
    verb: &'static str,
    /// The prefix it takes.
    prefix: &'static str,
    other_verbs: u16,
    other_prefix: u16,
    sufficient: u16,
}

const ROWS: &[Row] = &[
    row("GET", "/v1/claims/", "/v1/claims/", "", "read", [403, 200, 200]),
    row(
        "POST",
        "/v1/claims/",
        "/v1/claims/",
        r#"{"resource":"own/new","ttl":3600}"#,
        "claim",
        [403, 403, 201],
    ),
    row("GET", "/v1/claims/{claim}/", "/v1/claims/{id}/", "", "read", [404, 404, 200]),
    // Whoever has the key may look with either verb.
    row("GET", "/v1/claims/{claim}/", "/v1/claims/{handle}/", "", "claim", [200, 403, 200]),
    change(r#"{"ttl":60}"#, [403, 403, 200]),
    change(r#"{"status":"active"}"#, [403, 403, 200]),
    change(r#"{"keeper":"0123456789012345678901"}"#, [403, 403, 200]),
    change(r#"{"status":"released"}"#, [403, 403, 204]),
    change(r#"{"status":"aborted"}"#, [403, 403, 204]),
    change(r#"{"status":"withdrawn"}"#, [403, 403, 204]),
    change(r#"{"status":"revoked"}"#, [403, 403, 204]),
    row(
        "PATCH",
        "/v1/claims/{claim}/",
        "/v1/claims/{id}/",
        r#"{"status":"revoked"}"#,
        "revoke",
        [403, 404, 204],
    ),
    row("GET", "/v1/resources/", "/v1/resources/", "", "read", [403, 200, 200]),
    row("GET", "/v1/resources/{name}/", "/v1/resources/{name}/", "", "read", [403, 403, 200]),
    row(
        "POST",
        "/v1/renewals",
        "/v1/renewals",
        r#"{"claims":["{handle}"]}"#,
        "claim",
        [403, 200, 200],
    ),
    row("GET", "/v1/events", "/v1/events?from=0", "", "read", [403, 200, 200]),
    Row { prefix: "*", ..row("GET", "/metrics", "/metrics", "", "read", [403, 403, 200]) },
    row("GET", "/livez", "/livez", "", "", [200, 200, 200]),
    row("GET", "/readyz", "/readyz", "", "", [200, 200, 200]),
    row("GET", "/openapi.json", "/openapi.json", "", "", [200, 200, 200]),
    Row {
        prefix: "*",
        ..row("GET", "/ids/getServiceStatus", "/ids/getServiceStatus", "", "read", [403, 403, 200])
    },
    row("GET", "/ids/ping", "/ids/ping", "", "", [200, 200, 200]),
    row("GET", "/ids/version", "/ids/version", "", "", [200, 200, 200]),
    Row {
        prefix: "dataset/",
        ..row(
            "POST",
            "/ids/locks",
            "/ids/locks",
            r#"{"datasetIds":[1,2],"type":"SHARED"}"#,
            "claim",
            [403, 403, 201],
        )
    },
    row(
        "PATCH",
        "/ids/locks/{lock}",
        "/ids/locks/{handle}",
        r#"{"ttl":60}"#,
        "claim",
        [403, 403, 204],
    ),
    row("DELETE", "/ids/locks/{lock}", "/ids/locks/{handle}", "", "claim", [403, 403, 204]),
    Row {
        prefix: "operation/",
        ..row(
            "POST",
            "/ids/operations",
            "/ids/operations",
            r#"{"operation":"ARCHIVE","datasetId":3}"#,
            "claim",
            [403, 403, 200],
        )
    },
    Row {
        prefix: "*",
        ..row("POST", "/ids/work", "/ids/work", r#"{"owner":"x"}"#, "claim", [403, 403, 200])
    },
    row(
        "PATCH",
        "/ids/work/{lock}",
        "/ids/work/{handle}",
        r#"{"failed":[]}"#,
        "claim",
        [403, 403, 204],
    ),
];

const fn row(
    method: &'static str,
    route: &'static str,
    path: &'static str,
    body: &'static str,
    verb: &'static str,
    [other_verbs, other_prefix, sufficient]: [u16; 3],
) -> Row {
    Row { method, route, path, body, verb, prefix: "own/", other_verbs, other_prefix, sufficient }
}

const fn change(body: &'static str, answers: [u16; 3]) -> Row {
    row("PATCH", "/v1/claims/{claim}/", "/v1/claims/{handle}/", body, "claim", answers)
}

#[test]
fn every_route_has_a_row() {
    let mut rows: BTreeSet<(&str, &str)> = ROWS.iter().map(|row| (row.method, row.route)).collect();
    // HEAD is asked wherever GET is, and OPTIONS everywhere.
    for row in ROWS {
        rows.insert(("OPTIONS", row.route));
        if row.method == "GET" {
            rows.insert(("HEAD", row.route));
        }
    }
    assert_eq!(rows, server::routes().collect());
}

#[tokio::test]
async fn every_route_lets_in_exactly_who_was_granted_it() {
    let guarded = Guarded::new().await;
    let expired = guarded.token("expired", &["all:*"], 0);
    let wrong = expired.replace("tenure_", "tenure-");
    let forged = format!("{}{}", &expired[..40], "A".repeat(expired.len() - 40));
    for (nth, row) in ROWS.iter().enumerate() {
        let others = ["read", "claim", "revoke"].into_iter().filter(|verb| *verb != row.verb);
        let others = others.collect::<Vec<_>>().join(",");
        let verb = if row.verb.is_empty() { "read" } else { row.verb };
        let prefix = row.prefix;
        let make =
            |role: &str, grant: String| guarded.token(&format!("{role}-{nth}"), &[&grant], YEAR);
        let other_verbs = make("other-verbs", format!("{others}:{prefix}"));
        let other_prefix = make("other-prefix", format!("{verb}:other/"));
        let sufficient = make("sufficient", format!("{verb}:{prefix}"));
        let open = row.verb.is_empty();
        let outside = if open { 200 } else { 401 };
        let roles = [
            ("no token", None, outside),
            ("not a token", Some("nonsense"), outside),
            ("wrong token", Some(&*wrong), outside),
            ("wrong secret", Some(&*forged), outside),
            ("expired token", Some(&*expired), outside),
            ("other verbs", Some(&*other_verbs), row.other_verbs),
            ("other prefix", Some(&*other_prefix), row.other_prefix),
            ("sufficient", Some(&*sufficient), row.sufficient),
            ("administrator", Some(TOKEN), row.sufficient),
        ];
        for (role, token, expected) in roles {
            let name = format!("own/{nth}");
            let handle = guarded.claim(&[&name]).await;
            let id = handle.split('.').next().unwrap();
            let fill = |text: &str| {
                text.replace("{handle}", &handle).replace("{id}", id).replace("{name}", &name)
            };
            let (path, body) = (fill(row.path), fill(row.body));
            let before = guarded.house.store.vitals().await.unwrap().position;
            let mut methods = vec![(row.method, expected)];
            if row.method == "GET" {
                methods.push(("HEAD", expected));
            }
            methods.push(("OPTIONS", if expected == 401 { 401 } else { 200 }));
            for (method, expected) in methods {
                let (status, answer) = guarded.ask(token, method, &path, &body).await;
                let what = format!("{role}: {method} {path} {body}");
                // A claim of the row before may still hold what is new.
                let same = status == expected || (expected == 201 && status == 202);
                assert!(same, "{what}: {status}, not {expected}: {answer:?}");
                if status >= 400 || role == "other prefix" {
                    let after = guarded.house.store.vitals().await.unwrap().position;
                    assert_eq!(before, after, "{what}: something changed");
                }
                let shown = whole(answer);
                // Whoever shows the key of a claim may be told what it is for.
                if row.method == "GET" && status < 400 && role == "other prefix" && !open {
                    assert!(!shown.contains("own/"), "{what}: {shown}");
                }
            }
            let end = format!("/v1/claims/{handle}/");
            let _ = guarded.read(TOKEN, "PATCH", &end, r#"{"status":"aborted"}"#).await;
        }
    }
}

#[tokio::test]
async fn renewals_are_granted_one_by_one() {
    let guarded = Guarded::new().await;
    let token = guarded.token("ci", &["claim:own/"], YEAR);
    let own = guarded.claim(&["own/a"]).await;
    let other = guarded.claim(&["other/a"]).await;
    let both = guarded.claim(&["own/b", "other/b"]).await;
    let stolen = format!("{}.{}", own.split('.').next().unwrap(), "A".repeat(22));
    let body = format!(r#"{{"claims":["{own}","{other}","{both}","{stolen}"]}}"#);
    let (status, text) = guarded.read(&token, "POST", "/v1/renewals", &body).await;
    assert_eq!(status, 200);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let statuses: Vec<_> = value["renewals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["http_status"].as_u64().unwrap_or(200))
        .collect();
    assert_eq!(statuses, [200, 403, 403, 404], "{text}");
}

/// What somebody can do who found a token: what its owner could, but not what needs a key.
#[tokio::test]
async fn stolen_token_opens_nothing_that_is_held_and_nothing_beyond_its_prefix() {
    let guarded = Guarded::new().await;
    let stolen = guarded.token("ci", &["read,claim:own/"], YEAR);
    let held = guarded.claim(&["own/a"]).await;
    let (id, _) = held.split_once('.').unwrap();
    for body in [r#"{"ttl":600}"#, r#"{"status":"released"}"#, r#"{"status":"revoked"}"#] {
        let guessed = format!("/v1/claims/{id}.{}/", "A".repeat(22));
        for path in [format!("/v1/claims/{id}/"), guessed] {
            let (status, text) = guarded.read(&stolen, "PATCH", &path, body).await;
            assert!(matches!(status, 403 | 404), "{path} {body}: {status} {text}");
        }
    }
    let (_, shown) = guarded.read(&stolen, "GET", "/v1/claims/", "").await;
    assert!(shown.contains("own/a") && !shown.contains(held.as_str()), "no key is shown: {shown}");
    for (name, status) in [("own/b", 201), ("own", 403), ("other/a", 403)] {
        let body = format!(r#"{{"resource":"{name}","ttl":60}}"#);
        assert_eq!(guarded.read(&stolen, "POST", "/v1/claims/", &body).await.0, status, "{name}");
    }
    let (status, _) = guarded.read(&stolen, "GET", "/metrics", "").await;
    assert_eq!(status, 403, "figures are about everybody's claims");
    // Its owner notices, and takes it back: what it holds can only run out.
    guarded.file.change(|list| list.revoke("ci")).unwrap().unwrap();
    guarded.tokens.refresh();
    let (status, _) = guarded.read(&stolen, "GET", "/v1/claims/", "").await;
    assert_eq!(status, 401);
}

/// A key without a token, where tokens are demanded.
#[tokio::test]
async fn stolen_key_without_a_token_opens_nothing() {
    let guarded = Guarded::new().await;
    let stranger = guarded.token("stranger", &["all:strange/"], YEAR);
    let held = guarded.claim(&["own/a"]).await;
    let path = format!("/v1/claims/{held}/");
    for body in [r#"{"ttl":600}"#, r#"{"status":"released"}"#] {
        assert_eq!(guarded.ask(None, "PATCH", &path, body).await.0, 401);
        assert_eq!(guarded.read(&stranger, "PATCH", &path, body).await.0, 403);
    }
    let (_, shown) = guarded.read(TOKEN, "GET", &path, "").await;
    assert!(shown.contains(r#""active""#), "{shown}");
}

#[tokio::test]
async fn lists_and_events_show_only_what_may_be_read() {
    let guarded = Guarded::new().await;
    let token = guarded.token("ci", &["read:own/"], YEAR);
    let foreign = guarded.claim(&["other/a"]).await;
    guarded.claim(&["own/a"]).await;
    guarded.claim(&["own/b", "other/b"]).await;
    guarded.claim(&["own/z"]).await;
    let names = |text: &str, field: &str| -> Vec<String> {
        let list: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
        list.iter().map(|one| one[field].as_str().unwrap().to_owned()).collect()
    };
    let (_, text) = guarded.read(&token, "GET", "/v1/claims/", "").await;
    assert_eq!(names(&text, "resource"), ["own/a", "own/z"]);
    let (_, text) = guarded.read(&token, "GET", "/v1/claims/?offset=1&limit=1", "").await;
    assert_eq!(names(&text, "resource"), ["own/z"]);
    let (_, text) = guarded.read(&token, "GET", "/v1/claims/?resource=other/a", "").await;
    assert_eq!(text, "[]");
    let (_, text) = guarded.read(&token, "GET", "/v1/resources/", "").await;
    assert_eq!(names(&text, "resource"), ["own/a", "own/b", "own/z"]);
    let (_, text) = guarded.read(&token, "GET", "/v1/resources/?offset=1&limit=1", "").await;
    assert_eq!(names(&text, "resource"), ["own/b"]);
    // Somebody holds it; who, reaches beyond what may be read.
    let (_, text) = guarded.read(&token, "GET", "/v1/resources/own/b/", "").await;
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (value["holding"].as_u64(), value["holders"].as_array().unwrap().len()),
        (Some(1), 0)
    );
    assert!(!text.contains("other"), "{text}");

    let path = format!("/v1/claims/{foreign}/");
    guarded.read(TOKEN, "PATCH", &path, r#"{"status":"released"}"#).await;
    guarded.claim(&["own/last"]).await;
    let (_, body) = guarded.ask(Some(&token), "GET", "/v1/events?from=0", "").await;
    let text = pieces(body, 2).await;
    assert!(text.contains("own/a") && text.contains("own/z") && text.contains("own/last"));
    assert!(!text.contains("other") && !text.contains("released"), "{text}");
}

#[tokio::test]
async fn stream_ends_with_the_token_that_opened_it() {
    let guarded = Guarded::new().await;
    let token = guarded.token("ci", &["read:*"], YEAR);
    let (_, body) = guarded.ask(Some(&token), "GET", "/v1/events", "").await;
    let Body::Stream(mut pieces) = body else { panic!("events are a stream") };
    assert!(pieces.recv().await.is_some(), "it begins");
    guarded.claim(&["a"]).await;
    assert!(pieces.recv().await.is_some(), "it goes on");
    guarded.file.change(|list| list.revoke("ci")).unwrap().unwrap();
    guarded.tokens.refresh();
    guarded.claim(&["b"]).await;
    assert!(pieces.recv().await.is_none(), "it ends");
    assert_eq!(guarded.ask(Some(&token), "GET", "/v1/events", "").await.0, 401);
}

/// Clients that know nothing of tokens, but can be given an address with a password in it.
#[tokio::test]
async fn password_in_the_address_comes_back_in_own_addresses_and_nowhere_else() {
    let guarded = Guarded::new().await;
    let token = guarded.token("ci", &["read,claim:own/"], YEAR);
    let basic = |user: &str| format!("Basic {}", base64(&format!("{user}:{token}")));
    let ask = async |value: &str, method: &str, path: &str, body: &str| {
        let mut request = request(method, path, body.as_bytes());
        request.headers_mut().insert("authorization", value.parse().unwrap());
        guarded.house.send(request).await
    };
    let body = r#"{"resource":"own/a","ttl":60}"#;
    let told = ask(&basic("ci"), "POST", "/v1/claims/", body).await.is(201);
    let location = told.location();
    assert_eq!(told.json()["url"], *location);
    let rest = location.strip_prefix(&format!("http://ci:{token}@127.0.0.1:7117/")).unwrap();
    let path = format!("/{rest}");
    let told = ask(&basic("ci"), "PATCH", &path, r#"{"ttl":50}"#).await.is(200);
    assert_eq!(told.json()["url"], *location, "the same address again");
    // Addresses that own nothing carry nothing.
    for path in ["/v1/claims/", "/v1/claims/1/", "/v1/resources/own/a/"] {
        assert!(!ask(&basic("ci"), "GET", path, "").await.is(200).text.contains(&token));
    }
    // A user that would have to be escaped is left out.
    let told = ask(&basic("a b@c"), "GET", &path, "").await.is(200);
    assert!(told.json()["url"].as_str().unwrap().starts_with(&format!("http://:{token}@")));
    // Whoever sent a header of its own gets plain addresses.
    let told = ask(&format!("Bearer {token}"), "GET", &path, "").await.is(200);
    assert!(!told.text.contains(&token));
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, &byte| word << 8 | u32::from(byte));
        let word = word << (8 * (3 - chunk.len()));
        for nth in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * nth)) as usize & 63];
            out.push(if nth <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}
