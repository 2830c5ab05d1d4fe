//! Answers: a status, a JSON body, and what else HTTP wants to hear.

use claims::wire::Problem;
use hyper::body::Bytes;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{Response, StatusCode};

use crate::body::Body;

pub(crate) type Answer = Response<Body>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

pub(crate) fn json(status: StatusCode, body: String) -> Answer {
    let mut answer = Response::new(Body::Whole(Bytes::from(body)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, JSON);
    answer
}

pub(crate) fn located(mut answer: Answer, url: String) -> Answer {
    // The base of an address was a header before, so this is one, too.
    if let Ok(url) = HeaderValue::from_maybe_shared(Bytes::from(url)) {
        answer.headers_mut().insert(LOCATION, url);
    }
    answer
}

pub(crate) fn no_content() -> Answer {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer
}

/// What may be asked here.
pub(crate) fn options(allow: &'static str) -> Answer {
    let mut answer = Response::new(Body::empty());
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
    answer
}

pub(crate) fn not_allowed(allow: &'static str) -> Answer {
    let detail = format!("what may be asked here: {allow}");
    let mut answer = problem(&Problem::new(405, "Not here", detail));
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
    answer
}

pub(crate) fn text(content_type: &'static str, body: Body) -> Answer {
    let mut answer = Response::new(body);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

pub(crate) fn problem(problem: &Problem) -> Answer {
    let mut body = String::new();
    problem.write(&mut body);
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut answer = json(status, body);
    if let Some(secs) = problem.retry_after {
        answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(secs));
    }
    if status == StatusCode::UNAUTHORIZED {
        for scheme in ["Bearer realm=\"tenure\"", "Basic realm=\"tenure\""] {
            answer.headers_mut().append(WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
        }
    }
    answer
}
