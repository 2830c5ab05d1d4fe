//! The calls over HTTP: log on, log on again when the token is not known any more, and no call twice.

use std::fmt;
use std::time::Duration;

use futures_util::TryStreamExt;
use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use tokio::sync::Mutex;

use super::xml::Element;
use crate::Fault;
use crate::last_writer::host_name;

/// An answer longer than this is not read.
const BYTES_MAX: usize = 16 << 20;

/// Where the service is, and who we are there.
#[derive(Clone)]
pub struct Login {
    /// Such as `http://host:8029`.
    pub endpoint: String,
    /// The user.
    pub user: String,
    /// Its password.
    pub password: String,
    /// Its domain, `Global` for most.
    pub domain: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Login({} at {})", self.user, self.endpoint)
    }
}

/// A connection that is logged on when it needs to be.
pub(super) struct Client {
    http: reqwest::Client,
    login: Login,
    token: Mutex<String>,
}

impl Client {
    pub(super) fn new(login: Login) -> Result<Self, Fault> {
        let http = reqwest::Client::builder()
            .timeout(Duration::from_secs(30))
            // A call sent twice is a lock that refuses itself.
            .retry(reqwest::retry::never())
            .build()
            .map_err(|error| Fault::Address(error.to_string()))?;
        Ok(Self { http, login, token: Mutex::new(String::new()) })
    }

    /// Makes the call. A token that is not known any more costs one more logon.
    pub(super) async fn call(&self, name: &'static str, call: &Element) -> Result<Element, Fault> {
        let mut token = self.token.lock().await;
        for _ in 0..2 {
            if token.is_empty() {
                *token = self.log_on().await?;
            }
            match self.post(name, call, &token).await? {
                Some(answer) => return Ok(answer),
                None => token.clear(),
            }
        }
        Err(Fault::Service("it does not know the token that it has just given".into()))
    }

    async fn log_on(&self) -> Result<String, Fault> {
        let call = Element::new("Logon")
            .with(Element::text("username", &self.login.user))
            .with(Element::text("password", &self.login.password))
            .with(Element::text("domainName", &self.login.domain));
        let answer = self.post("Logon", &call, "").await?;
        let token = answer.as_ref().and_then(|answer| answer.find("Token")?.field("Token"));
        match token {
            Some(token) if !token.is_empty() => Ok(token.to_owned()),
            Some(_) | None => Err(Fault::Refused {
                call: "Logon",
                why: "it gave no token".into(),
                code: "401".into(),
            }),
        }
    }

    /// One request. Nothing, if the token is not known.
    async fn post(
        &self,
        name: &'static str,
        call: &Element,
        token: &str,
    ) -> Result<Option<Element>, Fault> {
        let mut body = String::new();
        call.write(&mut body);
        let base = self.login.endpoint.trim_end_matches('/');
        let machine = host_name();
        let port = base.rsplit(':').next().filter(|port| port.parse::<u16>().is_ok());
        let authorization =
            format!("MachineName={machine}:{};Token={token}", port.unwrap_or("8029"));
        let request = self
            .http
            .post(format!("{base}/ResourceManagerApiService/{name}"))
            .header(CONTENT_TYPE, "text/xml")
            .header("ClientTimeZoneId", "UTC")
            .header("DateTimeFormat", "MM/dd/yyyy HH:mm")
            .header(AUTHORIZATION, authorization)
            .body(body);
        let unanswered = |error: reqwest::Error| Fault::Service(said(&error));
        let answer = request.send().await.map_err(unanswered)?;
        let status = answer.status();
        if status == StatusCode::UNAUTHORIZED && name != "Logon" {
            return Ok(None);
        }
        let mut text = Vec::new();
        let mut parts = answer.bytes_stream();
        while let Some(part) = parts.try_next().await.map_err(unanswered)? {
            text.extend_from_slice(&part);
            if text.len() > BYTES_MAX {
                return Err(Fault::Service("its answer is too long".into()));
            }
        }
        if !status.is_success() {
            return Err(Fault::Service(format!("{name} was answered with {status}")));
        }
        understand(name, &String::from_utf8_lossy(&text)).map(Some)
    }
}

fn understand(call: &'static str, text: &str) -> Result<Element, Fault> {
    let answer = Element::read(text)
        .map_err(|why| Fault::Service(format!("the answer to {call} is not XML: {why}")))?;
    let success = answer.field("Success").unwrap_or("").to_ascii_lowercase();
    if ["true", "yes", "on"].contains(&success.as_str()) {
        return Ok(answer);
    }
    let why = answer.field("Error").unwrap_or("it says no and not why").to_owned();
    let code = answer.field("ErrorCode").unwrap_or("none").to_owned();
    Err(Fault::Refused { call, why, code })
}

/// The whole story of an error, which reqwest keeps in pieces.
fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text += &format!(": {inner}");
        source = inner.source();
    }
    text
}
