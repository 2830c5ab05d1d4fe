//! Rubbish is a clear answer in words that clients of a data service understand, and changes nothing.

use serde_json::Value;

use super::house::{House, TOKEN, request};

const RUBBISH: &[(&str, &str, &str)] = &[
    ("POST", "/ids/locks", ""),
    ("POST", "/ids/locks", "{"),
    ("POST", "/ids/locks", "[]"),
    ("POST", "/ids/locks", r#"{"datasetIds":[1]}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":[1],"type":"shared"}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":[1],"type":"SHARED","call":"put"}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":[1],"call":"archive"}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":[1],"call":"ночь"}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":[-1],"type":"SHARED"}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":[1.5],"type":"SHARED"}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":["1"],"type":"SHARED"}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":"1;2","type":"SHARED"}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":[9007199254740992],"type":"SHARED"}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":[99999999999999999999],"type":"SHARED"}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":[1],"type":"SHARED","ttl":-1}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":[1],"type":"SHARED","ttl":"soon"}"#),
    ("POST", "/ids/locks", r#"{"datasetIds":[1],"type":"SHARED","owner":7}"#),
    ("POST", "/ids/locks?wait=-1", r#"{"datasetIds":[1],"type":"SHARED"}"#),
    ("POST", "/ids/locks?datasetIds=1,x&type=SHARED", ""),
    ("POST", "/ids/operations", r#"{"operation":"WRITE"}"#),
    ("POST", "/ids/operations", r#"{"datasetId":1}"#),
    ("POST", "/ids/operations", r#"{"operation":"write","datasetId":1}"#),
    ("POST", "/ids/operations", r#"{"operation":"DELETE","datasetId":1}"#),
    ("POST", "/ids/operations", r#"{"operation":"WRITE","datasetId":-1}"#),
    ("POST", "/ids/operations", r#"{"operation":"WRITE","datasetId":1,"datafileId":"x"}"#),
    ("POST", "/ids/operations", r#"{"operation":"WRITE","datasetId":1,"data":[]}"#),
    ("POST", "/ids/operations", r#"{"operation":"WRITE","datasetId":1,"prepare":"x"}"#),
    ("POST", "/ids/operations?operation=WRITE&datasetId=%2B1", ""),
    ("POST", "/ids/work", "{}"),
    ("POST", "/ids/work", "7"),
    ("POST", "/ids/work", r#"{"owner":"x","max":65}"#),
    ("POST", "/ids/work", r#"{"owner":"x","max":null}"#),
    ("POST", "/ids/work", r#"{"owner":"x","operations":"EAT"}"#),
    ("POST", "/ids/work", r#"{"owner":"x","operations":["EAT"]}"#),
    ("PATCH", "/ids/locks/1.0123456789012345678901", "{}"),
    ("PATCH", "/ids/work/1.0123456789012345678901", r#"{"failed":{}}"#),
    ("PATCH", "/ids/work/1.0123456789012345678901", r#"{"failed":[{"id":1}]}"#),
    ("PATCH", "/ids/work/1.0123456789012345678901", r#"{"failed":[{"id":-1,"reason":"x"}]}"#),
];

#[tokio::test]
async fn rubbish_is_a_bad_request_and_changes_nothing() {
    let house = House::new().await;
    let long = format!(r#"{{"datasetIds":[1],"type":"SHARED","owner":"{}"}}"#, "x".repeat(257));
    let many: Vec<u64> = (0..257).collect();
    let many = format!(r#"{{"datasetIds":{many:?},"type":"SHARED"}}"#);
    let more = [("POST", "/ids/locks", &*long), ("POST", "/ids/locks", &*many)];
    for (method, path, body) in RUBBISH.iter().copied().chain(more) {
        let told = house.ask(method, path, body).await;
        assert_eq!(told.status, 400, "{method} {path} {body}: {told:?}");
        assert!(told.text.starts_with(r#"{"code":"BadRequestException","message":""#), "{told:?}");
        assert!(told.text.is_ascii(), "{told:?}");
    }
    assert_eq!(house.store.vitals().await.unwrap().position, 0, "nothing happened");
}

#[tokio::test]
async fn locks_that_nobody_has_are_not_found() {
    let house = House::new().await;
    let paths = ["/ids/locks/1", "/ids/locks/x", "/ids/locks/,", "/ids/locks/1.short,2"];
    for path in
        paths.into_iter().chain(["/ids/work/1.a,2.b", "/ids/locks/7.0123456789012345678901"])
    {
        for method in ["PATCH", "DELETE"] {
            if method == "DELETE" && path.contains("work") {
                continue;
            }
            let body = if path.contains("work") { r#"{"failed":[]}"# } else { r#"{"ttl":1}"# };
            let told = house.ask(method, path, body).await.is(404).json();
            assert_eq!(told["code"], "NotFoundException");
        }
    }
}

/// As clients of a data service send it.
#[tokio::test]
async fn forms_and_lists_with_commas_are_understood() {
    let house = House::new().await;
    let body = "datasetIds=1%2C2&type=EXCLUSIVE&owner=%D0%BD%D0%BE%D1%87%D1%8C&ttl=30";
    let mut form = request("POST", "/ids/locks", body.as_bytes());
    let media = "application/x-www-form-urlencoded".parse().unwrap();
    form.headers_mut().insert("content-type", media);
    let lock = house.send(form).await.is(201).json();
    let told = house.get("/ids/getServiceStatus?sessionId=whatever").await.is(200);
    assert!(told.text.is_ascii(), "{}", told.text);
    assert_eq!(told.json()["locks"][0]["owner"], "ночь");
    house.release(&lock).await.is(204);
    let query = "/ids/operations?operation=ARCHIVE&datasetId=7&data=x";
    house.ask("POST", query, "").await.is(200);
    assert_eq!(house.get("/ids/ping").await.is(200).text, "IdsOK");
}

/// A token in the query, for clients that know nothing else; the header counts more.
#[tokio::test]
async fn session_is_a_token() {
    let data = tempfile::tempdir().unwrap();
    let tokens = server::Tokens::open(server::TokenFile::within(data.path())).unwrap();
    let config = server::Config { tokens: Some(tokens.into()), ..server::Config::default() };
    let house = House::with(claims::Rules::default(), config).await;
    let ask = async |path: &str, header: Option<&str>| {
        let mut request = request("GET", path, b"");
        if let Some(token) = header {
            let value = format!("Bearer {token}").parse().unwrap();
            request.headers_mut().insert("authorization", value);
        }
        let (head, body) = house.server.handle(request).await.into_parts();
        (head.status.as_u16(), super::house::whole(body))
    };
    let with = |token: &str| format!("/ids/getServiceStatus?sessionId={token}");
    assert_eq!(ask(&with(TOKEN), None).await.0, 200);
    assert_eq!(ask(&with(TOKEN), Some("nonsense")).await.0, 401);
    for path in [&with("nonsense"), "/ids/getServiceStatus"] {
        let (status, text) = ask(path, None).await;
        let told: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((status, &told["code"]), (401, &"InsufficientPrivilegesException".into()));
    }
    // Nowhere else: addresses end up in logs.
    assert_eq!(ask(&format!("/v1/claims/?sessionId={TOKEN}"), None).await.0, 401);
    assert_eq!(ask("/ids/version", None).await.0, 200);
}
