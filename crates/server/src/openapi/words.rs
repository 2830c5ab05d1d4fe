//! The words that operations are described with.

use claims::wire::schema::reference;
use serde_json::{Map, Value, json};

/// A parameter of the query that may be left out.
pub(super) fn query(name: &str, schema: Value, description: &str) -> Value {
    json!({ "name": name, "in": "query", "schema": schema, "description": description })
}

/// A header that may be left out.
pub(super) fn header(name: &str, description: &str) -> Value {
    json!({
        "name": name, "in": "header", "schema": { "type": "string" }, "description": description,
    })
}

/// A piece of the path.
pub(super) fn path(name: &str, schema: Value) -> Value {
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

/// A body in JSON.
pub(super) fn body(schema: &str) -> Value {
    json!({ "required": true, "content": { "application/json": { "schema": reference(schema) } } })
}

/// An answer in JSON.
pub(super) fn json_of(schema: &Value, description: &str) -> Value {
    json!({
        "description": description, "content": { "application/json": { "schema": schema } },
    })
}

/// An answer in plain text of some kind.
pub(super) fn text_of(media: &str, description: &str) -> Value {
    json!({
        "description": description, "content": { media: { "schema": { "type": "string" } } },
    })
}

/// Answers by status: its own, and the problems that these statuses stand for.
pub(super) fn responses<const N: usize>(
    own: [(u16, Value); N],
    problems: &[u16],
) -> Map<String, Value> {
    let troubles = problems.iter().chain(&[421]).map(|&status| (status, trouble(status)));
    own.into_iter()
        .chain(troubles)
        .map(|(status, response)| (status.to_string(), response))
        .collect()
}

/// Adds what somebody without a token, or with too little of one, is told.
pub(super) fn guard(operations: &mut Value) {
    for operation in operations.as_object_mut().into_iter().flat_map(Map::values_mut) {
        let Some(responses) = operation.get_mut("responses") else { continue };
        for status in [401, 403] {
            responses[status.to_string()] = trouble(status);
        }
        operation["security"] = json!([{ "administrator": [] }, { "token": [] }]);
    }
}

fn trouble(status: u16) -> Value {
    let description = match status {
        400 => "it cannot be read, or the claim is not in a state for it",
        401 => "not a token of this server",
        403 => {
            "the key may only renew, the token does not allow it, or the request comes from a web page"
        }
        404 => "no claim with this id and this key",
        409 => "it is not this waiter's turn yet: who holds, and its place in the queue",
        413 => "the body is too large",
        421 => "this server is not known by the name in `Host`",
        _ => "not now: ask again after `Retry-After` seconds",
    };
    let mut response = json_of(&reference("Problem"), description);
    let required = |schema: Value| json!({ "required": true, "schema": schema });
    match status {
        401 => response["headers"]["WWW-Authenticate"] = required(json!({ "const": "Bearer" })),
        503 => response["headers"]["Retry-After"] = required(json!({ "type": "integer" })),
        _ => {}
    }
    response
}
