//! `POST /ids/locks`, `PATCH` and `DELETE /ids/locks/<lock>`: take, renew and release.
//!
//! A lock is one claim for each sixteen different datasets. In an address they are written with
//! commas between them.

use std::fmt::Write;

use claims::wire::{Fields, Handle, Problem, write_seconds};
use claims::{Command, Farewell, Name, Owner, Refusal, Ttl, Verb};
use hyper::StatusCode;

use super::read;
use super::taking::{Order, Piece, take};
use crate::answer::{Answer, json, no_content};
use crate::asked::Asked;
use crate::keys::hash_of;
use crate::v1::{patience, submit};

pub(crate) async fn lock(asked: &Asked<'_>, body: &[u8]) -> Result<Answer, Problem> {
    let fields = Fields::parse(asked.media, body, asked.query)?;
    let datasets = read::datasets(&fields)?;
    let (kind, ttl, note) =
        (read::kind(&fields)?, read::ttl_or_minute(&fields)?, read::note(&fields)?);
    let patience = patience(asked, &fields)?;
    drop(fields);
    let names: Vec<Name> = datasets.iter().map(|dataset| dataset.resource()).collect();
    match names[..] {
        [] => asked.demand_something(Verb::Claim)?,
        _ => asked.demand(Verb::Claim, &names)?,
    }
    let order = Order { datasets: &datasets, kind, ttl, note: &note };
    let pieces = take(asked, &order, patience).await?.keep();
    let ids: Vec<u64> = datasets.iter().map(|dataset| dataset.0).collect();
    let fences: Vec<u64> = pieces.iter().filter_map(|piece| piece.fence).map(|f| f.0).collect();
    let mut body = String::from("{\"lock\":");
    write_handle(&mut body, &pieces);
    let _ = write!(body, ",\"datasetIds\":{ids:?},\"type\":\"{kind}\",\"ttl\":");
    write_ttl(&mut body, ttl);
    let _ = write!(body, ",\"fences\":{fences:?}}}");
    Ok(json(StatusCode::CREATED, body))
}

/// Writes what a lock is named by, with quotes; null if there is nothing to name.
pub(super) fn write_handle(out: &mut String, pieces: &[Piece]) {
    if pieces.is_empty() {
        return out.push_str("null");
    }
    for (nth, piece) in pieces.iter().enumerate() {
        let mark = if nth > 0 { ',' } else { '"' };
        let _ = write!(out, "{mark}{}.{}", piece.owner.claim, piece.key);
    }
    out.push('"');
}

pub(super) fn write_ttl(out: &mut String, ttl: Ttl) {
    write_seconds(out, i64::try_from(ttl.span().as_micros()).unwrap_or(i64::MAX));
}

pub(crate) async fn renew(asked: &Asked<'_>, piece: &str, body: &[u8]) -> Result<Answer, Problem> {
    let fields = Fields::parse(asked.media, body, asked.query)?;
    let ttl = read::ttl(&fields)?;
    let ttl = ttl.ok_or_else(|| read::blamed("ttl", "No ttl specified"))?;
    drop(fields);
    each(asked, piece, |owner| Command::Renew(owner, Some(ttl))).await
}

pub(crate) async fn release(asked: &Asked<'_>, piece: &str) -> Result<Answer, Problem> {
    each(asked, piece, |owner| Command::End(owner, Farewell::Release)).await
}

/// Does the same to each claim of a lock. What went wrong with one does not keep it from the others.
async fn each(
    asked: &Asked<'_>,
    piece: &str,
    command: impl Fn(Owner) -> Command,
) -> Result<Answer, Problem> {
    asked.demand_something(Verb::Claim)?;
    let mut outcome = Ok(no_content());
    for owner in owners(piece)? {
        let done = match asked.demand_own(owner).await {
            Ok(()) => submit(asked, command(owner), None).await.map(drop),
            Err(problem) => Err(problem),
        };
        if let Err(problem) = done {
            outcome = Err(problem);
        }
    }
    outcome
}

/// The claims of a lock, as its address names them.
pub(super) fn owners(piece: &str) -> Result<Vec<Owner>, Problem> {
    let owners = piece.split(',').map(|one| {
        let Handle { claim, key } = Handle::parse(one)?;
        Some(Owner { claim, key: hash_of(key?) })
    });
    let unknown = || Problem::refused(&Refusal::Unknown { claim: claims::ClaimId(0) });
    let owners: Option<Vec<Owner>> = owners.take(read::DATASETS_MAX + 1).collect();
    owners.filter(|owners| owners.len() <= read::DATASETS_MAX).ok_or_else(unknown)
}
