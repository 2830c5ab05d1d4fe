//! One server: what all its connections share, and the way from a request to its answer.

use std::net::SocketAddr;
use std::sync::Arc;

use claims::Verb;
use claims::wire::{Media, Problem};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request};
use registry::{Store, StoreError};
use tokio::sync::{Mutex, Semaphore, watch};

use crate::access::{Caller, authenticate};
use crate::answer::{Answer, not_allowed, options, problem};
use crate::asked::Asked;
use crate::audit::{Denied, Origin};
use crate::body;
use crate::config::Config;
use crate::faces::ids;
use crate::keys::KeyMaker;
use crate::metrics::Metrics;
use crate::route::Route;
use crate::unread::Unread;
use crate::{gate, health, openapi, v1};

/// A lock server over a store.
pub struct Server {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) config: Config,
    pub(crate) keys: KeyMaker,
    pub(crate) metrics: Metrics,
    pub(crate) streams: Arc<Semaphore>,
    unread: Unread,
    /// Records of operations are read and changed by one request at a time.
    pub(crate) operations: Mutex<()>,
    closing: watch::Sender<bool>,
    /// What addresses begin with: `http` or `https`.
    scheme: &'static str,
    /// The host in addresses if a request does not say.
    address: String,
}

impl Server {
    /// A server that will be found at `address`.
    pub fn new(store: Arc<dyn Store>, config: Config, address: SocketAddr) -> Self {
        let scheme = if config.tls.is_some() { "https" } else { "http" };
        Self {
            store,
            streams: Arc::new(Semaphore::new(config.streams_max)),
            unread: Unread::new(config.unread_bytes_max),
            config,
            keys: KeyMaker::default(),
            metrics: Metrics::default(),
            operations: Mutex::default(),
            closing: watch::Sender::new(false),
            scheme,
            address: address.to_string(),
        }
    }

    /// Answers one request that came from within. Everything is answered, in JSON.
    pub async fn handle<B>(self: &Arc<Self>, request: Request<B>) -> Answer
    where
        B: hyper::body::Body<Data = Bytes>,
    {
        self.handle_from(None, request).await
    }

    /// Answers one request that came from this address.
    pub(crate) async fn handle_from<B>(
        self: &Arc<Self>,
        peer: Option<SocketAddr>,
        request: Request<B>,
    ) -> Answer
    where
        B: hyper::body::Body<Data = Bytes>,
    {
        let origin = self.origin(peer);
        let speaks_ids = Route::of(request.uri().path()).is_some_and(Route::is_ids);
        let answer = match self.answer(origin, request).await {
            Ok(answer) => answer,
            Err(trouble) if speaks_ids => problem(&ids::worded(trouble)),
            Err(trouble) => problem(&trouble),
        };
        self.sign(origin, answer)
    }

    /// Where a request comes from, with a number of its own if requests are written down.
    pub(crate) fn origin(&self, peer: Option<SocketAddr>) -> Origin {
        let request = self.config.audit.as_ref().map_or(0, |audit| audit.next_request());
        Origin { peer, request }
    }

    /// Counts an answer, and says which request it is for.
    pub(crate) fn sign(&self, origin: Origin, mut answer: Answer) -> Answer {
        self.metrics.answered(answer.status());
        if let Some(audit) = &self.config.audit
            && let Some(name) = audit.request_name(origin.request)
            && let Ok(name) = HeaderValue::try_from(name)
        {
            answer.headers_mut().insert("x-request-id", name);
        }
        answer
    }

    /// Whether this may come in at all, and who it is. What is sent away here costs no body.
    fn admit<'a>(&self, origin: Origin, head: &'a Parts) -> Result<Admitted<'a>, Problem> {
        let admitted = || {
            gate::said_once(&head.headers)?;
            let host = gate::host(&self.config, &head.uri, &head.headers)?;
            gate::origin(&head.method, &head.headers)?;
            let route = Route::of(head.uri.path());
            let (caller, password) = match route {
                Some(route) if !route.is_open() => {
                    let session = route.is_ids().then(|| ids::session(head.uri.query())).flatten();
                    authenticate(&self.config, &head.headers, session.as_deref())?
                }
                _ => (Caller::Anybody, None),
            };
            Ok(Admitted { host, route, caller, password })
        };
        admitted().inspect_err(|problem: &Problem| {
            self.denied(&Denied {
                caller: None,
                origin,
                verb: None,
                claim: None,
                resources: &[],
                status: problem.status,
                why: problem.title(),
            });
        })
    }

    /// Writes a denied request down, if anybody wants to know.
    pub(crate) fn denied(&self, denied: &Denied<'_>) {
        if let Some(audit) = &self.config.audit {
            audit.denied(denied);
        }
    }

    async fn answer<B>(
        self: &Arc<Self>,
        origin: Origin,
        request: Request<B>,
    ) -> Result<Answer, Problem>
    where
        B: hyper::body::Body<Data = Bytes>,
    {
        let (head, body) = request.into_parts();
        let Admitted { host, route, caller, password } = self.admit(origin, &head)?;
        let Some(route) = route else {
            let detail = "there is nothing at this address; claims are at /v1/claims/";
            return Err(Problem::new(404, "Nothing here", detail));
        };
        let host = host.unwrap_or(&self.address);
        let base = format!("{}://{host}", self.scheme);
        let own_base = password.map(|password| format!("{}://{password}@{host}", self.scheme));
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let asked = Asked {
            server: self,
            caller: &caller,
            origin,
            base: &base,
            own_base: own_base.as_deref().unwrap_or(&base),
            query: head.uri.query().unwrap_or(""),
            headers: &head.headers,
            media: Media::of(content_type),
        };
        let body = body::read(body, self.config.body_bytes_max, self.config.body_for);
        // What takes more room than a claim is apart: nobody who waits for a turn should keep room for it.
        match (&head.method, route) {
            (&Method::POST, Route::Claims) => v1::register(&asked, &body.await?).await,
            (&Method::PATCH, Route::Claim(piece)) => v1::change(&asked, piece, &body.await?).await,
            (&Method::POST, Route::Renewals) => v1::renew_many(&asked, &body.await?).await,
            (&Method::POST, Route::IdsLocks) => Box::pin(ids::lock(&asked, &body.await?)).await,
            (&Method::PATCH, Route::IdsLock(lock)) => ids::renew(&asked, lock, &body.await?).await,
            (&Method::DELETE, Route::IdsLock(lock)) => ids::release(&asked, lock).await,
            (&Method::POST, Route::IdsOperations) => {
                Box::pin(ids::request(&asked, &body.await?)).await
            }
            (&Method::POST, Route::IdsWork) => Box::pin(ids::work(&asked, &body.await?)).await,
            (&Method::PATCH, Route::IdsJob(lock)) => {
                Box::pin(ids::finish(&asked, lock, &body.await?)).await
            }
            (&Method::OPTIONS, _) => Ok(options(route.allow())),
            (&Method::GET | &Method::HEAD, route) => {
                let seen = self.look(&asked, route).await?;
                self.unread.let_out(seen)
            }
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
            Route::Metrics => {
                // Figures are about everybody's claims.
                asked.demand_everything(Verb::Read)?;
                self.metrics.page(&*self.store).await.map_err(unavailable)
            }
            Route::OpenApi => Ok(openapi::told(&self.config)),
            Route::IdsStatus => ids::status(asked).await,
            Route::IdsPing => Ok(ids::ping()),
            Route::IdsVersion => Ok(ids::version()),
            Route::Renewals
            | Route::IdsLocks
            | Route::IdsLock(_)
            | Route::IdsOperations
            | Route::IdsWork
            | Route::IdsJob(_) => Ok(not_allowed(route.allow())),
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

/// A request that may come in.
struct Admitted<'a> {
    host: Option<&'a str>,
    /// None if it leads nowhere.
    route: Option<Route<'a>>,
    caller: Caller,
    /// What the caller's own addresses carry.
    password: Option<String>,
}

/// An accident in the store: never the client's fault, always worth another try.
pub(crate) fn unavailable(error: StoreError) -> Problem {
    match &error {
        StoreError::Corrupt(_) => tracing::error!(%error, "the store is damaged"),
        StoreError::Conflict | StoreError::Unavailable(_) | StoreError::Unknown(_) => {
            tracing::warn!(%error, "the store is not available");
        }
    }
    Problem::unavailable(error.to_string())
}
