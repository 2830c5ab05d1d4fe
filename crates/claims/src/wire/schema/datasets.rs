//! Locks on datasets, and what is done with them in the background.

use serde_json::{Value, json};

use super::requests::ttl;
use crate::datasets::{Call, LockType, Operation, Requested};

/// More than any id, and exact in every JSON reader.
const ID_MAX: u64 = (1 << 53) - 1;

/// Numbers with commas between them, as clients of a data service send them.
const LISTED: &str = "^ *([0-9]{1,15} *(, *[0-9]{1,15} *){0,255})?$";

fn id() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": ID_MAX })
}

fn whole() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn said(description: &str) -> Value {
    json!({ "type": ["string", "null"], "maxLength": 256, "description": description })
}

fn moment() -> Value {
    let pattern = r"^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$";
    json!({ "type": "string", "pattern": pattern })
}

fn lock_type() -> Value {
    json!({ "enum": [LockType::Shared.as_str(), LockType::Exclusive.as_str()] })
}

fn operation_name() -> Value {
    json!({ "enum": Operation::ALL.map(Operation::as_str) })
}

fn requested() -> Value {
    let all = Operation::ALL.map(Operation::requested);
    let all = all.into_iter().chain([Requested::WriteThenArchive]).map(Requested::as_str);
    json!({ "enum": all.collect::<alloc::vec::Vec<_>>() })
}

/// An object with exactly these members; those whose name ends with `?` may be left out.
fn object(members: &[(&str, Value)]) -> Value {
    let name = |name: &str| alloc::string::String::from(name.trim_end_matches('?'));
    let properties: serde_json::Map<_, _> =
        members.iter().map(|(member, schema)| (name(member), schema.clone())).collect();
    let required = members.iter().filter(|(member, _)| !member.ends_with('?'));
    let required: alloc::vec::Vec<_> = required.map(|(member, _)| *member).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// What old readers know, and who, since when and why.
pub(super) fn service_status() -> Value {
    let holder = object(&[("since", moment()), ("owner", said("")), ("reason", said(""))]);
    let operation = object(&[
        ("data", json!({ "type": "string" })),
        ("request", requested()),
        ("since", moment()),
        ("owner", said("who asked")),
        ("reason", said("why")),
    ]);
    let lock = object(&[
        ("id", whole()),
        ("type", lock_type()),
        ("count", json!({ "type": "integer", "minimum": 1 })),
        ("since", moment()),
        ("owner", said("who has it for longest")),
        ("reason", said("why")),
        ("waiting", whole()),
        ("holders", list(holder)),
    ]);
    let failed = object(&[
        ("id", whole()),
        ("operation", operation_name()),
        ("reason", json!({ "type": "string" })),
        ("since", moment()),
    ]);
    let left_out = object(&[("opsQueue", whole()), ("locks", whole())]);
    object(&[
        ("opsQueue", list(operation)),
        ("lockCount", whole()),
        ("locks", list(lock)),
        ("failures", list(whole())),
        ("failed", list(failed)),
        ("leftOut?", left_out),
    ])
}

pub(super) fn new_lock() -> Value {
    let with_lock = Call::TABLE.iter().filter(|row| row.2.is_some());
    let calls: alloc::vec::Vec<_> = with_lock.map(|row| row.1).collect();
    let mut schema = json!({
        "type": "object",
        "properties": {
            "datasetIds": {
                "anyOf": [
                    { "type": "array", "items": id(), "maxItems": 256 },
                    { "type": "string", "pattern": LISTED },
                ],
            },
            "type": lock_type(),
            "call": { "enum": calls, "description": "takes the lock that this call takes" },
            "ttl": ttl(),
            "owner": said("who takes it"),
            "reason": said("why"),
        },
        "required": ["datasetIds"],
        "oneOf": [{ "required": ["type"] }, { "required": ["call"] }],
    });
    schema["examples"] = json!([{ "datasetIds": [17], "call": "put", "owner": "ids-1" }]);
    schema
}

pub(super) fn lock() -> Value {
    object(&[
        (
            "lock",
            json!({
                "type": ["string", "null"],
                "description": "renews and releases it; null if there is nothing to release",
            }),
        ),
        ("datasetIds", list(whole())),
        ("type", lock_type()),
        ("ttl", json!({ "type": "number" })),
        ("fences", list(whole())),
    ])
}

pub(super) fn renewal() -> Value {
    json!({ "type": "object", "properties": { "ttl": ttl() }, "required": ["ttl"] })
}

pub(super) fn new_operation() -> Value {
    json!({
        "type": "object",
        "properties": {
            "operation": operation_name(),
            "datasetId": id(),
            "datafileId": { "anyOf": [id(), { "type": "null" }] },
            "data": said("what people call it"),
            "prepare": {
                "type": "boolean",
                "description": "somebody wants to have it ready: forgets that restoring it failed",
            },
            "owner": said("who asks"),
            "reason": said("why"),
        },
        "required": ["operation", "datasetId"],
        // A whole dataset is not deleted in the background.
        "if": { "properties": { "operation": { "const": "DELETE" } } },
        "then": { "required": ["datafileId"], "properties": { "datafileId": id() } },
        "examples": [{ "operation": "ARCHIVE", "datasetId": 17, "data": "3/17 (F/I/V/D)" }],
    })
}

pub(super) fn operation() -> Value {
    let request = json!({ "anyOf": [requested(), { "type": "null" }] });
    object(&[("request", request), ("maybeOffline", json!({ "type": "boolean" }))])
}

pub(super) fn work_wanted() -> Value {
    json!({
        "type": "object",
        "properties": {
            "operations": { "type": "array", "items": operation_name() },
            "max": { "type": "integer", "minimum": 1, "maximum": 64, "default": 1 },
            "ttl": ttl(),
            "owner": { "type": "string", "maxLength": 256, "description": "who works" },
        },
        "required": ["owner"],
    })
}

pub(super) fn work() -> Value {
    let item = object(&[
        ("datasetId", whole()),
        ("datafileId", json!({ "type": ["integer", "null"] })),
        ("data", json!({ "type": "string" })),
    ]);
    let job = object(&[
        ("lock", json!({ "type": "string" })),
        ("operation", operation_name()),
        ("datasetId", whole()),
        ("type", lock_type()),
        ("ttl", json!({ "type": "number" })),
        ("fence", whole()),
        ("items", list(item)),
    ]);
    object(&[("jobs", list(job))])
}

pub(super) fn work_done() -> Value {
    json!({
        "type": "object",
        "properties": {
            "failed": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": id(),
                        "reason": { "type": "string", "maxLength": 256 },
                    },
                    "required": ["id", "reason"],
                },
                "description": "those that went wrong, by the id of the datafile or dataset",
            },
        },
        "required": ["failed"],
    })
}
