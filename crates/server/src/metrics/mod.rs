//! Figures for Prometheus. No label names a resource or a claim: their number has no bound.

mod book;
mod histogram;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use claims::{Phase, Refusal};
use hyper::StatusCode;
use hyper::body::Bytes;
use registry::{Filter, Page, Store, StoreError};

use self::book::Book;
use crate::answer::{Answer, text};
use crate::body::Body;
use crate::server::Server;

/// Events are read in pieces of this size, this often: figures may be a moment late, and the store
/// has better things to do.
const PIECE: usize = 2_000;
const PAUSE: Duration = Duration::from_millis(50);

/// What is counted.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Answers by the first digit of their status.
    answered: [AtomicU64; 6],
    turned_away: AtomicU64,
    refused: Mutex<BTreeMap<&'static str, u64>>,
    book: Mutex<Book>,
}

impl Metrics {
    pub(crate) fn answered(&self, status: StatusCode) {
        self.answered[usize::from(status.as_u16() / 100).min(5)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self, refusal: &Refusal) {
        let mut refused = self.refused.lock().expect("counting does not panic");
        *refused.entry(refusal.code()).or_default() += 1;
    }

    /// The page that Prometheus reads.
    pub(crate) async fn page(&self, store: &dyn Store) -> Result<Answer, StoreError> {
        let vitals = store.vitals().await?;
        let mut out = String::new();
        head(&mut out, "tenure_claims", "gauge", "Claims by the part of their life they are in.");
        let tally = vitals.tally;
        for (part, count) in
            [("active", tally.active), ("waiting", tally.waiting), ("ended", tally.ended)]
        {
            let _ = writeln!(out, "tenure_claims{{phase=\"{part}\"}} {count}");
        }
        head(&mut out, "tenure_events_total", "counter", "Events in the life of the store.");
        let _ = writeln!(out, "tenure_events_total {}", vitals.position);
        self.book.lock().expect("counting does not panic").write(&mut out, vitals.now);
        head(&mut out, "tenure_refused_total", "counter", "Requests refused by the rules.");
        for (code, count) in self.refused.lock().expect("counting does not panic").iter() {
            let _ = writeln!(out, "tenure_refused_total{{code=\"{code}\"}} {count}");
        }
        head(&mut out, "tenure_http_answers_total", "counter", "Answers by class of status.");
        for (class, count) in self.answered.iter().enumerate().skip(2) {
            let count = count.load(Ordering::Relaxed);
            let _ = writeln!(out, "tenure_http_answers_total{{class=\"{class}xx\"}} {count}");
        }
        let name = "tenure_http_connections_turned_away_total";
        head(&mut out, name, "counter", "Connections beyond the bounds.");
        let _ = writeln!(out, "{name} {}", self.turned_away.load(Ordering::Relaxed));
        Ok(text("text/plain; version=0.0.4", Body::Whole(Bytes::from(out))))
    }
}

/// The lines that come before a figure.
fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Keeps the book up to date with what was committed, for as long as the server lives.
pub(crate) async fn follow(server: Arc<Server>) {
    loop {
        if let Err(error) = follow_until_error(&server).await {
            tracing::warn!(%error, "metrics are behind");
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn follow_until_error(server: &Server) -> Result<(), StoreError> {
    let store = &server.store;
    let mut position = store.vitals().await?.position;
    let mut after = None;
    loop {
        let claims = store.claims(Filter::default(), Page { after, skip: 0, count: PIECE }).await?;
        let mut book = server.metrics.book.lock().expect("counting does not panic");
        for claim in claims.iter().filter(|claim| !matches!(claim.phase, Phase::Ended(_))) {
            book.found(claim);
        }
        match claims.last() {
            Some(last) => after = Some(last.id),
            None => break,
        }
    }
    loop {
        store.wait_for_event(position).await?;
        let page = store.events(position, PIECE).await?;
        let full = page.events.len() == PIECE;
        position = page.next;
        server.metrics.book.lock().expect("counting does not panic").read(&page);
        if !full {
            tokio::time::sleep(PAUSE).await;
        }
    }
}
