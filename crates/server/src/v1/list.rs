//! `GET /v1/claims/`: claims in order of creation, those that the filters let through.

use claims::wire::{Field, Fields, Media, Problem, View, number, parse_moment, write_claim};
use claims::{Name, Span, Status, Verb};
use hyper::StatusCode;
use registry::{Bounds, Filter, Page};

use super::CLAIM_BYTES;
use crate::answer::{Answer, json};
use crate::asked::Asked;
use crate::server::unavailable;

/// How many claims are listed if nobody says.
const LIMIT: usize = 10;
/// The largest list. Shortened, it would look like the end of all claims; so more is refused.
const LIST_BYTES_MAX: usize = 16 << 20;

pub(crate) async fn list(asked: &Asked<'_>) -> Result<Answer, Problem> {
    let fields = Fields::parse(Media::Other, b"", asked.query)?;
    let count = whole(&fields, "limit", LIMIT)?.min(asked.server.config.list_max);
    let skip = whole(&fields, "offset", 0)?;
    asked.demand_something(Verb::Read)?;
    let Some(mut filter) = filter(&fields)? else {
        return Ok(json(StatusCode::OK, "[]".into()));
    };
    filter.readable = asked.caller.reads_only();
    let store = &asked.server.store;
    let vitals = store.vitals();
    let claims = store.claims(filter, Page { after: None, skip, count });
    let claims = claims.await.map_err(unavailable)?;
    let now = vitals.await.map_err(unavailable)?.now;
    let mut body = String::with_capacity(claims.len() * CLAIM_BYTES + 2);
    body.push('[');
    for (nth, claim) in claims.iter().enumerate() {
        if nth > 0 {
            body.push(',');
        }
        write_claim(&mut body, &View { claim, place: None, base: asked.base, key: None, now });
        if body.len() > LIST_BYTES_MAX {
            return Err(too_large(nth));
        }
    }
    body.push(']');
    Ok(json(StatusCode::OK, body))
}

/// The claims after this many are too much.
fn too_large(fitting: usize) -> Problem {
    let mib = LIST_BYTES_MAX >> 20;
    let limit = fitting.max(1);
    Problem::new(
        400,
        "The list is too large",
        format!("{fitting} of these claims fill {mib} MiB: ask with limit={limit} and offset"),
    )
}

/// The filter that the query asks for; none if nothing can pass it.
fn filter(fields: &Fields<'_>) -> Result<Option<Filter>, Problem> {
    let status = fields.text("status").map(status).transpose()?;
    let active_for = spans(fields, "minimum_active_duration", "maximum_active_duration")?;
    let waited_for = spans(fields, "minimum_waiting_duration", "maximum_waiting_duration")?;
    let micros = |name| Ok(decimal(fields, name)?.map(|secs| (secs * 1e6) as i64));
    let ttl = Bounds { min: micros("minimum_ttl")?, max: micros("maximum_ttl")? };
    let created =
        Bounds { min: moment(fields, "minimum_created")?, max: moment(fields, "maximum_created")? };
    // What cannot be read is told before what cannot be.
    let resource = fields.text("resource").map(Name::new).transpose();
    let (Some(active_for), Some(waited_for), Ok(resource)) = (active_for, waited_for, resource)
    else {
        return Ok(None);
    };
    let readable = None;
    Ok(Some(Filter { resource, status, ttl, active_for, waited_for, created, readable }))
}

/// Bounds on a duration. None if even nothing is too long.
fn spans(
    fields: &Fields<'_>,
    min: &'static str,
    max: &'static str,
) -> Result<Option<Bounds<Span>>, Problem> {
    let span = |secs: f64| Span::from_micros((secs * 1e6) as u64);
    let (min, max) = (decimal(fields, min)?, decimal(fields, max)?);
    let possible = max.is_none_or(|max| max >= 0.0);
    Ok(possible.then_some(Bounds { min: min.map(span), max: max.map(span) }))
}

fn status(text: &str) -> Result<Status, Problem> {
    let found = Status::ALL.into_iter().find(|status| status.as_str() == text);
    found.ok_or_else(|| unreadable("status", "one of the seven statuses"))
}

pub(super) fn whole(
    fields: &Fields<'_>,
    name: &'static str,
    default: usize,
) -> Result<usize, Problem> {
    let Some(text) = fields.text(name).map(str::trim) else { return Ok(default) };
    if text.is_empty() || !text.bytes().all(|c| c.is_ascii_digit()) {
        return Err(unreadable(name, "a whole number"));
    }
    // More than can be counted is as good as all.
    Ok(text.parse().unwrap_or(usize::MAX))
}

fn decimal(fields: &Fields<'_>, name: &'static str) -> Result<Option<f64>, Problem> {
    let Some(text) = fields.text(name) else { return Ok(None) };
    let read = number(&Field::Text(text.into())).filter(|number| number.is_finite());
    read.map(Some).ok_or_else(|| unreadable(name, "a number"))
}

fn moment(fields: &Fields<'_>, name: &'static str) -> Result<Option<u64>, Problem> {
    let Some(text) = fields.text(name) else { return Ok(None) };
    let read = parse_moment(text);
    read.map(Some).ok_or_else(|| unreadable(name, "a date, or seconds since 1970"))
}

fn unreadable(name: &'static str, wanted: &str) -> Problem {
    Problem::new(400, "The query cannot be read", format!("{name} should be {wanted}"))
        .text("message", "Failed to parse query string")
}
