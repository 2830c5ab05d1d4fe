//! The claim object: the nine fields of the original, always all there, and what was added.

use alloc::string::String;

use super::date::write_date;
use super::json::{write_text, write_whole};
use super::number::write_seconds;
use super::problem::list;
use crate::claim::{Claim, Phase, Status};
use crate::state::Place;
use crate::time::{Stamp, Timestamp};

/// A claim as somebody sees it.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// Its place, if it waits.
    pub place: Option<&'a Place>,
    /// What its address begins with: `http://host`.
    pub base: &'a str,
    /// Its key, if the reader is its owner.
    pub key: Option<&'a str>,
    /// The moment of the answer, on the store's timeline.
    pub now: Timestamp,
}

impl View<'_> {
    /// Writes the address of the claim, without quotes.
    pub fn write_url(&self, out: &mut String) {
        out.push_str(self.base);
        out.push_str("/v1/claims/");
        write_whole(out, self.claim.id.0);
        if let Some(key) = self.key {
            out.push('.');
            out.push_str(key);
        }
        out.push('/');
    }

    /// The lease left, in microseconds, if the claim holds and its lease ends.
    fn lease_left(&self) -> Option<i64> {
        match &self.claim.phase {
            Phase::Active(active) if active.deadline != Timestamp::NEVER => {
                Some(micros(active.deadline) - micros(self.now))
            }
            Phase::Active(_) | Phase::Waiting(_) | Phase::Ended(_) => None,
        }
    }

    fn ended(&self) -> Option<Stamp> {
        match &self.claim.phase {
            Phase::Ended(ended) => Some(ended.at),
            Phase::Active(_) | Phase::Waiting(_) => None,
        }
    }
}

fn micros(moment: Timestamp) -> i64 {
    i64::try_from(moment.as_micros()).unwrap_or(i64::MAX)
}

fn between(earlier: Timestamp, later: Timestamp) -> i64 {
    i64::try_from(later.since(earlier).as_micros()).unwrap_or(i64::MAX)
}

/// Writes the claim object.
pub fn write_claim(out: &mut String, view: &View<'_>) {
    let claim = view.claim;
    let since = claim.activation().map(|activation| activation.since);
    let ended = view.ended();
    let now = ended.map_or(view.now, |ended| ended.at);

    out.push_str("{\"url\":\"");
    view.write_url(out);
    out.push_str("\",\"resource\":");
    let names = claim.resources.as_slice();
    write_text(out, names[0].as_str());
    out.push_str(",\"status\":\"");
    out.push_str(claim.status().as_str());
    out.push_str("\",\"created\":\"");
    write_date(out, claim.created.wall);
    out.push_str("\",\"status_history\":[");
    write_history(out, Status::Waiting, claim.created);
    if let Some(since) = since {
        out.push(',');
        write_history(out, Status::Active, since);
    }
    if let Some(ended) = ended {
        out.push(',');
        write_history(out, claim.status(), ended);
    }
    out.push_str("],\"ttl\":");
    or_null(out, view.lease_left());
    out.push_str(",\"active_duration\":");
    // Never nothing: clients of the original check that a holder has held for longer than 0.
    or_null(out, since.map(|since| between(since.at, now).max(1)));
    out.push_str(",\"waiting_duration\":");
    let waited_until = since.map_or(now, |since| since.at);
    write_seconds(out, between(claim.created.at, waited_until));
    out.push_str(",\"user_data\":");
    out.push_str(claim.data().map_or("null", |data| data.as_str()));

    out.push_str(",\"id\":");
    write_whole(out, claim.id.0);
    out.push_str(",\"resources\":[");
    for (nth, name) in names.iter().enumerate() {
        if nth > 0 {
            out.push(',');
        }
        write_text(out, name.as_str());
    }
    out.push_str("],\"limit\":");
    match claim.limit.count() {
        Some(count) => write_whole(out, u64::from(count)),
        None => out.push_str("null"),
    }
    out.push_str(",\"shared\":");
    out.push_str(if claim.limit.count().is_none() { "true" } else { "false" });
    out.push_str(",\"fence\":");
    match claim.activation() {
        Some(activation) => write_whole(out, activation.fence.0),
        None => out.push_str("null"),
    }
    if let Some(place) = view.place {
        out.push_str(",\"queue_position\":");
        write_whole(out, place.position as u64);
        out.push_str(",\"holders\":");
        out.push_str(&list(&place.holders));
    }
    out.push('}');
}

/// Writes what one renewal of many is told: enough to go on.
pub fn write_renewal(out: &mut String, view: &View<'_>) {
    out.push_str("{\"id\":");
    write_whole(out, view.claim.id.0);
    out.push_str(",\"http_status\":200,\"status\":\"");
    out.push_str(view.claim.status().as_str());
    out.push_str("\",\"ttl\":");
    or_null(out, view.lease_left());
    out.push('}');
}

fn write_history(out: &mut String, status: Status, stamp: Stamp) {
    out.push_str("{\"status\":\"");
    out.push_str(status.as_str());
    out.push_str("\",\"timestamp\":\"");
    write_date(out, stamp.wall);
    out.push_str("\"}");
}

fn or_null(out: &mut String, micros: Option<i64>) {
    match micros {
        Some(micros) => write_seconds(out, micros),
        None => out.push_str("null"),
    }
}
