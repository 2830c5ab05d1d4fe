//! An answer, and what is true of every one.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use hyper::body::Body as _;
use hyper::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde_json::Value;
use server::Body;

/// Longer than anything takes: only a hang is noticed.
const HANGS: Duration = Duration::from_secs(15);

pub(crate) struct Told {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    stream: Option<Body>,
}

impl Told {
    pub(crate) fn of(answer: Response<Body>) -> Self {
        let (head, body) = answer.into_parts();
        let (bytes, stream) = match body.into_bytes() {
            Ok(bytes) => (bytes, None),
            Err(pieces) => (Default::default(), Some(Body::Stream(pieces))),
        };
        let text = String::from_utf8(bytes.to_vec()).expect("answers are UTF-8");
        Self { status: head.status, headers: head.headers, text, stream }
    }

    /// What is true of every answer of HTTP v1.
    pub(crate) fn check(&self) {
        let (status, text) = (self.status, &self.text);
        if status.is_client_error() || status.is_server_error() {
            let problem: Value = serde_json::from_str(text).expect("a problem is told in JSON");
            assert!(problem["title"].is_string() && problem["detail"].is_string(), "{text}");
            // Nothing is wrong with the store, so nothing else can be the server's fault.
            let is_full = problem["code"] == "queue-full" && self.headers.contains_key(RETRY_AFTER);
            assert!(!status.is_server_error() || is_full, "{status}: {text}");
            assert_eq!(self.kind(), "application/json");
        } else if self.kind() == "application/json" {
            let _: Value = serde_json::from_str(text).expect("what is called JSON is JSON");
        }
        if status == StatusCode::NO_CONTENT {
            assert!(text.is_empty());
        }
        assert!(!self.headers.contains_key("access-control-allow-origin"));
    }

    fn kind(&self) -> &str {
        self.headers.get(CONTENT_TYPE).map_or("", |kind| kind.to_str().expect("it is ours"))
    }

    /// The next pieces of a stream of events, which must come.
    pub(crate) async fn pieces(&mut self, count: usize) {
        let Some(stream) = &mut self.stream else { return };
        for _ in 0..count {
            let next = poll_fn(|cx| Pin::new(&mut *stream).poll_frame(cx));
            let next = tokio::time::timeout(HANGS, next).await.expect("the stream goes on");
            let Some(Ok(frame)) = next else { return };
            let piece = frame.into_data().unwrap_or_default();
            self.text += std::str::from_utf8(&piece).expect("events are UTF-8");
        }
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.stream.is_some()
    }
}
