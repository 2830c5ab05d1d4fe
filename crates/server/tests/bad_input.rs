//! Bad input: a clear answer, and nothing changed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod house;

use claims::Rules;
use house::{House, Told, request};
use server::Config;

/// All that can be seen of a store that holds one claim and has one waiter.
async fn seen(house: &House) -> (u64, String, String) {
    let position = house.store.vitals().await.unwrap().position;
    let mut claims = house.get("/v1/claims/?limit=100").await.is(200).json();
    for claim in claims.as_array_mut().unwrap() {
        for running in ["ttl", "active_duration", "waiting_duration"] {
            claim[running].take();
        }
    }
    (position, claims.to_string(), house.get("/v1/resources/").await.is(200).text)
}

async fn occupied() -> House {
    let house = House::new().await;
    house.claim("held", 600.0).await.is(201);
    house.claim("held", 600.0).await.is(202);
    house
}

/// Each of these bodies is refused with this status, blaming this parameter, and changes nothing.
async fn refused(cases: &[(&[u8], u16, &str)]) {
    let house = occupied().await;
    let before = seen(&house).await;
    for (body, status, blamed) in cases {
        let told = house.send(request("POST", "/v1/claims/", body)).await;
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        assert_eq!(told.status, *status, "{shown}");
        let value = told.json();
        assert!(!value["detail"].as_str().unwrap().is_empty(), "{shown}: {value}");
        assert!(blamed.is_empty() || value[blamed].is_string(), "{shown}: {value}");
        assert_eq!(seen(&house).await, before, "{shown}");
    }
}

#[tokio::test]
async fn names_that_are_none_are_refused() {
    let long = format!(r#"{{"resource":"{}","ttl":1}}"#, "x".repeat(1_025));
    let wide = format!(r#"{{"resource":"{}","ttl":1}}"#, "ы".repeat(513));
    refused(&[
        (br#"{"resource":"","ttl":1}"#, 400, "resource"),
        (br#"{"resource":null,"ttl":1}"#, 400, "resource"),
        (br#"{"ttl":1}"#, 400, "resource"),
        (br#"{"resource":["a"],"ttl":1}"#, 400, "resource"),
        (br#"{"resource":{},"ttl":1}"#, 400, "resource"),
        (long.as_bytes(), 400, "resource"),
        (wide.as_bytes(), 400, "resource"),
        (br#"{"resource":"a\u0000","ttl":1}"#, 400, "resource"),
        (br#"{"resource":"a\nb","ttl":1}"#, 400, "resource"),
        (br#"{"resource":"a\u007f","ttl":1}"#, 400, "resource"),
        (br#"{"resource":"a\u0085","ttl":1}"#, 400, "resource"),
        (br#"{"resource":"\ud800","ttl":1}"#, 400, ""),
        (b"{\"resource\":\"caf\xe9\",\"ttl\":1}", 400, ""),
        (b"{\"resource\":\"a\nb\",\"ttl\":1}", 400, ""),
    ])
    .await;
}

#[tokio::test]
async fn ttls_that_are_none_are_refused() {
    refused(&[
        (br#"{"resource":"a"}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":null}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":-1}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":-1e-9}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":NaN}"#, 400, ""),
        (br#"{"resource":"a","ttl":"nan"}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":Infinity}"#, 400, ""),
        (br#"{"resource":"a","ttl":"inf"}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":"-inf"}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":1e308}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":1e999}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":1e12}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":[1]}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":{}}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":"soon"}"#, 400, "ttl"),
        (br#"{"resource":"a","ttl":""}"#, 400, "ttl"),
    ])
    .await;
}

#[tokio::test]
async fn user_data_beyond_its_bounds_is_refused() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"resource":"a","ttl":1,"user_data":{open}{close}}}"#)
    };
    let data =
        |bytes: usize| format!(r#"{{"resource":"a","ttl":1,"user_data":"{}"}}"#, "x".repeat(bytes));
    refused(&[
        (nested(65).as_bytes(), 400, "user_data"),
        (nested(50_000).as_bytes(), 400, "user_data"),
        (nested(100_000).as_bytes(), 413, ""),
        (data(64 << 10).as_bytes(), 400, "user_data"),
        (data(10 << 20).as_bytes(), 413, ""),
    ])
    .await;
    let house = House::new().await;
    house.post(&nested(64)).await.is(201);
}

#[tokio::test]
async fn limits_that_nobody_could_keep_are_refused() {
    refused(&[
        (br#"{"resource":"a","ttl":1,"limit":0}"#, 400, "limit"),
        (br#"{"resource":"a","ttl":1,"limit":-1}"#, 400, "limit"),
        (br#"{"resource":"a","ttl":1,"limit":1.5}"#, 400, "limit"),
        (br#"{"resource":"a","ttl":1,"limit":1e10}"#, 400, "limit"),
        (br#"{"resource":"a","ttl":1,"limit":"many"}"#, 400, "limit"),
        (br#"{"resource":"a","ttl":1,"limit":2,"shared":true}"#, 400, "limit"),
        (br#"{"resource":"a","ttl":1,"shared":"perhaps"}"#, 400, "shared"),
    ])
    .await;
    let house = House::new().await;
    let told = house.post(r#"{"resource":"a","ttl":1,"limit":1e9}"#).await.is(201).json();
    assert_eq!(told["limit"], 1_000_000_000);
    for (query, status) in [("limit=0", 200), ("limit=-1", 400), ("limit=1000000000", 200)] {
        house.get(&format!("/v1/claims/?{query}")).await.is(status);
        house.get(&format!("/v1/resources/?{query}")).await.is(status);
    }
}

#[tokio::test]
async fn too_many_resources_and_the_same_twice_are_refused() {
    let many: Vec<String> = (0..17).map(|nth| nth.to_string()).collect();
    let many = format!(r#"{{"resources":{many:?},"ttl":1}}"#);
    refused(&[
        (many.as_bytes(), 400, "resources"),
        (br#"{"resources":["a","a"],"ttl":1}"#, 400, "resources"),
        (br#"{"resources":[5,"5"],"ttl":1}"#, 400, "resources"),
        (br#"{"resources":[],"ttl":1}"#, 400, "resource"),
        (br#"{"resources":"a","ttl":1}"#, 400, "resources"),
        (br#"{"resources":["a",""],"ttl":1}"#, 400, "resource"),
        (br#"{"resources":["a"],"resource":"b","ttl":1}"#, 400, "resources"),
    ])
    .await;
}

#[tokio::test]
async fn bodies_that_are_no_parameters_are_refused() {
    refused(&[
        (b"", 400, "resource"),
        (b"{", 400, ""),
        (b"nonsense", 400, ""),
        (b"\xff\xfe\x00", 400, ""),
        (b"[]", 400, "ttl"),
        (b"null", 400, "ttl"),
        (b"7", 400, "ttl"),
        (br#""text""#, 400, "ttl"),
        (br#"{"resource":"a","ttl":1}{"resource":"b","ttl":1}"#, 400, ""),
        (br#"{"resource":"a","ttl":1,"key":"guessable"}"#, 400, "key"),
        (br#"{"resource":"a","ttl":1,"wait":-1}"#, 400, "wait"),
    ])
    .await;
    let house = occupied().await;
    let before = seen(&house).await;
    for query in ["resource=%ff&ttl=1", "resource=%00&ttl=1", "ttl=1", "resource=a&ttl=x"] {
        house.ask("POST", &format!("/v1/claims/?{query}"), "").await.is(400);
    }
    assert_eq!(seen(&house).await, before);
}

#[tokio::test]
async fn queue_past_its_bound_is_refused_and_stays_as_it_is() {
    let rules = Rules { queue_max: 3, ..Rules::default() };
    let house = House::with(rules, Config::default()).await;
    house.claim("a", 600.0).await.is(201);
    for _ in 0..3 {
        house.claim("a", 600.0).await.is(202);
    }
    let before = seen(&house).await;
    for body in [r#"{"resource":"a","ttl":1}"#, r#"{"resources":["free","a"],"ttl":1}"#] {
        let told = house.ask("POST", "/v1/claims/?wait=5", body).await.is(503);
        assert_eq!(told.json()["code"], "queue-full");
        assert_eq!(seen(&house).await, before);
    }
    house.claim("b", 600.0).await.is(201);
}

/// One answer for both, word for word: ids cannot be probed. The key is hashed before the claim is
/// looked for, and hashes are compared, so neither does the time tell.
#[tokio::test]
async fn unknown_id_and_wrong_key_are_the_same_answer_to_every_change() {
    let house = occupied().await;
    let before = seen(&house).await;
    let wrong = "AAAAAAAAAAAAAAAAAAAAAA";
    let bodies = [
        r#"{"ttl":5}"#,
        r#"{"status":"active"}"#,
        r#"{"status":"active","wait":5}"#,
        r#"{"status":"released"}"#,
        r#"{"status":"aborted"}"#,
        r#"{"status":"revoked"}"#,
        r#"{"status":"withdrawn"}"#,
        r#"{"keeper":"a-key-that-the-client-chose"}"#,
    ];
    let same = |known: Told, unknown: Told| {
        let (known, unknown) = (known.is(404), unknown.is(404));
        assert_eq!(
            known.text.replace("claim 1 ", "claim 77 ").replace(":1,", ":77,"),
            unknown.text
        );
    };
    for body in bodies {
        let known = house.patch(&format!("/v1/claims/1.{wrong}/"), body).await;
        same(known, house.patch(&format!("/v1/claims/77.{wrong}/"), body).await);
        same(house.patch("/v1/claims/1/", body).await, house.patch("/v1/claims/77/", body).await);
    }
    let known = house.get(&format!("/v1/claims/1.{wrong}/")).await;
    same(known, house.get(&format!("/v1/claims/77.{wrong}/")).await);
    assert_eq!(seen(&house).await, before);
}
