//! A small HTTP client: one server, one connection at a time, no pool.

mod address;
mod connect;

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio_rustls::TlsConnector;

pub(crate) use self::address::{Address, encode};
use crate::exit::{Exit, OrExit};

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(90);

/// Which server is asked, and with what token.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: Address,
    host: HeaderValue,
    token: Option<HeaderValue>,
    trust: Option<TlsConnector>,
}

/// A whole answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) location: Option<String>,
    pub(crate) body: Bytes,
}

/// An open connection.
pub(crate) struct Connection {
    server: Server,
    sender: SendRequest<Full<Bytes>>,
}

impl Server {
    /// The server at an address; `authority` is whom to trust beyond what the system does not know.
    pub(crate) fn new(
        address: Address,
        token: Option<&str>,
        authority: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let host = HeaderValue::from_str(&address.authority)?;
        let token = token.map(|token| {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
                .or_exit(Exit::Denied, || "the token has characters that no token has".into())?;
            value.set_sensitive(true);
            Ok::<_, anyhow::Error>(value)
        });
        let trust = address.encrypted.then(|| connect::trust(authority));
        Ok(Self { host, token: token.transpose()?, trust: trust.transpose()?, address })
    }

    pub(crate) async fn connect(&self) -> anyhow::Result<Connection> {
        let io = connect::connect(&self.address, self.trust.as_ref()).await?;
        let (sender, connection) = http1::handshake(io).await?;
        // It ends with the sender, or with the server; either way the next request says so.
        tokio::spawn(connection);
        Ok(Connection { server: self.clone(), sender })
    }

    /// One request on a connection of its own. Anything but success is an error in the server's words.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: &str,
    ) -> anyhow::Result<String> {
        let mut connection = self.connect().await?;
        let request = connection.request(method, path, Bytes::copy_from_slice(body.as_bytes()));
        let answer = tokio::time::timeout(PATIENCE, connection.send(request)).await;
        let answer =
            answer.or_exit(Exit::Unavailable, || format!("{} does not answer", self.address))??;
        if answer.status.is_success() {
            return String::from_utf8(answer.body.into())
                .or_exit(Exit::Unavailable, || self.is_something_else());
        }
        Err(self.refusal(answer.status, &answer.body))
    }

    /// What the server said instead of yes.
    pub(crate) fn refusal(&self, status: StatusCode, body: &[u8]) -> anyhow::Error {
        let problem: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(detail) = problem["detail"].as_str() else {
            return Exit::Unavailable
                .because(format!("{} (HTTP {status})", self.is_something_else()));
        };
        let detail = crate::out::plain(detail);
        match status.as_u16() {
            401 | 403 => Exit::Denied.because(format!(
                "{detail}; name a token with --token-file, TENURE_TOKEN_FILE or TENURE_TOKEN"
            )),
            429 | 500.. => Exit::Unavailable.because(format!("{detail}; try again")),
            _ => Exit::Refused.because(detail),
        }
    }

    fn is_something_else(&self) -> String {
        format!("{} is not a Tenure server: check --at or TENURE_URL", self.address)
    }
}

impl Connection {
    /// A request to this server.
    pub(crate) fn request(&self, method: Method, path: &str, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        let path = match self.server.address.base.is_empty() {
            true => path.parse(),
            false => format!("{}{path}", self.server.address.base).parse(),
        };
        // Paths are made from encoded names and from what this server told.
        *request.uri_mut() = path.unwrap_or_default();
        let headers = request.headers_mut();
        headers.insert(HOST, self.server.host.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(token) = &self.server.token {
            headers.insert(AUTHORIZATION, token.clone());
        }
        request
    }

    /// Sends a request and reads the head of its answer.
    pub(crate) async fn open(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> anyhow::Result<Response<Incoming>> {
        let address = &self.server.address;
        self.sender.ready().await.or_exit(Exit::Unavailable, || format!("{address} hung up"))?;
        let answer = self.sender.send_request(request).await;
        answer.or_exit(Exit::Unavailable, || format!("{address} did not answer"))
    }

    /// Sends a request and reads its answer.
    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> anyhow::Result<Answer> {
        let answer = self.open(request).await?;
        let status = answer.status();
        let location = answer.headers().get("location").and_then(|value| value.to_str().ok());
        let location = location.map(str::to_owned);
        let body = answer.into_body().collect().await;
        let body = body
            .context("the answer broke off")
            .or_exit(Exit::Unavailable, || format!("{} hung up", self.server.address))?;
        Ok(Answer { status, location, body: body.to_bytes() })
    }

    /// The server at the other end.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }
}
