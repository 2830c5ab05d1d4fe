//! What clients send. Numbers may be text and truth values may be numbers, because clients of the
//! original send them so; what is not known is ignored.

use serde_json::{Value, json};

use super::{key, name};
use crate::terms::{DATA_BYTES_MAX, RESOURCES_MAX, TTL_MAX};
use crate::wire::DATA_DEPTH_MAX;

pub(super) fn new_claim() -> Value {
    let given = |name: &str| json!({ "required": [name], "properties": { name: not_null() } });
    json!({
        "type": "object",
        "description": "One of `resource` and `resources`, and a `ttl`.",
        "properties": {
            "resource": spoken_name(&["string", "number", "boolean", "null"]),
            "resources": {
                "type": ["array", "null"],
                "items": spoken_name(&["string", "number", "boolean"]),
                "minItems": 1,
                "maxItems": RESOURCES_MAX,
                "uniqueItems": true,
                "description": "several resources, all or nothing",
            },
            "ttl": ttl(),
            "user_data": {
                "description": alloc::format!(
                    "what others may see: any JSON of at most {DATA_BYTES_MAX} bytes, nested at \
                     most {DATA_DEPTH_MAX} deep"
                ),
            },
            "limit": {
                "anyOf": [
                    { "type": "integer", "minimum": 1, "maximum": u32::MAX - 1 },
                    { "type": "string", "pattern": "^[1-9][0-9]{0,8}$" },
                    { "enum": [true, null] },
                ],
                "default": 1,
                "description": "how many may hold together",
            },
            "shared": {
                "enum": [true, false, "true", "false", "True", "False", "1", "0", 1, 0, null],
                "default": false,
                "description": "whether any number may hold together",
            },
            "key": key(),
        },
        "required": ["ttl"],
        "oneOf": [given("resource"), given("resources")],
        "not": {
            "required": ["limit", "shared"],
            "properties": {
                "limit": not_null(),
                "shared": { "enum": [true, "true", "True", "1", 1] },
            },
        },
        "examples": [{ "resource": "backup", "ttl": 60, "user_data": { "pid": 4711 } }],
    })
}

pub(super) fn change() -> Value {
    json!({
        "type": "object",
        "description": "Exactly one of these.",
        "properties": {
            "status": {
                "enum": ["active", "released", "aborted", "revoked", "withdrawn", null],
                "description": "`active` asks whether it is its turn; the others end the claim",
            },
            "ttl": ttl(),
            "keeper": key(),
        },
        "oneOf": [
            { "required": ["status"], "properties": { "status": not_null() } },
            { "required": ["ttl"] },
            { "required": ["keeper"], "properties": { "keeper": not_null() } },
        ],
        "examples": [{ "status": "active" }, { "status": "released" }, { "ttl": 60 }],
    })
}

pub(super) fn renewals(max: usize) -> Value {
    json!({
        "type": "object",
        "properties": {
            "claims": {
                "type": "array",
                "maxItems": max,
                "items": {
                    "description":
                        "an address, its last piece `<id>.<key>`, or `{\"claim\": …, \"ttl\": …}`; \
                         each is answered for itself",
                },
            },
            "ttl": { "anyOf": [ttl(), { "type": "null" }] },
        },
        "required": ["claims"],
        "examples": [{ "claims": ["7.AAAAAAAAAAAAAAAAAAAAAA"], "ttl": 60 }],
    })
}

const DECIMAL: &str = r"^ *[0-9]{1,9}(\.[0-9]{1,6})? *$";

/// Seconds: a number, a number as text, or a truth value.
pub(super) fn ttl() -> Value {
    json!({
        "anyOf": [
            { "type": "number", "minimum": 0, "maximum": TTL_MAX.as_micros() / 1_000_000 },
            { "type": "string", "pattern": DECIMAL },
            { "type": "boolean" },
        ],
        "description": "how many seconds the lease lasts",
    })
}

/// A name as clients of the original may give it: numbers and truth values have a text, too.
fn spoken_name(types: &[&str]) -> Value {
    let mut schema = name();
    schema["type"] = json!(types);
    schema
}

fn not_null() -> Value {
    json!({ "not": { "type": "null" } })
}
