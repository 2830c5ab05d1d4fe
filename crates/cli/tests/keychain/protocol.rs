//! The lines of the protocol, and a program in another language.

use std::process::Command;

use serde_json::{Value, json};

use crate::world::{Keychain, Server, TENURE, boot_time};

#[test]
fn claims_are_granted_refreshed_validated_listed_and_given_back() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut keychain = Keychain::start(&server.url());
    let granted = keychain.hold("a", "printer", 60.0);
    let deadline = granted["deadline"].as_f64().unwrap();
    assert!(deadline > boot_time() && deadline < boot_time() + 60.0);
    keychain.say(&json!({"do": "claim", "claim": "b", "resource": "printer", "shared": true}));
    assert_eq!(keychain.expect("waiting")["position"], 1);

    keychain.say(&json!({"do": "refresh", "claim": "a", "ttl": 600, "id": 7}));
    let renewed = keychain.expect("renewed");
    assert_eq!((&renewed["claim"], &renewed["id"]), (&json!("a"), &json!(7)));
    assert!(renewed["deadline"].as_f64().unwrap() > deadline + 100.0);

    keychain.say(&json!({"do": "validate", "claim": "a", "id": "v"}));
    let valid = keychain.expect("valid");
    assert_eq!((&valid["held"], &valid["confirmed"]), (&json!(true), &json!(true)));
    assert_eq!((&valid["fence"], &valid["id"]), (&granted["fence"], &json!("v")));
    keychain.say(&json!({"do": "validate", "claim": "b"}));
    assert_eq!(keychain.expect("valid")["held"], false);

    keychain.say(&json!({"do": "list", "id": [1]}));
    let list = keychain.expect("list");
    let names: Vec<&Value> =
        list["claims"].as_array().unwrap().iter().map(|claim| &claim["claim"]).collect();
    assert_eq!((names, &list["id"]), (vec![&json!("a"), &json!("b")], &json!([1])));

    keychain.say(&json!({"do": "release", "claim": "b"}));
    assert_eq!(keychain.expect("released")["claim"], "b");
    keychain.say(&json!({"do": "release", "claim": "a"}));
    let released = keychain.expect("released");
    assert_eq!((&released["claim"], &released["confirmed"]), (&json!("a"), &json!(true)));
    assert_eq!(server.status(&granted["number"]), "released");
    // The name is free again.
    assert!(keychain.hold("a", "printer", 60.0)["fence"].as_u64() > granted["fence"].as_u64());
}

#[test]
fn claims_that_cannot_be_held_fail_with_a_cause() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut keychain = Keychain::start(&server.url());
    keychain.hold("a", "printer", 60.0);
    let cases = [
        (json!({"resource": "printer", "try": true}), "busy", "somebody else"),
        (json!({"resource": "printer", "timeout": 0.05}), "timeout", "in time"),
        (json!({"resource": ""}), "refused", "name"),
        (json!({}), "refused", "resource"),
        (json!({"resource": "x", "ttl": -1}), "refused", "ttl"),
        (json!({"resource": "x", "key": "short"}), "refused", "key"),
        (json!({"resource": "x", "adopt": true}), "refused", "key"),
        (json!({"resource": "x", "shared": true, "limit": 2}), "refused", "either"),
        (json!({"resource": "x", "timeout": -1}), "refused", "timeout"),
    ];
    for (mut terms, cause, words) in cases {
        terms["do"] = "claim".into();
        terms["claim"] = "b".into();
        keychain.say(&terms);
        let failed = keychain.expect("failed");
        assert_eq!((&failed["claim"], &failed["cause"]), (&json!("b"), &json!(cause)), "{terms}");
        assert!(failed["problem"].as_str().unwrap().contains(words), "{failed}");
    }
}

#[test]
fn garbage_is_answered_with_the_number_of_its_line_and_harms_nothing() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut keychain = Keychain::start(&server.url());
    keychain.hold("a", "printer", 60.0); // line 1
    let long =
        [b"{\"do\":\"ping\",\"id\":\"".to_vec(), vec![b'x'; 1 << 20], b"\"}".to_vec()].concat();
    let deep = vec![b'['; 100_000];
    let garbage: &[&[u8]] = &[
        b"",
        b"garbage",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b"{}",
        b"{\"do\":\"dance\"}",
        b"{\"do\":\"release\"}",
        b"{\"do\":\"release\",\"claim\":\"nobody\"}",
        b"{\"do\":\"claim\",\"claim\":\"a\",\"resource\":\"other\"}",
        b"{\"do\":\"claim\",\"claim\":\"b\",\"resource\":\"x\",\"ttl\":\"long\"}",
        b"{\"do\":\"refresh\",\"claim\":\"a\",\"ttl\":-1}",
        b"{\"do\":\"ping\"} {\"do\":\"ping\"}",
        &long,
        &deep,
    ];
    for (nth, line) in garbage.iter().enumerate() {
        keychain.say_line(line);
        let error = keychain.expect("error");
        assert_eq!(error["line"], nth + 2, "{error}");
        assert!(!error["problem"].as_str().unwrap().is_empty());
    }
    keychain.say(&json!({"do": "ping", "id": 1, "a field of tomorrow": true}));
    assert_eq!(keychain.expect("pong")["id"], 1);
    keychain.say(&json!({"do": "validate", "claim": "a"}));
    assert_eq!(keychain.expect("valid")["held"], true);
}

#[test]
fn shutdown_gives_everything_back_and_ends() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut keychain = Keychain::start(&server.url());
    let granted = keychain.hold("a", "printer", 36_000.0);
    keychain.queue("b", "printer", 60.0);
    keychain.say(&json!({"do": "shutdown"}));
    keychain.expect("released");
    keychain.expect("released");
    keychain.expect("closed");
    assert!(keychain.process.0.wait().unwrap().success());
    assert_eq!(server.status(&granted["number"]), "released");
}

#[test]
fn python_program_of_the_documentation_holds_a_claim() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let text = include_str!("../../../../docs/keychain-protocol.md");
    let (_, rest) = text.split_once("```python\n").unwrap();
    let (program, _) = rest.split_once("```").unwrap();
    let path = format!(
        "{}:{}",
        std::path::Path::new(TENURE).parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let output = Command::new("python3")
        .args(["-c", program])
        .env("PATH", path)
        .env("TENURE_URL", server.url())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("printing, fence 1"), "{said}");
    assert_eq!(server.status(&json!(1)), "released");
}
