//! Figures for Prometheus. No label names a resource or a claim: their number has no bound.

mod book;
mod page;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use claims::{Phase, Refusal};
use hyper::StatusCode;
use hyper::body::Bytes;
use registry::{Filter, Store, StoreError, Vitals};

use self::book::{Book, MICROS};
use self::page::Page;
use crate::answer::{Answer, text};
use crate::body::Body;
use crate::server::Server;

/// Events are read in pieces of this size, this often: figures may be a moment late, and the store
/// has better things to do.
const PIECE: usize = 2_000;
const PAUSE: Duration = Duration::from_millis(50);

/// The text format of Prometheus.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

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
        let Vitals { now, tally, position, commits } = store.vitals().await?;
        let mut page = Page::default();
        let phases = [tally.active, tally.waiting, tally.ended].map(|count| count as u64);
        let phases = ["active", "waiting", "ended"].into_iter().zip(phases);
        let help = "Claims by the part of their life they are in.";
        page.by_label(("gauge", "tenure_claims", "phase"), help, phases);
        self.book.lock().expect("counting does not panic").write(&mut page, now);
        let refused = self.refused.lock().expect("counting does not panic").clone();
        let help = "Requests that the rules refused, by why.";
        page.by_label(("counter", "tenure_refused_total", "code"), help, refused);
        page.counter("tenure_events_total", "Events in the life of the store.", position);
        let help = "Commits that kept something.";
        page.counter("tenure_commits_total", help, commits.answers.count());
        let help = "Answers that one commit let go.";
        page.histogram("tenure_commit_answers", help, &commits.answers, 1.0);
        let help = "Syncs of the log.";
        page.histogram("tenure_sync_seconds", help, &commits.sync, MICROS);
        let classes = ["2xx", "3xx", "4xx", "5xx"].into_iter();
        let answered = self.answered[2..].iter().map(|count| count.load(Ordering::Relaxed));
        let name = ("counter", "tenure_http_answers_total", "class");
        page.by_label(name, "Answers by class of status.", classes.zip(answered));
        let help = "Connections beyond the bounds.";
        let turned_away = self.turned_away.load(Ordering::Relaxed);
        page.counter("tenure_http_connections_turned_away_total", help, turned_away);
        Ok(text(CONTENT_TYPE, Body::Whole(Bytes::from(page.finish()))))
    }
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
        let claims = store
            .claims(Filter::default(), registry::Page { after, skip: 0, count: PIECE })
            .await?;
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
