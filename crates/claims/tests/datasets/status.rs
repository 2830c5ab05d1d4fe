//! The answer to `getServiceStatus`: what old readers know is exactly as they know it.

use claims::WallTime;
use claims::datasets::{
    DatasetId, Delays, Holder, Item, LockLine, LockType, Note, Operation, Queue, ServiceStatus,
};
use serde_json::{Value, json};

use super::tables::at;

fn note(owner: &str, reason: &str) -> Note {
    Note { owner: Some(owner.into()), reason: Some(reason.into()) }
}

/// Only the members that the original has.
fn as_old_readers_see_it(mut status: Value) -> Value {
    let keep = |value: &mut Value, known: &[&str]| {
        value.as_object_mut().unwrap().retain(|name, _| known.contains(&name.as_str()));
    };
    keep(&mut status, &["opsQueue", "lockCount", "locks", "failures"]);
    for line in status["opsQueue"].as_array_mut().unwrap() {
        keep(line, &["data", "request"]);
    }
    for line in status["locks"].as_array_mut().unwrap() {
        keep(line, &["id", "type", "count"]);
    }
    status
}

#[test]
fn nothing_to_tell_is_four_empty_members() {
    let status: Value = serde_json::from_str(&ServiceStatus::default().to_json()).unwrap();
    let empty = json!({ "opsQueue": [], "lockCount": 0, "locks": [], "failures": [] });
    assert_eq!(as_old_readers_see_it(status), empty);
}

#[test]
fn status_is_what_old_readers_know_and_says_who_since_when_and_why() {
    let file = Item::Datafile { dataset: DatasetId(2), datafile: 9 };
    let mut queue = Queue::new(Delays::default());
    let label = "1/2 (Facility/Inv/Visit/Dataset)";
    let dataset = Item::Dataset(DatasetId(2));
    queue.request(dataset, Operation::Write, label, note("ids", "put"), at(60)).unwrap();
    queue.request(dataset, Operation::Archive, label, note("ids", "tidy"), at(61)).unwrap();
    queue.request(file, Operation::Restore, "some/where", Note::default(), at(62)).unwrap();
    queue.tick(at(63), |wanted| (wanted.operation == Operation::Restore).then_some(1));
    queue.finish(file, 1, Err("no such tape: ночь".into()), at(64));
    let holder =
        |secs: u64, who| Holder { since: WallTime(secs * 1_000), note: note(who, "getData") };
    let mut status = ServiceStatus {
        locks: vec![LockLine {
            dataset: DatasetId(2),
            kind: LockType::Shared,
            holders: vec![holder(1, "a\"b"), holder(2, "c")],
            waiting: 1,
        }],
        ..ServiceStatus::default()
    };
    for (item, record) in queue.records() {
        status.add(item, record);
    }
    let text = status.to_json();
    assert!(text.is_ascii(), "there are readers that decode it as ASCII: {text}");
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        as_old_readers_see_it(told.clone()),
        json!({
            "opsQueue": [{ "data": label, "request": "WRITE_THEN_ARCHIVE_REQUESTED" }],
            "lockCount": 1,
            "locks": [{ "id": 2, "type": "SHARED", "count": 2 }],
            "failures": [9],
        })
    );
    assert_eq!(told["opsQueue"][0]["reason"], "tidy");
    assert_eq!(told["opsQueue"][0]["since"], "1970-01-01T00:01:00.000Z");
    assert_eq!(told["locks"][0]["owner"], "a\"b");
    assert_eq!(told["locks"][0]["holders"][1]["owner"], "c");
    assert_eq!(told["failed"][0]["reason"], "no such tape: ночь");
}
