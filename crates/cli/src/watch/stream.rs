//! The event stream of a server (server-sent events), resumable.

use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderValue;
use serde::Deserialize;

use crate::exit::{Exit, OrExit};
use crate::http::{Connection, Server};

/// A line longer than this is not from a Tenure server.
const LINE_MAX: usize = 1 << 20;

pub(super) struct Stream {
    body: Incoming,
    /// Kept open as long as the stream is read.
    _connection: Connection,
    parser: Parser,
    /// Where to go on after an interruption.
    pub(super) last: Option<u64>,
}

/// What the stream said.
#[derive(Debug)]
pub(super) enum Event {
    Told(Box<Told>),
    /// So many events are no longer kept.
    Skipped(u64),
    /// Nothing to show: only the position moved.
    Nothing,
}

/// What happened.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Told {
    pub(super) event: String,
    pub(super) timestamp: String,
    pub(super) claim_id: Option<u64>,
    #[serde(default)]
    pub(super) resources: Vec<String>,
    pub(super) ttl: Option<f64>,
    pub(super) fence: Option<u64>,
    pub(super) kept_for: Option<f64>,
    #[serde(skip)]
    pub(super) position: u64,
    /// As it came.
    #[serde(skip)]
    pub(super) json: String,
}

impl Stream {
    /// Opens the stream from now on, or after the last position seen.
    pub(super) async fn open(server: &Server, last: Option<u64>) -> anyhow::Result<Self> {
        let mut connection = server.connect().await?;
        let mut request = connection.request(Method::GET, "/v1/events", Bytes::new());
        if let Some(last) = last {
            request.headers_mut().insert("last-event-id", HeaderValue::from(last));
        }
        let answer = connection.open(request).await?;
        let status = answer.status();
        if !status.is_success() {
            let body = answer.into_body().collect().await.map(|body| body.to_bytes());
            return Err(server.refusal(status, &body.unwrap_or_default()));
        }
        let body = answer.into_body();
        Ok(Self { body, _connection: connection, parser: Parser::default(), last })
    }

    /// The next event; none if the server ended the stream. Nothing is lost if this is dropped.
    pub(super) async fn next(&mut self) -> anyhow::Result<Option<Event>> {
        loop {
            if let Some(block) = self.parser.block()? {
                self.last = block.id.or(self.last);
                return Ok(Some(block.read()?));
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            let frame = frame.or_exit(Exit::Unavailable, || "the stream broke off".into())?;
            if let Ok(bytes) = frame.into_data() {
                self.parser.buffer.extend_from_slice(&bytes);
            }
        }
    }
}

/// All that a stream says which comes in these pieces, in words.
pub(crate) fn heard<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut parser = Parser::default();
    let mut heard = Vec::new();
    for piece in pieces {
        parser.buffer.extend_from_slice(piece);
        loop {
            match parser.block() {
                Ok(None) => break,
                Ok(Some(block)) => {
                    let (id, said) = (block.id, block.read().map_err(|error| error.to_string()));
                    heard.push(format!("{id:?} {said:?}"));
                }
                Err(error) => {
                    heard.push(error.to_string());
                    return heard;
                }
            }
        }
    }
    heard
}

/// Cuts the stream into blocks of lines.
#[derive(Default)]
struct Parser {
    buffer: Vec<u8>,
    block: Block,
}

#[derive(Debug, Default, PartialEq)]
struct Block {
    id: Option<u64>,
    name: String,
    data: String,
}

impl Parser {
    /// The next whole block, if it is there.
    fn block(&mut self) -> anyhow::Result<Option<Block>> {
        let mut read = 0;
        let mut whole = false;
        while let Some(end) = self.buffer[read..].iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&self.buffer[read..read + end]);
            let line = line.trim_end_matches('\r');
            read += end + 1;
            if line.is_empty() && self.block != Block::default() {
                whole = true;
                break;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "id" => self.block.id = value.parse().ok(),
                "event" => self.block.name = value.to_owned(),
                "data" => self.block.data += value,
                // A comment, or a field of the future.
                _ => {}
            }
        }
        self.buffer.drain(..read);
        if self.buffer.len().max(self.block.data.len()) > LINE_MAX {
            return Err(Exit::Unavailable.because("an event without end: not a Tenure server"));
        }
        Ok(whole.then(|| std::mem::take(&mut self.block)))
    }
}

impl Block {
    fn read(self) -> anyhow::Result<Event> {
        #[derive(Deserialize)]
        struct Skipped {
            skipped: u64,
        }
        let unread = || "an event that cannot be read: not a Tenure server".to_owned();
        if self.data.is_empty() {
            return Ok(Event::Nothing);
        }
        if self.name == "skipped" {
            let told: Skipped =
                serde_json::from_str(&self.data).or_exit(Exit::Unavailable, unread)?;
            return Ok(Event::Skipped(told.skipped));
        }
        let mut told: Told = serde_json::from_str(&self.data).or_exit(Exit::Unavailable, unread)?;
        told.position = self.id.unwrap_or_default();
        told.json = self.data;
        Ok(Event::Told(Box::new(told)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_without_end_is_given_up() {
        let line = format!("data: {}\n", "x".repeat(1_000));
        for text in [line.as_str(), &line[..line.len() - 1]] {
            let mut parser = Parser::default();
            let given_up = (0..2 * LINE_MAX / line.len()).any(|_| {
                parser.buffer.extend_from_slice(text.as_bytes());
                parser.block().is_err()
            });
            assert!(given_up);
        }
    }

    #[test]
    fn stream_is_read_however_it_is_cut() {
        let text = "id: 4\n\n: hello\n\nid: 5\r\nevent: activated\r\ndata: {\"event\":\"activated\",\
                    \"timestamp\":\"t\",\"claim_id\":7,\"fence\":9}\n\nevent: skipped\n\
                    data: {\"skipped\":3}\n\n";
        for size in 1..text.len() {
            let mut parser = Parser::default();
            let mut events = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                parser.buffer.extend_from_slice(piece);
                while let Some(block) = parser.block().unwrap() {
                    events.push((block.id, block.read().unwrap()));
                }
            }
            let [
                (Some(4), Event::Nothing),
                (Some(5), Event::Told(told)),
                (None, Event::Skipped(3)),
            ] = &events[..]
            else {
                panic!("{events:?}")
            };
            assert_eq!((told.claim_id, told.fence, told.position), (Some(7), Some(9), 5));
        }
    }
}
