//! One request and its answer: over HTTP, through one pool of connections, or at a store without a
//! server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use claims::Span;
use claims::claimant::Class;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER,
};
use hyper::{Method, Request};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::driver::Settings;
use crate::place::{ConnectError, Place};

/// Longer answers are not from a lock server.
const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Less than the 30 s after which a server closes a connection that is silent.
const IDLE_FOR: Duration = Duration::from_secs(20);
const CONNECT_FOR: Duration = Duration::from_secs(5);

/// The way to where claims are kept.
#[derive(Debug, Clone)]
pub(crate) enum Exchange {
    Http(Box<Http>),
    #[cfg(feature = "store")]
    Store(crate::direct::Direct),
}

/// The way to a lock server.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    place: Place,
    token: Option<HeaderValue>,
}

/// An answer that came.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) retry_after: Option<Span>,
    pub(crate) body: Bytes,
}

/// Why no answer came.
#[derive(Debug)]
pub(crate) struct Silence {
    /// Whether the request may have arrived all the same.
    pub(crate) class: Class,
    /// What happened, for people.
    pub(crate) why: String,
}

impl Exchange {
    pub(crate) fn with(settings: &Settings) -> Result<Self, ConnectError> {
        #[cfg(feature = "store")]
        if let Some(url) = settings.place.store() {
            return Ok(Self::Store(crate::direct::Direct::at(url, &settings.place.to_string())));
        }
        Http::with(settings).map(|http| Self::Http(Box::new(http)))
    }

    /// Asks, and reads the whole answer. No answer is waited for here: whoever asks knows how long.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        json: String,
    ) -> Result<Reply, Silence> {
        match self {
            Self::Http(http) => http.ask(method, path, json).await,
            #[cfg(feature = "store")]
            Self::Store(direct) => direct.ask(&method, path, &json).await,
        }
    }
}

impl Http {
    fn with(settings: &Settings) -> Result<Self, ConnectError> {
        let place = settings.place.clone();
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_FOR));
        tcp.set_keepalive(Some(Duration::from_secs(15)));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls(&place, settings.ca_file.as_deref())?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_FOR)
            .pool_timer(TokioTimer::new())
            .build(connector);
        let token = settings.token.as_deref().map(bearer).transpose()?;
        Ok(Self { client, place, token })
    }

    async fn ask(&self, method: Method, path: &str, json: String) -> Result<Reply, Silence> {
        let mut request = Request::new(Full::new(Bytes::from(json)));
        *request.method_mut() = method;
        *request.uri_mut() = self.place.uri(path);
        let headers = request.headers_mut();
        let json = HeaderValue::from_static("application/json");
        headers.insert(ACCEPT, json.clone());
        headers.insert(CONTENT_TYPE, json);
        if let Some(token) = &self.token {
            headers.insert(AUTHORIZATION, token.clone());
        }
        let answer = self.client.request(request).await.map_err(|error| {
            let class = if error.is_connect() { Class::NotSent } else { Class::Unknown };
            Silence { class, why: told(&self.place, &error) }
        })?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| Silence {
            class: Class::Unknown,
            why: format!("the answer of {} broke off: {error}", self.place),
        })?;
        Ok(Reply {
            status: head.status.as_u16(),
            location: text(&head.headers, LOCATION.as_str()),
            retry_after: text(&head.headers, RETRY_AFTER.as_str())
                .and_then(|secs| secs.trim().parse().ok())
                .map(Span::from_secs),
            body: body.to_bytes(),
        })
    }
}

/// The authorities that are named, or else those that the system trusts. Nobody who speaks plain HTTP has to have any, or to wait
/// until they are read.
fn tls(place: &Place, ca_file: Option<&Path>) -> Result<ClientConfig, ConnectError> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = ca_file.filter(|_| place.is_encrypted()) {
        named(file, &mut roots)
            .map_err(|why| ConnectError::Authority { file: file.to_owned(), why })?;
    } else if place.is_encrypted() {
        let found = rustls_native_certs::load_native_certs();
        let (known, _) = roots.add_parsable_certificates(found.certs);
        if known == 0 {
            let why = found
                .errors
                .first()
                .map_or("none are installed".to_owned(), |error| format!("{error}"));
            return Err(ConnectError::NoAuthorities(why));
        }
    }
    // The provider of this crate's own, whatever else the program uses.
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectError::System(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// Trusts those in the file, which must be some.
fn named(file: &Path, roots: &mut RootCertStore) -> Result<(), String> {
    for found in CertificateDer::pem_file_iter(file).map_err(|error| error.to_string())? {
        let found = found.map_err(|error| error.to_string())?;
        roots.add(found).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() { Err("there is no certificate in it".into()) } else { Ok(()) }
}

fn bearer(token: &str) -> Result<HeaderValue, ConnectError> {
    let value = HeaderValue::from_str(&format!("Bearer {}", token.trim()));
    let mut value = value.map_err(|_| ConnectError::Token)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The whole chain of reasons: "connection refused" is the last of them.
fn told(place: &Place, error: &hyper_util::client::legacy::Error) -> String {
    let mut why = format!("{place} does not answer");
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        why = format!("{why}: {error}");
        cause = error.source();
    }
    why
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}
