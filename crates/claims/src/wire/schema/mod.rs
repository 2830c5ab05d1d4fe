//! What the JSON of HTTP v1 looks like, as JSON Schema (2020-12), for people and for programs that
//! write clients or tests. Bounds come from the rules; that real requests and answers fit is tested
//! with every answer that the server's tests look at.

mod answers;
mod datasets;
mod requests;

use alloc::string::String;

use serde_json::{Map, Value, json};

use super::handle::{KEY_CHARS_MAX, KEY_CHARS_MIN};
use crate::claim::Status;
use crate::terms::NAME_BYTES_MAX;

/// All schemas, by name. They refer to each other as `#/components/schemas/<name>`.
pub fn schemas(renewals_max: usize) -> Map<String, Value> {
    let all = [
        ("NewClaim", requests::new_claim()),
        ("Change", requests::change()),
        ("Renewals", requests::renewals(renewals_max)),
        ("Claim", answers::claim()),
        ("ClaimList", json!({ "type": "array", "items": reference("Claim") })),
        ("Renewed", answers::renewed()),
        ("ResourceSummary", answers::resource_summary()),
        ("Resource", answers::resource()),
        ("Health", answers::health()),
        ("Problem", answers::problem()),
        ("ServiceStatus", datasets::service_status()),
        ("NewDatasetLock", datasets::new_lock()),
        ("DatasetLock", datasets::lock()),
        ("Renewal", datasets::renewal()),
        ("NewOperation", datasets::new_operation()),
        ("Operation", datasets::operation()),
        ("WorkWanted", datasets::work_wanted()),
        ("Work", datasets::work()),
        ("WorkDone", datasets::work_done()),
    ];
    all.into_iter().map(|(name, schema)| (name.into(), schema)).collect()
}

/// A reference to one of [`schemas`].
pub fn reference(name: &str) -> Value {
    json!({ "$ref": alloc::format!("#/components/schemas/{name}") })
}

/// The name of a resource. Its bound is in bytes, which a schema cannot say.
pub fn name() -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "maxLength": NAME_BYTES_MAX,
        "pattern": r"^[^\x00-\x1f\x7f-\x9f]+$",
        "description": alloc::format!("1 to {NAME_BYTES_MAX} bytes of UTF-8, no control characters"),
    })
}

/// One claim in an address: its id, and its key to own it.
pub fn handle() -> Value {
    let key = key_pattern();
    json!({
        "type": "string",
        "pattern": alloc::format!(r"^[0-9]{{1,18}}(\.{key})?$"),
        "description": "`<id>` to look at a claim, `<id>.<key>` to own it: as in its `Location`",
    })
}

/// One of the seven statuses.
pub fn status() -> Value {
    json!({ "enum": Status::ALL.map(Status::as_str) })
}

fn key() -> Value {
    json!({
        "type": ["string", "null"],
        "pattern": alloc::format!("^{}$", key_pattern()),
        "description": "a secret that the client chose, of at least 128 random bits",
    })
}

fn key_pattern() -> String {
    alloc::format!("[A-Za-z0-9_-]{{{KEY_CHARS_MIN},{KEY_CHARS_MAX}}}")
}
