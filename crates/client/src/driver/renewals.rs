//! Many renewals with one request.

use std::fmt::Write;

use claims::claimant::Class;
use hyper::Method;
use serde::Deserialize;

use super::answer::{Heard, Trouble};
use crate::exchange::{Exchange, Reply, Silence};

/// As many as fit into the 128 KiB that a server reads, with room to spare.
pub(super) const MANY: usize = 1_000;

/// One renewal of many: `<id>.<key>` and seconds.
#[derive(Debug, Clone)]
pub(super) struct Renewal {
    pub(super) errand: u64,
    pub(super) number: u32,
    pub(super) claim: u64,
    pub(super) key: String,
    pub(super) ttl: f64,
}

/// What came of a request for many.
pub(super) enum Outcome {
    /// An answer for each, in order.
    Each(Vec<Heard>),
    /// The same for all.
    All(Silence),
    /// It is not renewed together, now or ever: a server of the original cannot.
    NotOffered { ever: bool },
}

pub(super) async fn renew_many(exchange: &Exchange, renewals: &[Renewal]) -> Outcome {
    let mut json = String::with_capacity(64 * renewals.len() + 16);
    json.push_str("{\"claims\":[");
    for (nth, Renewal { claim, key, ttl, .. }) in renewals.iter().enumerate() {
        let comma = if nth > 0 { "," } else { "" };
        // A key has no characters that need quoting.
        let _ = write!(json, "{comma}{{\"claim\":\"{claim}.{key}\",\"ttl\":{ttl:?}}}");
    }
    json.push_str("]}");
    match exchange.ask(Method::POST, "/v1/renewals", json).await {
        Ok(reply) => read(&reply, renewals.len()),
        Err(silence) => Outcome::All(silence),
    }
}

#[derive(Deserialize)]
struct Answers {
    renewals: Vec<Trouble>,
}

fn read(reply: &Reply, asked: usize) -> Outcome {
    let unknown = |why: String| Outcome::All(Silence { class: Class::Unknown, why });
    match reply.status {
        200 => match serde_json::from_slice::<Answers>(&reply.body) {
            Ok(answers) if answers.renewals.len() == asked => {
                Outcome::Each(answers.renewals.iter().map(Heard::one).collect())
            }
            Ok(answers) => {
                unknown(format!("{} of {asked} renewals were answered", answers.renewals.len()))
            }
            Err(error) => unknown(format!("the answer to many renewals makes no sense: {error}")),
        },
        404 | 405 | 501 => Outcome::NotOffered { ever: true },
        // Not a no to any of them: each lease is asked for alone.
        400..=499 => Outcome::NotOffered { ever: false },
        status => unknown(format!("the server answers {status} to many renewals")),
    }
}
