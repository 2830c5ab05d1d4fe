//! The document and the server say the same: routes, methods, every status of every operation.
//! (Every other test of the router holds its answers against the document as well.)
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod house;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use claims::Rules;
use house::contract::{Contract, operations};
use house::down::Down;
use house::{House, request};
use server::{Body, Config};

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS"];

#[tokio::test]
async fn router_allows_what_the_document_says_and_nothing_else() {
    let house = House::new().await;
    let contract = Contract::read().await;
    let templates: BTreeSet<&str> =
        operations(&contract.document).map(|(path, _, _)| path).collect();
    for template in templates {
        let path = template.replace("{claim}", "1").replace("{name}", "x").replace("{lock}", "1");
        let said: BTreeSet<String> = operations(&contract.document)
            .filter(|(path, _, _)| *path == template)
            .map(|(_, method, _)| method.to_uppercase())
            .collect();
        let mut allowed = BTreeSet::new();
        for method in METHODS {
            let answer = house.server.handle(request(method, &path, b"")).await;
            if answer.status() != 405 {
                allowed.insert(method.to_owned());
            }
            if answer.status() == 405 || method == "OPTIONS" {
                let allow = answer.headers()["allow"].to_str().unwrap();
                let allow: BTreeSet<String> = allow.split(", ").map(str::to_owned).collect();
                assert!(allow.is_superset(&said), "{method} {path}: {allow:?}");
                assert_eq!(allow.contains("HEAD"), said.contains("GET"));
            }
        }
        let mut expected = said.clone();
        expected.insert("OPTIONS".into());
        if said.contains("GET") {
            expected.insert("HEAD".into());
        }
        assert_eq!(allowed, expected, "{path}");
    }
}

#[tokio::test]
async fn document_is_valid_json_schema_with_unique_operations() {
    let contract = Contract::read().await;
    assert_eq!(contract.document["openapi"], "3.1.0");
    let names: Vec<&str> = operations(&contract.document)
        .map(|(_, _, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for (name, schema) in contract.document["components"]["schemas"].as_object().unwrap() {
        assert!(jsonschema::meta::is_valid(schema), "{name}");
    }
}

const KEY: &str = "a-key-that-the-client-chose";
const LOCK: &str = "the-key-of-a-lock-on-dataset-";
const OTHER: &str = "another-key-that-was-chosen";

/// Method, path and body of requests that are answered in every way there is, in this order.
fn conversation() -> Vec<(&'static str, String, String)> {
    let one = format!("/v1/claims/1.{KEY}/");
    let claim = format!(r#"{{"resource":"a","ttl":60,"key":"{KEY}"}}"#);
    let huge = "x".repeat(200 << 10);
    let list = [
        ("POST", "/v1/claims/", claim.as_str()),
        (
            "POST",
            "/v1/claims/",
            r#"{"resource":"a","ttl":60,"key":"the-key-of-the-one-who-waits"}"#,
        ),
        // The queue is full.
        ("POST", "/v1/claims/", r#"{"resource":"a","ttl":60}"#),
        ("POST", "/v1/claims/", "{"),
        ("POST", "/v1/claims/", &huge),
        ("GET", "/v1/claims/", ""),
        ("GET", "/v1/claims/?limit=x", ""),
        ("GET", &one, ""),
        ("GET", "/v1/claims/9/", ""),
        ("PATCH", &one, r#"{"ttl":60}"#),
        ("PATCH", &one, &format!(r#"{{"keeper":"{OTHER}"}}"#)),
        ("PATCH", &format!("/v1/claims/1.{OTHER}/"), r#"{"status":"released"}"#),
        ("PATCH", "/v1/claims/2.the-key-of-the-one-who-waits/", r#"{"status":"active"}"#),
        ("PATCH", &one, "{}"),
        ("PATCH", &one, &huge),
        ("PATCH", "/v1/claims/9/", r#"{"status":"active"}"#),
        ("POST", "/v1/renewals", &format!(r#"{{"claims":["{one}","?",7],"ttl":"5"}}"#)),
        ("POST", "/v1/renewals", "[]"),
        ("POST", "/v1/renewals", &huge),
        ("GET", "/v1/resources/", ""),
        ("GET", "/v1/resources/?offset=-1", ""),
        ("GET", "/v1/resources/a/", ""),
        ("GET", "/v1/resources/%00/", ""),
        ("GET", "/v1/events", ""),
        ("GET", "/v1/events?from=x", ""),
        ("GET", "/livez", ""),
        ("GET", "/readyz", ""),
        ("GET", "/metrics", ""),
        ("GET", "/openapi.json", ""),
        // Locks on datasets are claims: these have keys that are known here.
        ("POST", "/v1/claims/", &format!(r#"{{"resource":"dataset/7","ttl":60,"key":"{LOCK}7"}}"#)),
        ("POST", "/v1/claims/", &format!(r#"{{"resource":"dataset/8","ttl":60,"key":"{LOCK}8"}}"#)),
        ("GET", "/ids/getServiceStatus", ""),
        ("GET", "/ids/ping", ""),
        ("GET", "/ids/version", ""),
        ("POST", "/ids/locks", r#"{"datasetIds":[1,2],"call":"put","owner":"ids"}"#),
        ("POST", "/ids/locks", r#"{"datasetIds":[7],"type":"SHARED"}"#),
        ("POST", "/ids/locks", r#"{"datasetIds":"x","type":"SHARED"}"#),
        ("POST", "/ids/locks", &huge),
        ("PATCH", &format!("/ids/locks/3.{LOCK}7"), r#"{"ttl":30}"#),
        ("PATCH", &format!("/ids/locks/3.{LOCK}7"), r#"{"ttl":"x"}"#),
        ("PATCH", &format!("/ids/locks/3.{LOCK}8"), r#"{"ttl":30}"#),
        ("PATCH", &format!("/ids/locks/3.{LOCK}7"), &huge),
        ("DELETE", &format!("/ids/locks/3.{LOCK}7"), ""),
        ("DELETE", &format!("/ids/locks/3.{LOCK}8"), ""),
        ("POST", "/ids/operations", r#"{"operation":"ARCHIVE","datasetId":9}"#),
        ("POST", "/ids/operations", r#"{"operation":"EAT","datasetId":9}"#),
        ("POST", "/ids/operations", &huge),
        ("POST", "/ids/work", r#"{"owner":"tape-1"}"#),
        ("POST", "/ids/work", r#"{"max":0}"#),
        ("POST", "/ids/work", &huge),
        ("PATCH", &format!("/ids/work/4.{LOCK}8"), r#"{"failed":7}"#),
        ("PATCH", &format!("/ids/work/4.{LOCK}8"), &huge),
        ("PATCH", &format!("/ids/work/4.{LOCK}8"), r#"{"failed":[]}"#),
        ("PATCH", &format!("/ids/work/4.{LOCK}8"), r#"{"failed":[]}"#),
        // Ended in another way, it cannot be released.
        ("PATCH", &one, r#"{"status":"aborted"}"#),
        ("DELETE", &one.replace("/v1/claims/", "/ids/locks/"), ""),
        // Sent again when its claim is over.
        ("POST", "/v1/claims/", &claim),
    ];
    list.iter().map(|(method, path, body)| (*method, (*path).into(), (*body).into())).collect()
}

#[tokio::test]
async fn every_documented_answer_is_given_and_fits() {
    let house = House::with(Rules { queue_max: 1, ..Rules::default() }, Config::default()).await;
    let impatient = Config { body_for: Duration::from_millis(1), ..Config::default() };
    let down = House::over(Arc::new(Down), impatient).await;
    let mut seen = BTreeSet::new();
    let mut note = |told: house::Told| {
        let operation = told.operation.expect("all of these are documented");
        seen.insert((operation, told.status));
    };
    for (method, path, body) in conversation() {
        note(house.ask(method, &path, &body).await);
        note(down.ask(method, &path, &body).await);
        let mut elsewhere = request(method, &path, body.as_bytes());
        elsewhere.headers_mut().insert("host", "evil.example".parse().unwrap());
        note(house.send(elsewhere).await);
        if method != "GET" {
            let mut page = request(method, &path, body.as_bytes());
            page.headers_mut().insert("origin", "http://evil.example".parse().unwrap());
            note(house.send(page).await);
            // A body that never comes.
            let (_sender, pieces) = tokio::sync::mpsc::channel(1);
            let slow = request(method, &path, b"").map(|_| Body::Stream(pieces));
            note(down.send(slow).await);
        }
    }
    let mut guess = request("PATCH", "/v1/claims/2/", br#"{"status":"revoked"}"#);
    guess.headers_mut().insert("authorization", "Bearer guess".parse().unwrap());
    note(house.send(guess).await);
    house.server.close();
    note(house.get("/readyz").await);
    let promised: BTreeSet<(String, u16)> = Contract::read().await.promises().collect();
    let missing: Vec<_> = promised.difference(&seen).collect();
    assert!(missing.is_empty(), "promised, but never answered: {missing:?}");
}
