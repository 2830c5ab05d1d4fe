//! A server without a socket, over a store in memory.
#![allow(dead_code, reason = "each face uses a part of it")]

pub(crate) mod contract;
pub(crate) mod down;

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use claims::Rules;
use hyper::body::{Body as _, Bytes};
use hyper::header::HeaderMap;
use hyper::{Request, StatusCode};
use registry::Store;
use serde_json::Value;
use server::{AdminToken, Body, Config, Server};

use self::contract::{Asked, Contract};

pub(crate) const HOST: &str = "127.0.0.1:7117";
pub(crate) const TOKEN: &str = "the-administrator-s-token";

#[derive(Clone)]
pub(crate) struct House {
    pub(crate) server: Arc<Server>,
    pub(crate) store: Arc<dyn Store>,
}

/// An answer, read.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    /// What the document calls what was asked, if it does.
    pub(crate) operation: Option<String>,
}

impl House {
    pub(crate) async fn new() -> Self {
        Self::with(Rules::default(), Config::default()).await
    }

    pub(crate) async fn with(rules: Rules, config: Config) -> Self {
        let store: Arc<dyn Store> = Arc::new(registry::memory(rules));
        Self::over(store, config).await
    }

    pub(crate) async fn over(store: Arc<dyn Store>, config: Config) -> Self {
        let config = Config { admin: Some(AdminToken::of(TOKEN)), ..config };
        let server = Server::new(store.clone(), config, "127.0.0.1:7117".parse().unwrap());
        Self { server: Arc::new(server), store }
    }

    /// Sends any request. The answer is one that the document promises.
    pub(crate) async fn send(&self, request: Request<Body>) -> Told {
        let asked = Asked {
            method: request.method().clone(),
            path: request.uri().to_string(),
            headers: request.headers().clone(),
            body: match request.body() {
                Body::Whole(bytes) => bytes.to_vec(),
                Body::Large(_) | Body::Stream(_) => Vec::new(),
            },
        };
        let (head, body) = self.server.handle(request).await.into_parts();
        let (status, text) = (head.status.as_u16(), whole(body));
        let mut told = Told { status, headers: head.headers, text, operation: None };
        told.check();
        told.operation = Contract::read().await.check(&asked, &told);
        told
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: &str) -> Told {
        self.send(request(method, path, body.as_bytes())).await
    }

    pub(crate) async fn get(&self, path: &str) -> Told {
        self.ask("GET", path, "").await
    }

    pub(crate) async fn post(&self, body: &str) -> Told {
        self.ask("POST", "/v1/claims/", body).await
    }

    /// Makes a claim on one resource.
    pub(crate) async fn claim(&self, resource: &str, ttl: f64) -> Told {
        self.post(&format!(r#"{{"resource":"{resource}","ttl":{ttl}}}"#)).await
    }

    pub(crate) async fn patch(&self, url: &str, body: &str) -> Told {
        self.ask("PATCH", url, body).await
    }
}

/// The text of an answer. Streams have no end, so they are not read.
pub(crate) fn whole(body: Body) -> String {
    let bytes = body.into_bytes().unwrap_or_default();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A request as clients of the original send it.
pub(crate) fn request(method: &str, path: &str, body: &[u8]) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path.strip_prefix(&format!("http://{HOST}")).unwrap_or(path))
        .header("host", HOST)
        .header("content-type", "application/json")
        .body(Body::Whole(Bytes::copy_from_slice(body)))
        .unwrap()
}

impl Told {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{self:?}"))
    }

    pub(crate) fn location(&self) -> String {
        self.headers["location"].to_str().unwrap().to_owned()
    }

    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// What is true of every answer.
    fn check(&self) {
        let status = StatusCode::from_u16(self.status).unwrap();
        assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!self.headers.contains_key("access-control-allow-origin"));
        if status.is_client_error() || status.is_server_error() {
            let value = self.json();
            assert!(value["title"].is_string() && value["detail"].is_string(), "{self:?}");
        }
        if self.status == 503 {
            assert!(self.headers.contains_key("retry-after"), "{self:?}");
        }
        if self.status == 204 {
            assert!(self.text.is_empty());
        }
    }
}

/// Whether a future still waits after everybody had the time to do something.
pub(crate) async fn waits<F: Future>(future: &mut std::pin::Pin<&mut F>) -> bool {
    let mut pause = pin!(tokio::time::sleep(Duration::from_millis(30)));
    std::future::poll_fn(|cx| match (future.as_mut().poll(cx), pause.as_mut().poll(cx)) {
        (Poll::Ready(_), _) => Poll::Ready(false),
        (Poll::Pending, Poll::Ready(())) => Poll::Ready(true),
        (Poll::Pending, Poll::Pending) => Poll::Pending,
    })
    .await
}

/// Reads a stream until it has this many pieces.
pub(crate) async fn pieces(body: Body, count: usize) -> String {
    let mut body = pin!(body);
    let mut text = String::new();
    for _ in 0..count {
        let next = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx));
        let frame = tokio::time::timeout(Duration::from_secs(10), next).await.unwrap();
        let data = frame.unwrap().unwrap().into_data().unwrap();
        text.push_str(std::str::from_utf8(&data).unwrap());
    }
    text
}
