//! A server without a socket, over a store in memory, that is the same for every input.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use claims::{Claim, ClaimId, Fence, Phase, Rules, Status};
use hyper::Request;
use hyper::body::Bytes;
use registry::fuzzing::{Alone, Moment};
use registry::{Filter, Page, Store};
use server::{AdminToken, Body, Config, Server, TokenFile, Tokens};
use tokio::runtime::Runtime;

use crate::targets::reservations::log_on;
use crate::told::Told;

/// The keys of the claims that are there.
pub(crate) const KEYS: [&str; 5] = [
    "key-of-claim-number-01",
    "key-of-claim-number-02",
    "key-of-claim-number-03",
    "key-of-claim-number-04",
    "key-of-claim-number-05",
];
/// The administrator's token.
pub(crate) const ADMINISTRATOR: &str = "the-administrator-s-token";
/// May do everything, may do something, and could do everything until it ended.
pub(crate) const TOKENS: [(&str, &str, &str); 3] = [
    ("tenure_aaaaaaaaaaaa_s", r#"["all:*"]"#, "null"),
    ("tenure_bbbbbbbbbbbb_s", r#"["read,claim:held","read:shared"]"#, "null"),
    ("tenure_cccccccccccc_s", r#"["all:*"]"#, "1"),
];

/// What a house is like.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Nothing is claimed yet.
    Empty,
    /// A holder, a waiter, two that share, and one that is over.
    Lived,
    /// The same, and nobody is let in without a token.
    Guarded,
    /// Nothing is claimed but the session of a client of CloudShell.
    Reserving,
}

pub(crate) struct House {
    pub(crate) server: Arc<Server>,
    store: Arc<Alone>,
    /// How many events there were when it was ready.
    pub(crate) events: u64,
    is_lived_in: bool,
    /// The token of the session, if there is one.
    pub(crate) session: String,
    config: Config,
    /// How everything was when it was ready.
    ready: Moment,
}

thread_local! {
    static RUNTIME: OnceCell<Runtime> = const { OnceCell::new() };
    /// Houses that nothing has happened in: to build one takes longer than most visits.
    static READY: [Cell<Option<House>>; 4] = const { [const { Cell::new(None) }; 4] };
}

/// Visits a house. If something changed in there, it is as before for the next visitor.
pub(crate) fn visit(kind: Kind, visit: impl AsyncFnOnce(&House)) {
    RUNTIME.with(|runtime| {
        let runtime = runtime.get_or_init(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            runtime.expect("a runtime can be made")
        });
        runtime.block_on(async {
            let mut house = match READY.with(|ready| ready[kind as usize].take()) {
                Some(house) => house,
                None => House::build(kind).await,
            };
            visit(&house).await;
            if house.events().await != house.events {
                house.store.restore(&house.ready);
                house.server = server(&house.store, &house.config);
            }
            READY.with(|ready| ready[kind as usize].set(Some(house)));
        });
    });
}

fn server(store: &Arc<Alone>, config: &Config) -> Arc<Server> {
    let address = "127.0.0.1:7117".parse().expect("an address");
    Arc::new(Server::new(store.clone(), config.clone(), address))
}

impl House {
    async fn build(kind: Kind) -> Self {
        let rules = Rules { queue_max: 3, ..Rules::default() };
        let store = Arc::new(Alone::new(rules));
        let config = Config {
            admin: Some(AdminToken::of(ADMINISTRATOR)),
            // Waits are tried, but nobody waits for long.
            wait_for_max: Duration::from_micros(1),
            ..Config::default()
        };
        let is_lived_in = matches!(kind, Kind::Lived | Kind::Guarded);
        let (server_now, ready, session) = (server(&store, &config), store.moment(), String::new());
        let mut house =
            Self { server: server_now, store, events: 0, is_lived_in, session, config, ready };
        if is_lived_in {
            house.furnish().await;
        }
        if matches!(kind, Kind::Reserving) {
            house.session = log_on(&house.server).await;
        }
        if matches!(kind, Kind::Guarded) {
            house.config.tokens = Some(Arc::new(tokens()));
            house.server = server(&house.store, &house.config);
        }
        house.events = house.events().await;
        house.ready = house.store.moment();
        house
    }

    async fn furnish(&self) {
        let claims = [("held", 1), ("held", 1), ("shared", 2), ("shared", 2), ("over", 1)];
        for (key, (name, limit)) in KEYS.iter().zip(claims) {
            let claim = format!(
                r#"{{"resource":"{name}","ttl":1000000,"limit":{limit},"key":"{key}","user_data":[7]}}"#
            );
            let told = self.ask("POST", "/v1/claims/", &[], claim.as_bytes()).await;
            assert!(told.expect("a good request").status.is_success());
        }
        let over = format!("/v1/claims/5.{}/", KEYS[4]);
        let told = self.ask("PATCH", &over, &[], br#"{"status":"released"}"#).await;
        assert!(told.expect("a good request").status.is_success());
    }

    /// Asks, if this can be a request at all, and checks what is true of every answer.
    pub(crate) async fn ask(
        &self,
        method: &str,
        uri: &str,
        headers: &[(&str, &[u8])],
        body: &[u8],
    ) -> Option<Told> {
        let mut request = Request::builder().method(method).uri(uri);
        let has = |wanted: &str| headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        for (name, value) in [("host", "localhost"), ("content-type", "application/json")] {
            if !has(name) {
                request = request.header(name, value);
            }
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::Whole(Bytes::copy_from_slice(body))).ok()?;
        let told = Told::of(self.server.handle(request).await);
        told.check();
        let shown = |key: &str| {
            let in_header = |(_, value): &(&str, &[u8])| contains(value, key);
            uri.contains(key) || headers.iter().any(in_header) || contains(body, key)
        };
        // Where nobody lives yet, such a text is whatever somebody called something.
        for key in KEYS.iter().filter(|_| self.is_lived_in) {
            assert!(!told.text.contains(key) || shown(key), "a key is told to a stranger");
        }
        Some(told)
    }

    pub(crate) async fn events(&self) -> u64 {
        self.store.vitals().await.expect("memory answers").position
    }

    /// Whatever was asked: the holders of everything are a legal set, each with a fence of its own.
    pub(crate) async fn check(&self) -> BTreeMap<ClaimId, (Status, Option<Fence>)> {
        let resources = self.store.resources(Page::first(1_000)).await.expect("memory answers");
        for resource in resources {
            let limits = resource.holders.iter().filter_map(|holder| holder.limit.count());
            let least = limits.min().map_or(usize::MAX, |limit| limit as usize);
            assert!(resource.holders.len() <= least, "{}: {:?}", resource.name, resource.holders);
            let are_held = |claim: &Claim| matches!(claim.phase, Phase::Active(_));
            assert!(resource.holders.iter().all(are_held), "{:?}", resource.holders);
        }
        let all = self.store.claims(Filter::default(), Page::first(1_000));
        let all = all.await.expect("memory answers");
        let fence = |claim: &Claim| claim.activation().map(|activation| activation.fence);
        let mut fences: Vec<Fence> = all.iter().filter_map(fence).collect();
        let count = fences.len();
        fences.sort();
        fences.dedup();
        assert_eq!(fences.len(), count, "each activation has a fence of its own");
        all.iter().map(|claim| (claim.id, (claim.status(), fence(claim)))).collect()
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Tokens that the corpus can know.
fn tokens() -> Tokens {
    let entry = |(text, grants, expires): &(&str, &str, &str)| {
        let (id, hash) = (&text[7..19], blake3::hash(text.as_bytes()).to_hex());
        format!(
            r#"{{"id":"{id}","name":"n","hash":"{hash}","grants":{grants},"created":0,"expires":{expires}}}"#
        )
    };
    let entries: Vec<String> = TOKENS.iter().map(entry).collect();
    let directory = tempfile::tempdir().expect("a directory for a moment");
    let file = TokenFile::within(directory.path());
    let text = format!(r#"{{"version":1,"tokens":[{}]}}"#, entries.join(","));
    let mut options = std::fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let created = options.write(true).create_new(true).open(file.path());
    let written =
        created.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.expect("a small file can be written");
    Tokens::open(file).expect("these are tokens")
}
