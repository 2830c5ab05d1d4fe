//! What the server answers. Nothing is in an answer that is not said here.

use serde_json::{Value, json};

use super::{name, reference, status};

const DATE: &str =
    "^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4,} [0-9]{2}:[0-9]{2}:[0-9]{2} -0000$";

fn date() -> Value {
    json!({ "type": "string", "pattern": DATE, "examples": ["Sun, 15 Nov 2026 19:16:17 -0000"] })
}

fn whole() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn ids() -> Value {
    json!({ "type": "array", "items": whole() })
}

/// The nine fields of the original, always all there, and what was added.
pub(super) fn claim() -> Value {
    json!({
        "type": "object",
        "properties": {
            "url": { "type": "string", "description": "its address; with the key if it is yours" },
            "resource": name(),
            "status": status(),
            "created": date(),
            "status_history": {
                "type": "array",
                "minItems": 1,
                "maxItems": 3,
                "items": {
                    "type": "object",
                    "properties": { "status": status(), "timestamp": date() },
                    "required": ["status", "timestamp"],
                    "additionalProperties": false,
                },
            },
            "ttl": {
                "type": ["number", "null"],
                "description": "seconds left, negative when overdue; null unless it holds",
            },
            "active_duration": { "type": ["number", "null"], "exclusiveMinimum": 0 },
            "waiting_duration": { "type": "number", "minimum": 0 },
            "user_data": {},
            "id": whole(),
            "resources": { "type": "array", "minItems": 1, "items": name() },
            "limit": {
                "type": ["integer", "null"],
                "minimum": 1,
                "description": "how many may hold together; null if any number may",
            },
            "shared": { "type": "boolean" },
            "fence": {
                "type": ["integer", "null"],
                "minimum": 1,
                "maximum": 9_007_199_254_740_991_u64,
                "description": "greater than that of every holder before; null if it never held",
            },
            "queue_position": { "type": "integer", "minimum": 1 },
            "holders": ids(),
        },
        "required": [
            "url", "resource", "status", "created", "status_history", "ttl", "active_duration",
            "waiting_duration", "user_data", "id", "resources", "limit", "shared", "fence",
        ],
        "dependentRequired": { "queue_position": ["holders"], "holders": ["queue_position"] },
        "additionalProperties": false,
    })
}

pub(super) fn renewed() -> Value {
    let good = json!({
        "type": "object",
        "properties": {
            "id": whole(),
            "http_status": { "const": 200 },
            "status": status(),
            "ttl": { "type": ["number", "null"] },
        },
        "required": ["id", "http_status", "status", "ttl"],
        "additionalProperties": false,
    });
    let bad = json!({ "allOf": [reference("Problem"), { "required": ["http_status"] }] });
    json!({
        "type": "object",
        "properties": {
            "renewals": {
                "type": "array",
                "items": { "oneOf": [good, bad] },
                "description": "one for each claim asked for, in that order",
            },
        },
        "required": ["renewals"],
        "additionalProperties": false,
    })
}

pub(super) fn resource_summary() -> Value {
    json!({
        "type": "object",
        "properties": { "resource": name(), "holders": ids(), "waiting": whole() },
        "required": ["resource", "holders", "waiting"],
        "additionalProperties": false,
    })
}

pub(super) fn resource() -> Value {
    json!({
        "type": "object",
        "properties": {
            "resource": name(),
            "holders": reference("ClaimList"),
            "holding": whole(),
            "queue": reference("ClaimList"),
            "waiting": whole(),
            "usual_hold": {
                "type": ["number", "null"],
                "description": "seconds that holders usually take; null if nobody gave it back yet",
            },
        },
        "required": ["resource", "holders", "holding", "queue", "waiting", "usual_hold"],
        "additionalProperties": false,
    })
}

pub(super) fn health() -> Value {
    json!({
        "type": "object",
        "properties": { "status": { "enum": ["live", "ready"] } },
        "required": ["status"],
        "additionalProperties": false,
    })
}

/// The original's members for programs, a title and a detail for people. A parameter that cannot
/// be used is a member of its own name.
pub(super) fn problem() -> Value {
    let mut properties = json!({
        "title": { "type": "string" },
        "detail": { "type": "string", "description": "what happened, and what to do next" },
        "code": { "type": "string", "description": "a stable name for programs" },
        "exception_class": { "enum": ["ClaimNotFound", "ConflictException", "InvalidRequest"] },
        "message": { "type": "string" },
        "claim_id": whole(),
        "active_claim_id": { "type": ["integer", "null"] },
        "holders": ids(),
        "queue_position": { "type": "integer", "minimum": 1 },
        "http_status": { "type": "integer", "minimum": 400, "maximum": 599 },
    });
    for blamed in [
        "resource",
        "resources",
        "ttl",
        "limit",
        "shared",
        "user_data",
        "key",
        "keeper",
        "wait",
        "status",
        "claims",
        "from",
        "missing-parameters",
        "extra-parameters",
    ] {
        properties[blamed] = json!({ "type": "string" });
    }
    // What is wrong with a request about datasets, or which of them is in the way of it.
    for blamed in [
        "datasetIds",
        "datasetId",
        "datafileId",
        "type",
        "call",
        "count",
        "operation",
        "operations",
        "owner",
        "reason",
        "data",
        "prepare",
        "max",
        "failed",
    ] {
        properties[blamed] = json!({ "type": ["string", "integer"] });
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": ["title", "detail"],
        "additionalProperties": false,
    })
}
