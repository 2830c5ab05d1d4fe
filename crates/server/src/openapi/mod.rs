//! `GET /openapi.json`: what may be asked here and how it is answered, in OpenAPI 3.1.
//!
//! Made from the table of routes, the figures of this server and the schemas beside the wire types,
//! so that it cannot tell of another server. Tests hold every answer against it.

mod ids;
mod operations;
mod words;

use claims::wire::schema::schemas;
use hyper::StatusCode;
use serde_json::{Map, Value, json};

use crate::answer::{self, Answer};
use crate::config::Config;
use crate::route::Route;

/// The document as an answer.
pub(crate) fn told(config: &Config) -> Answer {
    answer::json(StatusCode::OK, document(config).to_string())
}

fn document(config: &Config) -> Value {
    let guarded = config.tokens.is_some();
    let paths = Route::EVERY.map(|route| {
        let mut operations = operations::of(route);
        if guarded && !route.is_open() {
            words::guard(&mut operations);
        }
        (route.template().to_owned(), operations)
    });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tenure",
            "summary": "A lock server",
            "description":
                "Claims on resources: who holds what, who waits, for how long. The `Location` of a \
                 new claim carries its key: whoever has it owns the claim. Parameters may also come \
                 in the query or as a form; parameters that are not known are ignored, and so are \
                 doubled and missing slashes. Every error is a `Problem`.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": Map::from_iter(paths),
        "components": {
            "schemas": schemas(config.renewals_max),
            "securitySchemes": {
                "administrator": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "the token in the server's data directory: admin-token",
                },
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "made with tenure token create; as a password of Basic, too",
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn document_has_the_methods_that_the_router_allows() {
        let document = document(&Config::default());
        for route in Route::EVERY {
            let item = document["paths"][route.template()].as_object().unwrap();
            let mut told: BTreeSet<String> =
                item.keys().map(|method| method.to_uppercase()).collect();
            if told.contains("GET") {
                told.insert("HEAD".into());
            }
            told.insert("OPTIONS".into());
            let allowed = route.allow().split(", ").map(str::to_owned).collect();
            assert_eq!(told, allowed, "{}", route.template());
        }
        assert_eq!(document["paths"].as_object().unwrap().len(), Route::EVERY.len());
    }
}
