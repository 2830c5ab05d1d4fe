//! Where parameters come from, and how they are read.

use serde_json::{Value, json};

use crate::house::{House, request};

#[tokio::test]
async fn numbers_may_be_text_and_zero() {
    let house = House::new().await;
    for (nth, ttl) in ["\"60\"", "\" 2.5 \"", "true", "0", "1e9", "0.25"].iter().enumerate() {
        let told = house.post(&format!(r#"{{"resource":"{nth}","ttl":{ttl}}}"#)).await.is(201);
        assert!(told.json()["ttl"].is_f64(), "{ttl}");
        house.patch(&told.location(), &format!(r#"{{"ttl":{ttl}}}"#)).await.is(200);
    }
}

#[tokio::test]
async fn names_are_kept_verbatim_in_any_language() {
    let house = House::new().await;
    let names = [
        (json!("a b/c?d#e%41+&"), "a b/c?d#e%41+&"),
        (json!("Case"), "Case"),
        (json!("case"), "case"),
        (json!("ночь 🌙"), "ночь 🌙"),
        (json!("x".repeat(1_024)), &"x".repeat(1_024)),
        (json!(5), "5"),
        (json!(true), "True"),
    ];
    for (given, kept) in names {
        let body = json!({ "resource": given, "ttl": 60 }).to_string();
        assert_eq!(house.post(&body).await.is(201).json()["resource"], kept);
    }
}

#[tokio::test]
async fn user_data_comes_back_as_it_was_given() {
    let house = House::new().await;
    for (nth, data) in
        ["null", "false", "0", "\"\"", "[]", "{}", r#"{"a":[1,{"ключ":"é"}],"b":1.50}"#, "-0.0"]
            .iter()
            .enumerate()
    {
        let body = format!(r#"{{"resource":"{nth}","ttl":60,"user_data":{data}}}"#);
        let told = house.post(&body).await.is(201);
        assert!(told.text.contains(&format!("\"user_data\":{data},")), "{}", told.text);
        assert!(house.get("/v1/claims/").await.text.contains(&format!("\"user_data\":{data},")));
    }
    assert_eq!(house.claim("absent", 60.0).await.json()["user_data"], Value::Null);
}

#[tokio::test]
async fn everything_wrong_is_said_at_once_in_the_words_of_the_original() {
    let house = House::new().await;
    for body in ["{}", "[]", "null", "7", r#""text""#, ""] {
        let value = house.post(body).await.is(400).json();
        assert_eq!(value["resource"], "No resource specified", "{body}");
        assert_eq!(value["ttl"], "No ttl specified", "{body}");
    }
    let value = house.post(r#"{"resource":"","ttl":-1}"#).await.is(400).json();
    assert_eq!(value["resource"], "No resource specified");
    assert_eq!(value["ttl"], "Positive ttl required (in seconds)");
}

#[tokio::test]
async fn changes_are_checked_in_the_words_of_the_original() {
    let house = House::new().await;
    let url = house.claim("a", 60.0).await.location();
    let table = [
        (r#"{"status":"Active"}"#, "status", "Invalid value for status"),
        (r#"{"status":""}"#, "status", "Invalid value for status"),
        (r#"{"status":"waiting"}"#, "status", "Invalid value for status"),
        (r#"{"status":"expired"}"#, "status", "Invalid value for status"),
        (r#"{"status":7}"#, "status", "Invalid value for status"),
        (r#"{"ttl":-1}"#, "ttl", "Positive ttl required (in seconds)"),
        (r#"{"ttl":null}"#, "ttl", "Positive ttl required (in seconds)"),
        (r#"{"ttl":"abc"}"#, "ttl", "Positive ttl required (in seconds)"),
        ("{}", "missing-parameters", "No parameters specified"),
        (r#"{"status":null}"#, "missing-parameters", "No parameters specified"),
        (r#"{"other":1}"#, "missing-parameters", "No parameters specified"),
        ("[]", "missing-parameters", "No parameters specified"),
        (
            r#"{"status":"released","ttl":5}"#,
            "extra-parameters",
            "Only one parameter may be updated per request",
        ),
    ];
    for (body, member, message) in table {
        assert_eq!(house.patch(&url, body).await.is(400).json()[member], message, "{body}");
    }
    let both = house.patch(&url, r#"{"status":"x","ttl":-1}"#).await.is(400).json();
    for member in ["status", "ttl", "extra-parameters"] {
        assert!(both[member].is_string(), "{both}");
    }
    assert_eq!(house.get(&url).await.json()["status"], "active");
}

#[tokio::test]
async fn bad_body_is_told_before_the_unknown_claim() {
    let house = House::new().await;
    let value = house.patch("/v1/claims/9/", "{}").await.is(400).json();
    assert_eq!(value["missing-parameters"], "No parameters specified");
    house.patch("/v1/claims/9/", r#"{"status":"active"}"#).await.is(404);
    assert_eq!(house.get("/v1/claims/9/").await.is(404).json()["message"], "No claim found");
}

#[tokio::test]
async fn registration_works_without_json_too() {
    let house = House::new().await;
    house.ask("POST", "/v1/claims/?resource=x&ttl=5", "").await.is(201);
    let send = async |kind: &str, body: &[u8]| {
        let mut request = request("POST", "/v1/claims/", body);
        request.headers_mut().insert("content-type", kind.parse().unwrap());
        house.send(request).await
    };
    let form = send("application/x-www-form-urlencoded", b"resource=y&ttl=5&user_data=hello").await;
    assert_eq!(form.is(201).json()["user_data"], "hello");
    let json = br#"{"resource":"z","ttl":5}"#;
    send("application/json; charset=utf-8", json).await.is(201);
    send("APPLICATION/JSON", br#"{"resource":"zz","ttl":5}"#).await.is(201);
    for kind in ["text/plain", "application/vnd.api+json", "application/jsonp"] {
        send(kind, json).await.is(400);
    }
}

#[tokio::test]
async fn json_wins_over_query_and_the_unknown_is_ignored() {
    let house = House::new().await;
    let body = r#"{"resource":"json","ttl":60,"colour":"red"}"#;
    let told =
        house.ask("POST", "/v1/claims/?resource=query&ttl=1&shape=round", body).await.is(201);
    assert_eq!((&told.json()["resource"], &told.json()["ttl"]), (&"json".into(), &60.0.into()));
    let path = format!("{}?ttl=5", told.location());
    assert!(house.patch(&path, r#"{"ttl":50}"#).await.is(200).json()["ttl"] == 50.0);
    house.patch(&path, r#"{"status":"released"}"#).await.is(400);
    house.patch(&format!("{}?status=released", told.location()), "").await.is(204);
}
