//! The calls for data services.

use claims::wire::schema::reference;
use serde_json::{Value, json};

use super::operations::waiting;
use super::words::{body, json_of, path, query, responses, text_of};

pub(super) fn status() -> Value {
    let own = [(200, json_of(&reference("ServiceStatus"), "what is locked, queued and failed"))];
    let session = json!({ "type": "string" });
    json!({
        "operationId": "getServiceStatus",
        "summary": "What a data service is doing",
        "parameters": [query("sessionId", session, "a token, if the server wants one")],
        "responses": responses(own, &[503]),
    })
}

pub(super) fn ping() -> Value {
    json!({
        "operationId": "pingIds",
        "summary": "Whether this is a data service",
        "responses": responses([(200, text_of("text/plain", "IdsOK"))], &[]),
    })
}

pub(super) fn version() -> Value {
    let version = json!({ "type": "object", "required": ["version"] });
    json!({
        "operationId": "readIdsVersion",
        "summary": "The version of the data service whose status is served",
        "responses": responses([(200, json_of(&version, "the version"))], &[]),
    })
}

pub(super) fn lock() -> Value {
    json!({
        "operationId": "lockDatasets",
        "summary": "Lock datasets, all or none",
        "description": "Refused by somebody else's lock, it answers 503 and DataNotOnlineException.",
        "parameters": waiting(),
        "requestBody": body("NewDatasetLock"),
        "responses": responses(
            [(201, json_of(&reference("DatasetLock"), "they are locked"))],
            &[400, 403, 413, 503],
        ),
    })
}

pub(super) fn renew() -> Value {
    json!({
        "operationId": "renewDatasetLock",
        "summary": "Keep datasets locked",
        "parameters": [path("lock", handle())],
        "requestBody": body("Renewal"),
        "responses": responses([done("it lasts from now again")], &[400, 403, 404, 413, 503]),
    })
}

pub(super) fn release() -> Value {
    json!({
        "operationId": "releaseDatasetLock",
        "summary": "Release datasets; again if in doubt",
        "parameters": [path("lock", handle())],
        "responses": responses([done("they are released")], &[400, 403, 404, 503]),
    })
}

pub(super) fn request() -> Value {
    let own = [(200, json_of(&reference("Operation"), "what is requested of it now"))];
    json!({
        "operationId": "requestOperation",
        "summary": "Request that a dataset or datafile is written, archived, restored or deleted",
        "requestBody": body("NewOperation"),
        "responses": responses(own, &[400, 403, 413, 503]),
    })
}

pub(super) fn work() -> Value {
    let own =
        [(200, json_of(&reference("Work"), "jobs, each with its lock; none if none can begin"))];
    json!({
        "operationId": "takeWork",
        "summary": "Take up what is requested and can be locked",
        "requestBody": body("WorkWanted"),
        "responses": responses(own, &[400, 403, 413, 503]),
    })
}

pub(super) fn finish() -> Value {
    json!({
        "operationId": "finishWork",
        "summary": "Say how a job went, and release its lock",
        "parameters": [path("lock", handle())],
        "requestBody": body("WorkDone"),
        "responses": responses([done("it is done")], &[400, 403, 404, 413, 503]),
    })
}

fn done(description: &str) -> (u16, Value) {
    (204, json!({ "description": description }))
}

fn handle() -> Value {
    json!({
        "type": "string",
        "pattern": r"^[0-9]{1,18}\.[A-Za-z0-9_-]{22,128}(,[0-9]{1,18}\.[A-Za-z0-9_-]{22,128})*$",
        "description": "what `lock` was in the answer",
    })
}
