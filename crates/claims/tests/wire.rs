//! HTTP v1 in JSON: tables of what clients of the original send, and what they expect to read.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use claims::engine::execute;
use claims::wire::{
    Change, ClaimReport, Fields, Media, NewClaim, Problem, RegisterBody, View, WishedStatus,
    write_claim, write_event,
};
use claims::{
    ClaimId, Command, Data, Farewell, KeyHash, Limit, Name, Owner, Refusal, Registration, Rules,
    Span, Stamp, State, Status, Timestamp, Ttl, WallTime,
};
use serde_json::Value;

fn new_claim(media: Media, body: &[u8], query: &str) -> Result<NewClaim, Value> {
    let parsed = Fields::parse(media, body, query).and_then(|fields| NewClaim::parse(&fields));
    parsed.map_err(|problem| read(&problem))
}

fn read(problem: &Problem) -> Value {
    let mut json = String::new();
    problem.write(&mut json);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert!(value["title"].as_str().is_some_and(|title| !title.is_empty()), "{json}");
    assert!(value["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{json}");
    value
}

#[test]
fn registrations_are_read_from_body_query_and_form() {
    let table: &[(Media, &str, &str, &str, f64)] = &[
        (Media::Json, r#"{"resource":"a","ttl":60}"#, "", "a", 60.0),
        (Media::Json, r#"{"resource":"a","ttl":"60","user_data":null}"#, "", "a", 60.0),
        (Media::Json, r#"{"resource":"a","ttl":0}"#, "", "a", 0.0),
        (Media::Json, r#"{"resource":"a","ttl":true}"#, "", "a", 1.0),
        (Media::Json, r#"{"resource":5,"ttl":1e-1}"#, "", "5", 0.1),
        (Media::Json, r#"{"resource":true,"ttl":1}"#, "", "True", 1.0),
        (Media::Json, r#"{"resource":"a","ttl":1,"resource":"b"}"#, "", "b", 1.0),
        (Media::Json, r#"{"resource":"ночь/ \/?#%","ttl":1}"#, "", "ночь/ /?#%", 1.0),
        (Media::Json, r#"{"resource":"a","ttl":1,"unknown":[{}]}"#, "", "a", 1.0),
        (Media::Json, r#"{"resource":"json"}"#, "resource=query&ttl=5", "json", 5.0),
        (Media::Json, "", "resource=x&ttl=5", "x", 5.0),
        (Media::Other, "not read", "resource=x+y%2Fz&ttl=5.5", "x y/z", 5.5),
        (Media::Form, "resource=form&ttl=7", "resource=query", "query", 7.0),
        (Media::Form, "resource=form&ttl=7", "", "form", 7.0),
    ];
    for (media, body, query, resource, secs) in table {
        let claim = new_claim(*media, body.as_bytes(), query).unwrap();
        assert_eq!(claim.resources.as_slice()[0].as_str(), *resource, "{body}");
        assert_eq!(claim.ttl, Ttl::from_secs_f64(*secs).unwrap(), "{body}");
        assert_eq!((claim.limit, claim.key), (Limit::EXCLUSIVE, None));
    }
}

#[test]
fn bad_registrations_are_blamed_by_the_names_of_the_original() {
    const NO_RESOURCE: (&str, &str) = ("resource", "No resource specified");
    const NO_TTL: (&str, &str) = ("ttl", "No ttl specified");
    const BAD_TTL: (&str, &str) = ("ttl", "Positive ttl required (in seconds)");
    let table: &[(&str, &[(&str, &str)])] = &[
        ("{}", &[NO_RESOURCE, NO_TTL]),
        ("[]", &[NO_RESOURCE, NO_TTL]),
        ("[[1],2]", &[NO_RESOURCE, NO_TTL]),
        ("null", &[NO_RESOURCE, NO_TTL]),
        ("5", &[NO_RESOURCE, NO_TTL]),
        ("-5.5", &[NO_RESOURCE, NO_TTL]),
        ("true", &[NO_RESOURCE, NO_TTL]),
        (r#""text""#, &[NO_RESOURCE, NO_TTL]),
        (r#"{"resource":"","ttl":1}"#, &[NO_RESOURCE]),
        (r#"{"resource":null,"ttl":1}"#, &[NO_RESOURCE]),
        (r#"{"resource":"a"}"#, &[NO_TTL]),
        (r#"{"resource":"a","ttl":-1}"#, &[BAD_TTL]),
        (r#"{"resource":"a","ttl":"abc"}"#, &[BAD_TTL]),
        (r#"{"resource":"a","ttl":null}"#, &[BAD_TTL]),
        (r#"{"resource":"a","ttl":[1]}"#, &[BAD_TTL]),
        (r#"{"resource":"a","ttl":{}}"#, &[BAD_TTL]),
        (r#"{"resource":"a","ttl":"NaN"}"#, &[BAD_TTL]),
        (r#"{"resource":"a","ttl":"Infinity"}"#, &[BAD_TTL]),
        (r#"{"resource":"a","ttl":1e12}"#, &[BAD_TTL]),
        (r#"{"resource":"a","ttl":1e308}"#, &[BAD_TTL]),
        (r#"{"resource":"","ttl":-1}"#, &[NO_RESOURCE, BAD_TTL]),
    ];
    for (body, blamed) in table {
        let value = new_claim(Media::Json, body.as_bytes(), "").unwrap_err();
        let members = value.as_object().unwrap();
        assert_eq!(members.len(), blamed.len() + 2, "{body}: {value}");
        for (name, message) in *blamed {
            assert_eq!(value[*name], *message, "{body}");
        }
    }
}

#[test]
fn bad_additions_are_blamed_by_their_own_names() {
    let many: Vec<String> = (0..17).map(|nth| nth.to_string()).collect();
    let many = format!(r#"{{"resources":{many:?},"ttl":1}}"#);
    let long = format!(r#"{{"resource":"{}","ttl":1}}"#, "x".repeat(1025));
    let deep =
        format!(r#"{{"resource":"a","ttl":1,"user_data":{}{}}}"#, "[".repeat(65), "]".repeat(65));
    let large = format!(r#"{{"resource":"a","ttl":1,"user_data":"{}"}}"#, "x".repeat(65_536));
    let table: &[(&str, &str)] = &[
        (r#"{"resource":"a\u0000b","ttl":1}"#, "resource"),
        (r#"{"resource":["a"],"ttl":1}"#, "resource"),
        (&long, "resource"),
        (r#"{"resources":[],"ttl":1}"#, "resource"),
        (r#"{"resources":["a","a"],"ttl":1}"#, "resources"),
        (r#"{"resources":"a","ttl":1}"#, "resources"),
        (r#"{"resource":"a","resources":["b"],"ttl":1}"#, "resources"),
        (&many, "resources"),
        (r#"{"resource":"a","ttl":1,"limit":0}"#, "limit"),
        (r#"{"resource":"a","ttl":1,"limit":-1}"#, "limit"),
        (r#"{"resource":"a","ttl":1,"limit":1.5}"#, "limit"),
        (r#"{"resource":"a","ttl":1,"limit":1e12}"#, "limit"),
        (r#"{"resource":"a","ttl":1,"limit":2,"shared":true}"#, "limit"),
        (r#"{"resource":"a","ttl":1,"shared":"perhaps"}"#, "shared"),
        (r#"{"resource":"a","ttl":1,"key":"short"}"#, "key"),
        (r#"{"resource":"a","ttl":1,"key":"twenty-two chars, or more"}"#, "key"),
        (&deep, "user_data"),
        (&large, "user_data"),
    ];
    for (body, name) in table {
        let value = new_claim(Media::Json, body.as_bytes(), "").unwrap_err();
        assert!(value[*name].is_string(), "{name} in {value}");
    }
}

#[test]
fn bodies_that_are_not_json_are_a_clear_answer() {
    let deep = "[".repeat(100_000);
    let bodies: [&[u8]; 7] = [
        b"{",
        b"{\"resource\":\"a\",\"ttl\":NaN}",
        b"{\"resource\":\"caf\xe9\",\"ttl\":1}",
        b"\xff\xfe",
        b"{\"resource\":\"a\",\"ttl\":1}{}",
        b"{\"resource\":\"a\" \"ttl\":1}",
        deep.as_bytes(),
    ];
    for body in bodies {
        let value = new_claim(Media::Json, body, "").unwrap_err();
        assert_eq!(value["title"], "The body is not JSON");
    }
}

#[test]
fn additions_are_read() {
    let body = r#"{"resources":["a","b"],"ttl":1,"limit":"3","user_data":{"pid": 7},
        "key":"0123456789abcdefABCDEF"}"#;
    let claim = new_claim(Media::Json, body.as_bytes(), "").unwrap();
    assert_eq!(claim.resources.as_slice().len(), 2);
    assert_eq!(claim.limit, Limit::at_most(3).unwrap());
    assert_eq!(claim.data.unwrap().as_str(), r#"{"pid": 7}"#);
    assert_eq!(claim.key.as_deref(), Some("0123456789abcdefABCDEF"));
    let claim = new_claim(Media::Other, b"", "resources=a&resources=b&ttl=1&shared=true").unwrap();
    assert_eq!((claim.resources.as_slice().len(), claim.limit), (2, Limit::SHARED));
}

#[test]
fn what_a_client_registers_is_what_a_server_reads() {
    let key = "0123456789abcdefABCDEF";
    let body = RegisterBody {
        resource: None,
        resources: &["a", "b"],
        ttl: 0.5,
        user_data: None,
        limit: Some(2),
        shared: false,
        key: Some(key),
    };
    let claim = new_claim(Media::Json, body.to_json().as_bytes(), "").unwrap();
    assert_eq!(claim.ttl.span(), Span::from_millis(500));
    assert_eq!((claim.limit.count(), claim.key.as_deref()), (Some(2), Some(key)));
}

#[test]
fn changes_are_exactly_one_thing() {
    let change = |body: &str| {
        let fields = Fields::parse(Media::Json, body.as_bytes(), "").unwrap();
        Change::parse(&fields).map_err(|problem| read(&problem))
    };
    let good = [
        (r#"{"status":"active"}"#, Change::Status(WishedStatus::Active)),
        (r#"{"status":"released"}"#, Change::Status(WishedStatus::Released)),
        (r#"{"status":"aborted"}"#, Change::Status(WishedStatus::Aborted)),
        (r#"{"status":"revoked"}"#, Change::Status(WishedStatus::Revoked)),
        (r#"{"status":"withdrawn","other":1}"#, Change::Status(WishedStatus::Withdrawn)),
        (r#"{"ttl":"60"}"#, Change::Ttl(Ttl::from_secs_f64(60.0).unwrap())),
        (r#"{"ttl":0}"#, Change::Ttl(Ttl::from_secs_f64(0.0).unwrap())),
    ];
    for (body, expected) in good {
        assert_eq!(change(body).unwrap(), expected, "{body}");
    }
    let bad: [(&str, &str, &str); 11] = [
        ("{}", "missing-parameters", "No parameters specified"),
        ("[]", "missing-parameters", "No parameters specified"),
        (r#"{"status":null}"#, "missing-parameters", "No parameters specified"),
        (r#"{"colour":"red"}"#, "missing-parameters", "No parameters specified"),
        (r#"{"status":"Active"}"#, "status", "Invalid value for status"),
        (r#"{"status":""}"#, "status", "Invalid value for status"),
        (r#"{"status":"expired"}"#, "status", "Invalid value for status"),
        (r#"{"status":["active"]}"#, "status", "Invalid value for status"),
        (r#"{"ttl":-1}"#, "ttl", "Positive ttl required (in seconds)"),
        (r#"{"ttl":null}"#, "ttl", "Positive ttl required (in seconds)"),
        (
            r#"{"status":"active","ttl":1}"#,
            "extra-parameters",
            "Only one parameter may be updated per request",
        ),
    ];
    for (body, name, message) in bad {
        assert_eq!(change(body).unwrap_err()[name], message, "{body}");
    }
    let both = change(r#"{"status":"x","ttl":-1}"#).unwrap_err();
    assert!(both["status"].is_string() && both["ttl"].is_string());
    assert!(both["extra-parameters"].is_string());
}

/// A store of two claims on one resource: the first holds, the second waits.
fn holder_and_waiter() -> (State, Vec<claims::Event>) {
    let (mut state, mut events) = (State::new(Rules::default()), Vec::new());
    for (nth, data) in [(1, Some(r#"{"pid": 7}"#)), (2, None)] {
        let registration = Registration {
            key: KeyHash([nth; 16]),
            resources: claims::Resources::one(Name::new("a \"b\"").unwrap()),
            limit: Limit::EXCLUSIVE,
            ttl: Ttl::from_secs_f64(60.0).unwrap(),
            data: data.map(|data| Data::new(data).unwrap()),
        };
        execute(&mut state, Command::Register(registration), at(u64::from(nth)), &mut events)
            .unwrap();
    }
    (state, events)
}

fn at(secs: u64) -> Stamp {
    Stamp {
        at: Timestamp::from_micros(secs * 1_000_000),
        wall: WallTime(1_794_770_176_000 + secs * 1_000),
    }
}

fn shown(state: &State, id: u64, key: Option<&str>, now: u64) -> (String, ClaimReport) {
    let standing = state.standing(ClaimId(id), at(now).at).unwrap();
    let base = "http://host:1";
    let (claim, place, now) = (&standing.claim, standing.place.as_ref(), standing.now);
    let mut json = String::new();
    write_claim(&mut json, &View { claim, place, base, key, now });
    let report = ClaimReport::parse(json.as_bytes()).unwrap();
    (json, report)
}

#[test]
fn claim_object_has_the_nine_fields_and_floats_are_floats() {
    let (state, _) = holder_and_waiter();
    // In the very moment of its activation it has held for more than nothing.
    let (json, holder) = shown(&state, 1, Some("secret"), 1);
    assert_eq!(
        json,
        "{\"url\":\"http://host:1/v1/claims/1.secret/\",\"resource\":\"a \\\"b\\\"\",\
         \"status\":\"active\",\"created\":\"Sun, 15 Nov 2026 19:16:17 -0000\",\
         \"status_history\":[{\"status\":\"waiting\",\"timestamp\":\"Sun, 15 Nov 2026 19:16:17 -0000\"},\
         {\"status\":\"active\",\"timestamp\":\"Sun, 15 Nov 2026 19:16:17 -0000\"}],\
         \"ttl\":60.0,\"active_duration\":0.000001,\"waiting_duration\":0.0,\
         \"user_data\":{\"pid\": 7},\"id\":1,\"resources\":[\"a \\\"b\\\"\"],\"limit\":1,\
         \"shared\":false,\"fence\":1}"
    );
    assert_eq!((holder.fence, holder.limit), (Some(1), Some(1)));
    let (_, overdue) = shown(&state, 1, None, 63);
    assert_eq!(overdue.ttl, Some(-2.0));
    let (json, waiter) = shown(&state, 2, None, 5);
    assert!(json.contains("\"ttl\":null,\"active_duration\":null,\"waiting_duration\":3.0"));
    assert!(json.contains("\"user_data\":null"));
    assert_eq!((waiter.queue_position, waiter.holders), (Some(1), vec![1]));
    assert_eq!(waiter.url, "http://host:1/v1/claims/2/");
}

#[test]
fn durations_are_frozen_when_a_claim_is_over() {
    let (mut state, mut events) = holder_and_waiter();
    let owner = Owner { claim: ClaimId(1), key: KeyHash([1; 16]) };
    execute(&mut state, Command::End(owner, Farewell::Release), at(11), &mut events).unwrap();
    let (_, over) = shown(&state, 1, None, 1_000);
    assert_eq!((over.ttl, over.active_duration, over.waiting_duration), (None, Some(10.0), 0.0));
    let history: Vec<&str> = over.status_history.iter().map(|step| &*step.status).collect();
    assert_eq!(history, ["waiting", "active", "released"]);
}

#[test]
fn events_are_told_without_keys() {
    let (_, events) = holder_and_waiter();
    let told: Vec<Value> = events
        .iter()
        .map(|event| {
            let mut json = String::new();
            write_event(&mut json, event, at(1));
            assert!(!json.contains("key") && !json.contains('\n'));
            serde_json::from_str(&json).unwrap()
        })
        .collect();
    assert_eq!(told[0]["event"], "registered");
    assert_eq!(told[0]["resources"][0], "a \"b\"");
    assert_eq!((&told[1]["event"], &told[1]["fence"]), (&"activated".into(), &1.into()));
}

#[test]
fn refusals_are_told_as_the_original_told_them() {
    let claim = ClaimId(7);
    let waiting = Refusal::StillWaiting { claim, position: 2, holders: vec![ClaimId(3)] };
    let problem = Problem::refused(&waiting);
    let value = read(&problem);
    assert_eq!(problem.status, 409);
    assert_eq!(value["exception_class"], "ConflictException");
    assert_eq!(value["message"], "Resource is locked by another claim");
    assert_eq!((&value["active_claim_id"], &value["queue_position"]), (&3.into(), &2.into()));

    let problem = Problem::refused(&Refusal::Unknown { claim });
    assert_eq!((problem.status, &read(&problem)["claim_id"]), (404, &7.into()));
    assert_eq!(read(&problem)["exception_class"], "ClaimNotFound");

    let status = Status::Withdrawn;
    let asked = claims::Ending::Aborted;
    let table = [
        (Refusal::NotActive { claim, status }, "Failed to update ttl"),
        (Refusal::Over { claim, status }, "Claim has invalid status."),
        (
            Refusal::CannotEnd { claim, status, asked: claims::Ending::Released },
            "Failed to remove lock.",
        ),
        (
            Refusal::CannotEnd { claim, status, asked },
            "Cannot set status to \"aborted\" from \"withdrawn\"",
        ),
    ];
    for (refusal, message) in table {
        let problem = Problem::refused(&refusal);
        let value = read(&problem);
        assert_eq!((problem.status, &value["message"]), (400, &message.into()));
        assert_eq!(value["exception_class"], "InvalidRequest");
        assert_eq!((&value["status"], &value["claim_id"]), (&"withdrawn".into(), &7.into()));
    }
    // A conflict is said of nothing but a waiter that asks: other clients would hang.
    assert_eq!(Problem::refused(&Refusal::KeyInUse { claim }).status, 400);
}
