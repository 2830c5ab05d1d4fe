//! Reservations as CloudShell's clients see them: a service in a reservation is a claim.
//!
//! | in CloudShell | here |
//! |---|---|
//! | a reservation | an exclusive claim on `reservation/<id>`, for as long as it was reserved |
//! | a service in it | an exclusive claim on `reservation/<id>/<alias>`, until it is removed |
//! | attributes set later | a claim on `attributes/<id>/<alias>`, beside it |
//! | a session | a claim on `session/<user>`, beside that user's others; its handle is the token |
//!
//! So all of it survives a restart, shows in `tenure why`, and can be revoked. What is in here is
//! the protocol; who may hold is decided where it always is.

mod config;
mod line;

mod answer;
mod call;
mod refusal;
mod xml;

mod attributes;
mod details;
mod guest;
mod hearing;
mod names;
mod resend;
mod reservation;
mod service;
mod session;
mod watch;

pub use self::config::{Cloudshell, LongestHold, User};
pub(crate) use self::hearing::hear;
pub(crate) use self::line::{Ending, Line};
pub(crate) use self::watch::follow;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use claims::wire::Problem;
use claims::{Command, Refusal, Standing};
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONNECTION, HeaderMap};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode, Version};
use registry::StoreError;
use tokio::sync::Semaphore;

use self::answer::{Told, response};
use self::call::Call;
use self::guest::Guest;
use self::names::Id;
use self::refusal::No;
use self::resend::{Over, Resends};
use crate::access::Caller;
use crate::answer::Answer;
use crate::audit::{Act, Denied, Origin};
use crate::body;
use crate::gate;
use crate::server::Server;
use crate::threads;

/// Where the calls are.
const PATH: &str = "/ResourceManagerApiService/";
/// How many changes of different reservations may be under way at once.
const DOORS: usize = 64;
/// Each password that is looked at takes 19 MiB and a moment of one processor.
const LOGONS_AT_ONCE: usize = 2;

/// The face: what all its connections share.
pub(crate) struct Face {
    server: Arc<Server>,
    config: Cloudshell,
    resends: Mutex<Resends>,
    /// One change at a time in a reservation; several reservations may share a door.
    doors: [tokio::sync::Mutex<()>; DOORS],
    logons: Semaphore,
}

impl Face {
    pub(crate) async fn open(server: Arc<Server>, config: Cloudshell) -> Result<Self, StoreError> {
        let began = server.store.vitals().await?.now;
        Ok(Self {
            server,
            config,
            resends: Mutex::new(Resends::since(began)),
            doors: std::array::from_fn(|_| tokio::sync::Mutex::default()),
            logons: Semaphore::new(LOGONS_AT_ONCE),
        })
    }

    /// Answers one request of this connection.
    pub(crate) async fn handle<B>(
        self: &Arc<Self>,
        peer: SocketAddr,
        line: &Arc<Line>,
        request: Request<B>,
    ) -> Answer
    where
        B: hyper::body::Body<Data = Bytes>,
    {
        let origin = self.server.origin(Some(peer));
        let nth = line.request();
        let (head, body) = request.into_parts();
        if ends_its_connection(&head) {
            // Its end will say nothing about whether the answer arrived.
            line.end(Ending::Closed);
        }
        let method = head.uri.path().trim_start_matches('/');
        let method = method.strip_prefix(&PATH[1..]).unwrap_or("");
        let told = match self.admit(origin, &head, method) {
            Ok(()) => {
                let limits = &self.server.config;
                match body::read(body, limits.body_bytes_max, limits.body_for).await {
                    Ok(body) => {
                        let over = (line.clone(), nth);
                        let visit = Visit::new(origin, over, &head.headers, method);
                        self.carry_out(visit, body).await
                    }
                    Err(problem) => Err(No::unreadable(problem.detail())),
                }
            }
            Err(no) => Err(no),
        };
        self.server.sign(origin, response(method, told))
    }

    /// Whether this may come in at all. Clients read the words of an answer only if its status is
    /// 200; what is sent away here does not come from one.
    fn admit(&self, origin: Origin, head: &Parts, method: &str) -> Result<(), No> {
        let admitted = gate::said_once(&head.headers)
            .and_then(|()| gate::host(&self.server.config, &head.uri, &head.headers))
            .and_then(|_| gate::origin(&head.method, &head.headers));
        if let Err(problem) = admitted {
            self.denied(origin, None, &problem);
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::FORBIDDEN);
            return Err(No::because(problem.detail()).with_status(status));
        }
        if method.is_empty() {
            let said = format!("There is nothing at this address; calls are below {PATH}");
            return Err(No::because(said).with_status(StatusCode::NOT_FOUND));
        }
        if head.method != Method::POST {
            let said = "A call is sent with POST";
            return Err(No::because(said).with_status(StatusCode::METHOD_NOT_ALLOWED));
        }
        Ok(())
    }

    /// Carries out a call to its end, also if its client hangs up meanwhile: what was begun must
    /// not stay half done, and who sends it again has to find out.
    async fn carry_out(self: &Arc<Self>, visit: Visit, body: Bytes) -> Result<Told, No> {
        let face = self.clone();
        let work = tokio::spawn(async move {
            let call = Call::read(&visit.method, &body)?;
            visit.dispatch(&face, &call).await
        });
        // It is never aborted, so this is a panic: it goes on where it belongs.
        work.await.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
    }

    /// Asks the store, with the name of whoever asks left for the audit log.
    async fn submit(
        &self,
        caller: &Caller,
        origin: Origin,
        command: Command,
    ) -> Result<Result<Standing, Refusal>, No> {
        let server = &self.server;
        let audit = server.config.audit.as_ref();
        let _asking = audit.map(|audit| audit.enter(Act::of(&command), caller, origin));
        let answer = threads::bell().wait_for(server.store.submit(command)).await?;
        Ok(answer.inspect_err(|refusal| server.metrics.refused(refusal)))
    }

    /// The door of a reservation: one change at a time goes through it.
    fn door(&self, id: &Id) -> &tokio::sync::Mutex<()> {
        &self.doors[usize::from(blake3::hash(id.as_str().as_bytes()).as_bytes()[0]) % DOORS]
    }

    fn resends(&self) -> MutexGuard<'_, Resends> {
        self.resends.lock().expect("remembering does not panic")
    }

    fn denied(&self, origin: Origin, caller: Option<&str>, problem: &Problem) {
        let (status, why) = (problem.status, problem.title());
        let (verb, claim, resources) = (None, None, &[][..]);
        self.server.denied(&Denied { caller, origin, verb, claim, resources, status, why });
    }
}

/// A request, as far as its call needs it.
struct Visit {
    origin: Origin,
    over: Over,
    method: String,
    token: String,
    machine: String,
}

impl Visit {
    fn new(origin: Origin, over: Over, headers: &HeaderMap, method: &str) -> Self {
        let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or("");
        let field = |name: &str| {
            let mut fields = shown.split(';').filter_map(|field| field.trim().split_once('='));
            fields.find(|(key, _)| *key == name).map_or("", |(_, value)| value).to_owned()
        };
        let (token, machine) = (field("Token"), field("MachineName"));
        Self { origin, over, method: method.into(), token, machine }
    }

    async fn dispatch(&self, face: &Face, call: &Call) -> Result<Told, No> {
        match self.method.as_str() {
            "Logon" => return session::logon(face, self, call).await,
            "SecureLogon" => return session::secure_logon(face, self, call).await,
            _ => {}
        }
        let guest = Guest::admit(face, self, &self.token).await?;
        face.resends().asks(guest.session, guest.now, &self.over.0);
        if self.method == "AddServiceToReservation" {
            return service::add(&guest, call).await;
        }
        face.resends().another_call(guest.session, guest.now);
        match self.method.as_str() {
            "Logoff" => session::logoff(&guest).await,
            "CreateImmediateReservation" => reservation::create(&guest, call).await,
            "EndReservation" => reservation::end(&guest, call).await,
            "GetReservationStatus" => reservation::status(&guest, call).await,
            "WriteMessageToReservationOutput" => reservation::write_message(&guest, call).await,
            "GetReservationDetails" => details::details(&guest, call).await,
            "RemoveServicesFromReservation" => service::remove(&guest, call).await,
            "SetServiceAttributesValues" => attributes::set(&guest, call).await,
            other => Err(No::because(format!("{other} is not among the calls that Tenure serves"))),
        }
    }
}

/// Whether the connection ends with this request, whatever becomes of the answer.
fn ends_its_connection(head: &Parts) -> bool {
    let says = |value: &hyper::header::HeaderValue| {
        value.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("close"))
    };
    head.version < Version::HTTP_11 || head.headers.get_all(CONNECTION).iter().any(says)
}
