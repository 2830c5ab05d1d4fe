//! The words of HTTP v1 by themselves, both directions: what is accepted is within its bounds, and
//! what one side writes the other reads.

use claims::wire::{
    Change, ClaimReport, Field, Fields, Handle, Media, NewClaim, Problem, RegisterBody, View,
    is_key, number, parse_moment, write_claim, write_moment, write_seconds, write_text,
};
use claims::{
    Command, KeyHash, NAME_BYTES_MAX, RESOURCES_MAX, Registration, Rules, Stamp, State, TTL_MAX,
    Timestamp, WallTime,
};
use serde_json::Value;

use crate::source::{Source, text_of};

const MEDIA: [Media; 3] = [Media::Json, Media::Form, Media::Other];

/// The first byte says what the body is; the query is the first line, the body is the rest.
pub(crate) fn run(input: &[u8]) {
    let mut source = Source::new(input);
    let media = source.pick(&MEDIA);
    let rest = source.rest();
    let line = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    let (query, body) = (text_of(&rest[..line]), rest.get(line + 1..).unwrap_or_default());
    small(query);
    if let Ok(report) = serde_json::from_slice::<ClaimReport>(body) {
        let _ = format!("{report:?}");
    }
    let fields = match Fields::parse(media, body, query) {
        Ok(fields) => fields,
        Err(problem) => return told(&problem),
    };
    match Change::parse(&fields) {
        Ok(Change::Keeper(key)) => assert!(is_key(&key)),
        Ok(Change::Ttl(ttl)) => assert!(ttl.span() <= TTL_MAX),
        Ok(Change::Status(_)) => {}
        Err(problem) => told(&problem),
    }
    match NewClaim::parse(&fields) {
        Ok(claim) => accepted(&claim),
        Err(problem) => told(&problem),
    }
}

/// What has a reader of its own.
fn small(text: &str) {
    let _ = number(&Field::Text(text.into()));
    if let Some(handle) = Handle::of_address(text) {
        assert!(text.contains(handle.key.unwrap_or_default()));
    }
    if let Some(millis) = parse_moment(text).filter(|millis| *millis < 253_402_300_800_000) {
        let mut written = String::new();
        write_moment(&mut written, WallTime(millis));
        assert_eq!(parse_moment(&written), Some(millis / 1_000 * 1_000), "{text} is {written}");
    }
    let mut written = String::new();
    write_text(&mut written, text);
    assert_eq!(serde_json::from_str::<String>(&written).ok().as_deref(), Some(text));
}

/// A problem is told in JSON, as somebody's fault.
fn told(problem: &Problem) {
    let mut written = String::new();
    problem.write(&mut written);
    let value: Value = serde_json::from_str(&written).expect("a problem is JSON");
    assert!(value["title"].is_string() && value["detail"].is_string(), "{written}");
    assert!((400..500).contains(&problem.status), "{written}");
}

fn accepted(claim: &NewClaim) {
    let names: Vec<&str> = claim.resources.as_slice().iter().map(|name| name.as_str()).collect();
    assert!((1..=RESOURCES_MAX).contains(&names.len()));
    assert!(names.iter().all(|name| (1..=NAME_BYTES_MAX).contains(&name.len())));
    assert!(claim.ttl.span() <= TTL_MAX && claim.key.as_ref().is_none_or(|key| is_key(key)));
    let data = claim.data.as_ref().map(|data| serde_json::from_str(data.as_str()));
    let data = data.transpose().expect("what was taken as data is JSON");
    sent_again(claim, &names, data);
    shown(claim, &names);
}

/// A client that wants the same writes it so that the server reads the same.
fn sent_again(claim: &NewClaim, names: &[&str], data: Option<&serde_json::value::RawValue>) {
    let mut ttl = String::new();
    write_seconds(&mut ttl, i64::try_from(claim.ttl.span().as_micros()).expect("below the bound"));
    let body = RegisterBody {
        resource: (names.len() == 1).then(|| names[0]),
        resources: if names.len() == 1 { &[] } else { names },
        ttl: ttl.parse().expect("seconds are a number"),
        user_data: data,
        limit: claim.limit.count(),
        shared: claim.limit.count().is_none(),
        key: claim.key.as_deref(),
    };
    let json = body.to_json();
    let fields = Fields::parse(Media::Json, json.as_bytes(), "").expect("it is JSON");
    let again = NewClaim::parse(&fields).expect("it was accepted before");
    // Seconds are rounded down to microseconds, which a float may be just below.
    assert!(again.ttl.span().as_micros().abs_diff(claim.ttl.span().as_micros()) <= 2, "{json}");
    assert_eq!(NewClaim { ttl: claim.ttl, ..again }, *claim, "{json}");
}

/// The server shows it so that a client reads the same.
fn shown(claim: &NewClaim, names: &[&str]) {
    let NewClaim { resources, limit, ttl, data, .. } = claim.clone();
    let registration = Registration { key: KeyHash([7; 16]), resources, limit, ttl, data };
    let mut state = State::new(Rules::default());
    let stamp = Stamp { at: Timestamp::from_micros(5), wall: WallTime(1_794_770_177_042) };
    let command = Command::Register(registration);
    let answer = claims::engine::execute(&mut state, command, stamp, &mut Vec::new());
    let standing = answer.expect("nobody else is there");
    let mut json = String::new();
    let key = claim.key.as_deref();
    let view = View { claim: &standing.claim, place: None, base: "http://h", key, now: stamp.at };
    write_claim(&mut json, &view);
    let report: ClaimReport = serde_json::from_str(&json).expect("a client reads what we write");
    let _ = format!("{report:?}");
    let value: Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(value["resources"], Value::from(names.to_vec()), "{json}");
}
