//! `GET /v1/resources/`: what is held or wanted, and by whom.

use std::fmt::Write;

use claims::wire::{Fields, Media, Problem, View, write_claim, write_seconds, write_text};
use claims::{Claim, ClaimId, Name, Phase, Place, Span, Status, Verb};
use hyper::StatusCode;
use registry::{Bounds, Filter, Page, ResourceReport};

use super::list::whole;
use crate::answer::{Answer, json};
use crate::asked::Asked;
use crate::server::unavailable;

/// How many resources are listed if nobody says.
const LIMIT: usize = 100;
/// How many waiters are shown.
const QUEUE: usize = 100;
/// How many of the last holds say what is usual.
const HOLDS: usize = 100;

pub(crate) async fn resources(asked: &Asked<'_>) -> Result<Answer, Problem> {
    asked.demand_something(Verb::Read)?;
    let fields = Fields::parse(Media::Other, b"", asked.query)?;
    let page = Page {
        after: fields.text("after").map(Name::new).transpose().map_err(|r| Problem::refused(&r))?,
        skip: whole(&fields, "offset", 0)?,
        count: whole(&fields, "limit", LIMIT)?.min(asked.server.config.list_max),
    };
    let reports = readable(asked, page).await?;
    let mut body = String::from("[");
    for (nth, report) in reports.iter().enumerate() {
        body.push_str(if nth > 0 { ",{\"resource\":" } else { "{\"resource\":" });
        write_text(&mut body, report.name.as_str());
        let holders: Vec<u64> = report.holders.iter().map(|holder| holder.id.0).collect();
        let _ = write!(body, ",\"holders\":{holders:?},\"waiting\":{}}}", report.waiting);
    }
    body.push(']');
    Ok(json(StatusCode::OK, body))
}

/// A page of what the caller may read.
async fn readable(asked: &Asked<'_>, page: Page<Name>) -> Result<Vec<ResourceReport>, Problem> {
    let store = &asked.server.store;
    if asked.caller.may_everything(Verb::Read) {
        return store.resources(page).await.map_err(unavailable);
    }
    let Page { mut after, mut skip, count } = page;
    let mut found = Vec::new();
    while found.len() < count {
        let piece = Page { after, skip: 0, count: asked.server.config.list_max };
        let reports = store.resources(piece).await.map_err(unavailable)?;
        let Some(last) = reports.last() else { break };
        after = Some(last.name.clone());
        for report in reports {
            if !asked.caller.may(Verb::Read, std::slice::from_ref(&report.name)) {
                continue;
            }
            match skip {
                0 => found.push(report),
                _ => skip -= 1,
            }
        }
    }
    found.truncate(count);
    Ok(found)
}

pub(crate) async fn resource(asked: &Asked<'_>, encoded: &str) -> Result<Answer, Problem> {
    let name = decoded(encoded)?;
    asked.demand(Verb::Read, std::slice::from_ref(&name))?;
    let store = &asked.server.store;
    let (report, vitals) = (store.resource(name.clone(), QUEUE), store.vitals());
    let report = report.await.map_err(unavailable)?;
    let now = vitals.await.map_err(unavailable)?.now;
    let usual = usual_hold(asked, name).await?;

    let ids: Vec<ClaimId> = report.holders.iter().map(|holder| holder.id).collect();
    let mut body = String::from("{\"resource\":");
    write_text(&mut body, report.name.as_str());
    body.push_str(",\"holders\":[");
    let show = |body: &mut String, claim: &Claim, place: Option<&Place>| {
        if !body.ends_with('[') {
            body.push(',');
        }
        write_claim(body, &View { claim, place, base: asked.base, key: None, now });
    };
    // A claim that reaches beyond what the caller may read is counted, not shown.
    for holder in report.holders.iter().filter(|claim| asked.may_read(claim)) {
        show(&mut body, holder, None);
    }
    body.push_str("],\"queue\":[");
    let queue = report.queue.iter().enumerate();
    for (nth, waiter) in queue.filter(|(_, claim)| asked.may_read(claim)) {
        let place = Place { position: nth + 1, holders: ids.clone() };
        show(&mut body, waiter, Some(&place));
    }
    let _ = write!(body, "],\"holding\":{}", report.holders.len());
    let _ = write!(body, ",\"waiting\":{},\"usual_hold\":", report.waiting);
    match usual {
        Some(span) => write_seconds(&mut body, i64::try_from(span.as_micros()).unwrap_or(i64::MAX)),
        None => body.push_str("null"),
    }
    body.push('}');
    Ok(json(StatusCode::OK, body))
}

/// The name in a path: encoded as in a query, but that `+` means itself.
fn decoded(encoded: &str) -> Result<Name, Problem> {
    let query = format!("name={}", encoded.replace('+', "%2B").replace('&', "%26"));
    let fields = Fields::parse(Media::Other, b"", &query)?;
    Name::new(fields.text("name").unwrap_or("")).map_err(|refusal| Problem::refused(&refusal))
}

/// The middle one of the last holds that were given back.
async fn usual_hold(asked: &Asked<'_>, name: Name) -> Result<Option<Span>, Problem> {
    let filter = Filter {
        resource: Some(name),
        status: Some(Status::Released),
        active_for: Bounds { min: Some(Span::ZERO), max: None },
        ..Filter::default()
    };
    let ended = asked.server.store.claims(filter, Page::first(asked.server.config.list_max));
    let ended = ended.await.map_err(unavailable)?;
    let mut holds: Vec<Span> = ended.iter().rev().take(HOLDS).filter_map(held_for).collect();
    holds.sort_unstable();
    Ok(holds.get(holds.len() / 2).copied())
}

fn held_for(claim: &Claim) -> Option<Span> {
    let Phase::Ended(ended) = &claim.phase else { return None };
    Some(ended.at.at.since(ended.activation?.since.at))
}
