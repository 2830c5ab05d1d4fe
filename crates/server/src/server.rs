//! One server: what all its connections share, and the way from a request to its answer.

use std::net::SocketAddr;
use std::sync::Arc;

use claims::wire::{Media, Problem};
use hyper::body::Bytes;
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request};
use registry::{Store, StoreError};
use tokio::sync::{Semaphore, watch};

use crate::answer::{Answer, not_allowed, options, problem};
use crate::bell::Bell;
use crate::body;
use crate::config::Config;
use crate::keys::KeyMaker;
use crate::metrics::Metrics;
use crate::route::Route;
use crate::{gate, health, openapi, v1};

/// A lock server over a store.
pub struct Server {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) config: Config,
    pub(crate) bell: Arc<Bell>,
    pub(crate) keys: KeyMaker,
    pub(crate) metrics: Metrics,
    pub(crate) streams: Arc<Semaphore>,
    closing: watch::Sender<bool>,
    /// What addresses begin with if a request does not say.
    base: String,
}

impl Server {
    /// A server that will be found at `address`.
    pub fn new(store: Arc<dyn Store>, config: Config, address: SocketAddr) -> Self {
        Self {
            store,
            streams: Arc::new(Semaphore::new(config.streams_max)),
            config,
            bell: Arc::default(),
            keys: KeyMaker::default(),
            metrics: Metrics::default(),
            closing: watch::Sender::new(false),
            base: format!("http://{address}"),
        }
    }

    /// Answers one request. Everything is answered, in JSON.
    pub async fn handle<B>(self: &Arc<Self>, request: Request<B>) -> Answer
    where
        B: hyper::body::Body<Data = Bytes>,
    {
        let answer = match self.answer(request).await {
            Ok(answer) => answer,
            Err(trouble) => problem(&trouble),
        };
        self.metrics.answered(answer.status());
        answer
    }

    async fn answer<B>(self: &Arc<Self>, request: Request<B>) -> Result<Answer, Problem>
    where
        B: hyper::body::Body<Data = Bytes>,
    {
        let (head, body) = request.into_parts();
        let host = gate::host(&self.config, &head.uri, &head.headers)?;
        gate::origin(&head.method, &head.headers)?;
        let Some(route) = Route::of(head.uri.path()) else {
            let detail = "there is nothing at this address; claims are at /v1/claims/";
            return Err(Problem::new(404, "Nothing here", detail));
        };
        let base = match host {
            Some(host) => format!("http://{host}"),
            None => self.base.clone(),
        };
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let asked = Asked {
            server: self,
            base: &base,
            query: head.uri.query().unwrap_or(""),
            headers: &head.headers,
            media: Media::of(content_type),
        };
        let body = body::read(body, self.config.body_bytes_max, self.config.body_for);
        match (&head.method, route) {
            (&Method::POST, Route::Claims) => v1::register(&asked, &body.await?).await,
            (&Method::PATCH, Route::Claim(piece)) => v1::change(&asked, piece, &body.await?).await,
            (&Method::POST, Route::Renewals) => v1::renew_many(&asked, &body.await?).await,
            (&Method::OPTIONS, _) => Ok(options(route.allow())),
            (&Method::GET | &Method::HEAD, route) => self.look(&asked, route).await,
            _ => Ok(not_allowed(route.allow())),
        }
    }

    async fn look(&self, asked: &Asked<'_>, route: Route<'_>) -> Result<Answer, Problem> {
        match route {
            Route::Claims => v1::list(asked).await,
            Route::Claim(piece) => v1::show(asked, piece).await,
            Route::Resources => v1::resources(asked).await,
            Route::Resource(name) => v1::resource(asked, name).await,
            Route::Events => v1::events(asked).await,
            Route::Live => Ok(health::live()),
            Route::Ready => health::ready(self).await,
            Route::Metrics => self.metrics.page(&*self.store).await.map_err(unavailable),
            Route::OpenApi => Ok(openapi::told(&self.config)),
            Route::Renewals => Ok(not_allowed(route.allow())),
        }
    }

    /// Begins to stop: open waits are answered, and nothing waits from now on.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// Returns when the server begins to stop.
    pub(crate) async fn closing(&self) {
        // The sender is in this very struct: it cannot be gone.
        let _ = self.closing.subscribe().wait_for(|closing| *closing).await;
    }
}

/// A request, as far as all answers need it.
pub(crate) struct Asked<'a> {
    pub(crate) server: &'a Arc<Server>,
    /// What addresses begin with.
    pub(crate) base: &'a str,
    pub(crate) query: &'a str,
    pub(crate) headers: &'a hyper::HeaderMap,
    pub(crate) media: Media,
}

/// An accident in the store: never the client's fault, always worth another try.
pub(crate) fn unavailable(error: StoreError) -> Problem {
    match &error {
        StoreError::Corrupt(_) => tracing::error!(%error, "the store is damaged"),
        StoreError::Conflict | StoreError::Unavailable(_) => {
            tracing::warn!(%error, "the store is not available");
        }
    }
    Problem::unavailable(error.to_string())
}
