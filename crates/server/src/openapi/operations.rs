//! Each route, with its methods, parameters and answers. A new route does not compile without.

use claims::wire::schema::{handle, name, reference, status};
use serde_json::{Value, json};

use super::ids;
use super::words::{body, header, json_of, path, query, responses, text_of};
use crate::route::Route;

/// The methods of a route.
pub(super) fn of(route: Route<'_>) -> Value {
    match route {
        Route::Claims => json!({ "get": list(), "post": register() }),
        Route::Claim(_) => json!({ "get": show(), "patch": change() }),
        Route::Renewals => json!({ "post": renew_many() }),
        Route::Resources => json!({ "get": resources() }),
        Route::Resource(_) => json!({ "get": resource() }),
        Route::Events => json!({ "get": events() }),
        Route::Live => json!({ "get": live() }),
        Route::Ready => json!({ "get": ready() }),
        Route::Metrics => json!({ "get": metrics() }),
        Route::OpenApi => json!({ "get": openapi() }),
        Route::IdsStatus => json!({ "get": ids::status() }),
        Route::IdsPing => json!({ "get": ids::ping() }),
        Route::IdsVersion => json!({ "get": ids::version() }),
        Route::IdsLocks => json!({ "post": ids::lock() }),
        Route::IdsLock(_) => json!({ "patch": ids::renew(), "delete": ids::release() }),
        Route::IdsOperations => json!({ "post": ids::request() }),
        Route::IdsWork => json!({ "post": ids::work() }),
        Route::IdsJob(_) => json!({ "patch": ids::finish() }),
    }
}

fn register() -> Value {
    let claim = |description| {
        let mut response = json_of(&reference("Claim"), description);
        let location = "its address, with its key: as `url`";
        response["headers"]["Location"] = json!({
            "required": true, "schema": { "type": "string" }, "description": location,
        });
        response
    };
    let own = [
        (200, claim("sent again under a key whose claim is over")),
        (201, claim("it holds")),
        (202, claim("it waits")),
    ];
    json!({
        "operationId": "registerClaim",
        "summary": "Make a claim",
        "parameters": waiting(),
        "requestBody": body("NewClaim"),
        "responses": responses(own, &[400, 403, 413, 503]),
    })
}

fn list() -> Value {
    let seconds = || json!({ "type": "number" });
    let moment = || {
        let date = "^(19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\
                    T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$";
        json!({ "anyOf": [
            { "type": "number", "minimum": 0 },
            { "type": "string", "pattern": date, "examples": ["2026-11-15T19:16:17Z"] },
        ] })
    };
    let mut parameters = page("at most this many: 10 if nobody says, never more than 1000");
    parameters.extend([
        query("resource", json!({ "type": "string" }), "claims on this resource"),
        query("status", status(), "claims with this status"),
        query("minimum_ttl", seconds(), "holders with at least this lease left"),
        query("maximum_ttl", seconds(), "holders with at most this lease left"),
        query("minimum_active_duration", seconds(), "claims that held for at least this long"),
        query("maximum_active_duration", seconds(), "claims that held for at most this long"),
        query("minimum_waiting_duration", seconds(), "claims that waited for at least this long"),
        query("maximum_waiting_duration", seconds(), "claims that waited for at most this long"),
        query("minimum_created", moment(), "made at or after: a date, or seconds since 1970"),
        query("maximum_created", moment(), "made at or before: a date, or seconds since 1970"),
    ]);
    json!({
        "operationId": "listClaims",
        "summary": "Claims in order of creation",
        "parameters": parameters,
        "responses": responses([(200, json_of(&reference("ClaimList"), "claims"))], &[400, 503]),
    })
}

fn show() -> Value {
    json!({
        "operationId": "showClaim",
        "summary": "Look at a claim",
        "parameters": [path("claim", handle())],
        "responses": responses([(200, json_of(&reference("Claim"), "the claim"))], &[404, 503]),
    })
}

fn change() -> Value {
    let own = [
        (200, json_of(&reference("Claim"), "it holds, its lease runs again, or it has a keeper")),
        (204, json!({ "description": "it is over" })),
    ];
    let mut parameters = waiting();
    parameters.insert(0, path("claim", handle()));
    json!({
        "operationId": "changeClaim",
        "summary": "Activate, renew or end a claim, or appoint a keeper",
        "description": "Takes the claim's key; an administrator may set `revoked` without it.",
        "parameters": parameters,
        "requestBody": body("Change"),
        "responses": responses(own, &[400, 401, 403, 404, 409, 413, 503]),
        "security": [{}, { "administrator": [] }],
    })
}

fn renew_many() -> Value {
    let own = [(200, json_of(&reference("Renewed"), "how each went"))];
    json!({
        "operationId": "renewClaims",
        "summary": "Renew many claims",
        "requestBody": body("Renewals"),
        "responses": responses(own, &[400, 403, 413, 503]),
    })
}

fn resources() -> Value {
    let list = json!({ "type": "array", "items": reference("ResourceSummary") });
    let mut parameters = page("at most this many: 100 if nobody says, never more than 1000");
    parameters.push(query("after", name(), "begin after this name"));
    json!({
        "operationId": "listResources",
        "summary": "What is held or wanted, in alphabetical order",
        "parameters": parameters,
        "responses": responses([(200, json_of(&list, "resources"))], &[400, 503]),
    })
}

fn resource() -> Value {
    let own = [(200, json_of(&reference("Resource"), "who holds it, who waits, for how long"))];
    json!({
        "operationId": "showResource",
        "summary": "Look at a resource",
        "parameters": [path("name", name())],
        "responses": responses(own, &[400, 503]),
    })
}

fn events() -> Value {
    let own = [(200, text_of("text/event-stream", "events, as they happen"))];
    json!({
        "operationId": "followEvents",
        "summary": "What happens, as it happens (server-sent events)",
        "parameters": [
            query("from", json!({ "type": "integer", "minimum": 0 }), "begin at this position"),
            header("Last-Event-ID", "go on after this position"),
        ],
        "responses": responses(own, &[400, 503]),
    })
}

fn live() -> Value {
    json!({
        "operationId": "isLive",
        "summary": "Whether the process runs and answers",
        "responses": responses([(200, json_of(&reference("Health"), "it does"))], &[]),
    })
}

fn ready() -> Value {
    json!({
        "operationId": "isReady",
        "summary": "Whether the server can serve",
        "responses": responses([(200, json_of(&reference("Health"), "it can"))], &[503]),
    })
}

fn metrics() -> Value {
    json!({
        "operationId": "readMetrics",
        "summary": "Figures for Prometheus",
        "responses": responses([(200, text_of("text/plain", "figures"))], &[503]),
    })
}

fn openapi() -> Value {
    let document = json!({ "type": "object", "required": ["openapi", "paths", "components"] });
    json!({
        "operationId": "readOpenApi",
        "summary": "This document",
        "responses": responses([(200, json_of(&document, "this document"))], &[]),
    })
}

/// How a client says that it waits within the request.
pub(super) fn waiting() -> Vec<Value> {
    let seconds = json!({ "type": "number", "minimum": 0 });
    vec![
        query("wait", seconds, "wait this many seconds to become a holder, as far as allowed"),
        header("Prefer", "`wait=<seconds>`, the same"),
    ]
}

fn page(limit: &str) -> Vec<Value> {
    let whole = || json!({ "type": "integer", "minimum": 0 });
    vec![query("limit", whole(), limit), query("offset", whole(), "let this many pass first")]
}
