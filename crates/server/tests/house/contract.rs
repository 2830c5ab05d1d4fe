//! Holds what was asked and answered against the document that the server gives of itself.

use std::collections::HashMap;
use std::sync::Arc;

use hyper::Method;
use hyper::header::HeaderMap;
use jsonschema::Validator;
use serde_json::{Value, json};
use server::{Config, Server};
use tokio::sync::OnceCell;

use super::{Told, request, whole};

/// The document, and what it wants to see.
pub(crate) struct Contract {
    pub(crate) document: Value,
    /// By operation and status; bodies of requests have no status.
    schemas: HashMap<(String, Option<u16>), Validator>,
}

/// A request, as far as the document speaks of it.
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Contract {
    /// The contract of a server with the usual figures.
    pub(crate) async fn read() -> &'static Self {
        static CONTRACT: OnceCell<Contract> = OnceCell::const_new();
        CONTRACT.get_or_init(Self::ask).await
    }

    async fn ask() -> Self {
        let store = Arc::new(registry::memory(claims::Rules::default()));
        let address = "127.0.0.1:7117".parse().unwrap();
        let server = Arc::new(Server::new(store, Config::default(), address));
        let answer = server.handle(request("GET", "/openapi.json", b"")).await;
        let document: Value = serde_json::from_str(&whole(answer.into_body())).unwrap();
        let mut schemas = HashMap::new();
        for (_, _, operation) in operations(&document) {
            let name = operation["operationId"].as_str().unwrap().to_owned();
            let mut keep = |status: Option<u16>, content: &Value| {
                let mut schema = content["application/json"]["schema"].clone();
                if schema.is_object() {
                    schema["components"] = document["components"].clone();
                    let validator = jsonschema::validator_for(&schema).unwrap();
                    schemas.insert((name.clone(), status), validator);
                }
            };
            keep(None, &operation["requestBody"]["content"]);
            for (status, response) in operation["responses"].as_object().unwrap() {
                keep(Some(status.parse().unwrap()), &response["content"]);
            }
        }
        Self { document, schemas }
    }

    /// The path of the document that a request is about.
    fn template(&self, path: &str) -> Option<&str> {
        let path = path.split('?').next().unwrap();
        let pieces: Vec<&str> = path.split('/').filter(|piece| !piece.is_empty()).collect();
        let templates = self.document["paths"].as_object().unwrap().keys();
        let mut templates = templates.map(String::as_str);
        templates.find(|template| {
            let wanted: Vec<&str> = template.split('/').filter(|piece| !piece.is_empty()).collect();
            let rest_is_name = wanted.last() == Some(&"{name}") && pieces.len() > wanted.len();
            (pieces.len() == wanted.len() || rest_is_name)
                && wanted
                    .iter()
                    .zip(&pieces)
                    .all(|(wanted, piece)| wanted == piece || wanted.starts_with('{'))
        })
    }

    /// Panics if something was answered that the document does not say. Returns the operation.
    pub(crate) fn check(&self, asked: &Asked, told: &Told) -> Option<String> {
        if asked.method == Method::OPTIONS {
            return None;
        }
        let Some(template) = self.template(&asked.path) else {
            assert!(matches!(told.status, 404 | 403 | 421), "{} is not documented", asked.path);
            return None;
        };
        let method = match asked.method {
            Method::HEAD => "get".to_owned(),
            ref method => method.as_str().to_lowercase(),
        };
        let operation = &self.document["paths"][template][&method];
        if operation.is_null() {
            assert!(matches!(told.status, 405 | 403 | 421), "{method} {template}: {told:?}");
            return None;
        }
        let name = operation["operationId"].as_str().unwrap().to_owned();
        let response = &operation["responses"][told.status.to_string()];
        assert!(!response.is_null(), "{name} does not say that it answers {told:?}");
        for (header, said) in response["headers"].as_object().into_iter().flatten() {
            assert!(said["required"] != json!(true) || told.headers.contains_key(header));
        }
        self.check_body(&name, response, told);
        self.check_request(&name, asked, told);
        Some(name)
    }

    fn check_body(&self, name: &str, response: &Value, told: &Told) {
        let Some(content) = response["content"].as_object() else {
            assert!(told.text.is_empty(), "{name}: {told:?}");
            return;
        };
        let media = told.headers["content-type"].to_str().unwrap().split(';').next().unwrap();
        assert!(content.contains_key(media), "{name} answers in {media}");
        if media == "application/json" {
            let schema = &self.schemas[&(name.to_owned(), Some(told.status))];
            fits(schema, &told.json(), name);
        }
    }

    /// What was accepted is what the document accepts.
    fn check_request(&self, name: &str, asked: &Asked, told: &Told) {
        let is_json = asked.headers.get("content-type").is_some_and(|kind| {
            kind.to_str().is_ok_and(|kind| kind.starts_with("application/json"))
        });
        let schema = self.schemas.get(&(name.to_owned(), None));
        if let (Some(schema), true, 200..300) = (schema, is_json, told.status)
            && !asked.body.is_empty()
        {
            fits(schema, &serde_json::from_slice(&asked.body).unwrap(), name);
        }
    }

    /// Every operation with every status that it may answer.
    pub(crate) fn promises(&self) -> impl Iterator<Item = (String, u16)> {
        operations(&self.document).flat_map(|(_, _, operation)| {
            let name = operation["operationId"].as_str().unwrap();
            let statuses = operation["responses"].as_object().unwrap().keys();
            statuses.map(|status| (name.to_owned(), status.parse().unwrap()))
        })
    }
}

/// Path, method and operation.
pub(crate) fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    document["paths"].as_object().unwrap().iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
    })
}

#[track_caller]
fn fits(schema: &Validator, value: &Value, name: &str) {
    let errors: Vec<String> = schema.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?} in {value}");
}
