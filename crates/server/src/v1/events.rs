//! `GET /v1/events`: what happens, as it happens (server-sent events).
//!
//! The id of each event is its position in the history, so a client that lost its connection goes on
//! from there (`Last-Event-ID`). Nothing is buffered for a slow client: it reads the history at its
//! own speed, and is told how many events it missed if the store kept them no longer.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use claims::Verb;
use claims::wire::{Fields, Media, Problem, event_name, write_event};
use hyper::body::Bytes;
use registry::EventPage;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;

use crate::answer::{Answer, text};
use crate::asked::Asked;
use crate::body::Body;
use crate::server::{Server, unavailable};
use crate::v1::reader::Reader;

/// How many events are read at once.
const PAGE: usize = 256;
/// How often a silent stream says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(15);

pub(crate) async fn events(asked: &Asked<'_>) -> Result<Answer, Problem> {
    asked.demand_something(Verb::Read)?;
    let fields = Fields::parse(Media::Other, b"", asked.query)?;
    let last = asked.headers.get("last-event-id").map(|id| id.to_str().unwrap_or("?"));
    let from = match (last, fields.text("from")) {
        (Some(last), _) => Some(position(last)?.saturating_add(1)),
        (None, Some(from)) => Some(position(from)?),
        (None, None) => None,
    };
    let server = asked.server.clone();
    let Ok(permit) = server.streams.clone().try_acquire_owned() else {
        return Err(Problem::new(503, "Too many event streams", "try again later").retry_after(5));
    };
    let from = match from {
        Some(from) => from,
        None => server.store.vitals().await.map_err(unavailable)?.position,
    };
    let (pieces, stream) = mpsc::channel(1);
    let reader = Reader::new(asked.caller.clone());
    tokio::spawn(tell(server, reader, from, pieces, permit));
    Ok(text("text/event-stream", Body::Stream(stream)))
}

fn position(text: &str) -> Result<u64, Problem> {
    text.trim().parse().map_err(|_| {
        let mut problem = Problem::invalid();
        problem.blame("from", "The position of an event is required", "");
        problem
    })
}

/// Tells a client what happens until it goes, or the server stops.
async fn tell(
    server: Arc<Server>,
    mut reader: Reader,
    mut from: u64,
    pieces: mpsc::Sender<Bytes>,
    _permit: OwnedSemaphorePermit,
) {
    // Where the stream begins, so that a client which is cut off before the first event misses none.
    let greeting = match from.checked_sub(1) {
        Some(before) => format!(": tenure\nid: {before}\n\n"),
        None => ": tenure\n\n".into(),
    };
    if pieces.send(greeting.into()).await.is_err() {
        return;
    }
    let mut beat_at = Instant::now() + HEARTBEAT;
    loop {
        let piece = tokio::select! {
            () = pieces.closed() => return,
            () = server.closing() => return,
            page = next(&server, &mut reader, from) => match page {
                Ok(page) => {
                    from = page.next;
                    written(&page)
                }
                // The client comes back with its position.
                Err(_) => return,
            },
            () = tokio::time::sleep_until(beat_at) => ": still here\n\n".into(),
        };
        // A token that was taken back, or has ended, ends what it opened.
        if !reader.caller.is_welcome(&server.config) {
            return;
        }
        // Nothing of it may be for this reader.
        if piece.is_empty() {
            continue;
        }
        if pieces.send(piece.into()).await.is_err() {
            return;
        }
        beat_at = Instant::now() + HEARTBEAT;
    }
}

async fn next(
    server: &Server,
    reader: &mut Reader,
    from: u64,
) -> Result<EventPage, registry::StoreError> {
    server.store.wait_for_event(from).await?;
    let mut page = server.store.events(from, PAGE).await?;
    reader.keep_readable(&*server.store, &mut page).await?;
    Ok(page)
}

fn written(page: &EventPage) -> String {
    let mut out = String::new();
    if page.skipped > 0 {
        let _ = write!(out, "event: skipped\ndata: {{\"skipped\":{}}}\n\n", page.skipped);
    }
    for kept in &page.events {
        let _ = write!(out, "id: {}\nevent: {}\ndata: ", kept.position, event_name(&kept.event));
        write_event(&mut out, &kept.event, kept.stamp);
        out.push_str("\n\n");
    }
    out
}
