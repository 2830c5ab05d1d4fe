//! `POST /ids/work` and `PATCH /ids/work/<lock>`: workers take up what can be begun, each job with
//! its lock, and say how it went.
//!
//! A worker that dies loses its lock when the lease is over. Then what it was to do is requested
//! again by itself: the record names the lock, and a lock that is gone has no worker.

use std::fmt::Write;

use claims::datasets::{DATASET_PREFIX, DatasetId, Item, Note, OPERATION_PREFIX, Wanted, wanted};
use claims::wire::{Fields, Problem, write_text};
use claims::{Claim, ClaimId, Command, Farewell, Name, Owner, Stamp, Status, Verb};
use hyper::StatusCode;

use super::locks::{owners, write_handle, write_ttl};
use super::records::{self, Kept};
use super::taking::{Order, Taken, take};
use super::{BUSY, read};
use crate::answer::{Answer, json, no_content};
use crate::asked::Asked;
use crate::server::unavailable;
use crate::v1::submit;

/// The most jobs in one answer.
const JOBS_MAX: u64 = 64;

pub(crate) async fn work(asked: &Asked<'_>, body: &[u8]) -> Result<Answer, Problem> {
    let fields = Fields::parse(asked.media, body, asked.query)?;
    let (operations, ttl) = (read::operations(&fields)?, read::ttl_or_minute(&fields)?);
    let max = read::id(&fields, "max")?.unwrap_or(1);
    if !(1..=JOBS_MAX).contains(&max) {
        return Err(read::blamed("max", "A whole number from 1 to 64 is required"));
    }
    let owner = read::text(&fields, "owner")?;
    if owner.is_none() {
        return Err(read::blamed("owner", "Say who works, for those who wait"));
    }
    drop(fields);
    let datasets = Name::new(DATASET_PREFIX).expect("the prefix is a good name");
    asked.demand(Verb::Claim, &[datasets, records::everything()])?;

    let _alone = asked.server.operations.lock().await;
    let now = records::now(asked).await?;
    let mut kept = records::all(asked, OPERATION_PREFIX).await?;
    settle(asked, &mut kept, now).await?;
    let mut jobs = Vec::new();
    let known = kept.iter().map(|one| (one.item, &one.record));
    for mut wanted in wanted(known, now.at, &asked.server.config.delays) {
        if jobs.len() as u64 == max {
            break;
        }
        if !operations.contains(&wanted.operation) {
            continue;
        }
        let reason = format!("background {}", wanted.operation.as_str().to_lowercase());
        let note = Note { owner: owner.clone(), reason: Some(reason) };
        let datasets = &[wanted.dataset];
        let order = Order { datasets, kind: wanted.lock(), ttl, note: &note };
        match take(asked, &order, None).await {
            Ok(taken) => {
                start(asked, &mut kept, &mut wanted, &taken, now).await?;
                jobs.push((wanted, taken));
            }
            // It stays for the next time.
            Err(problem) if problem.title() == BUSY => {}
            Err(problem) => return Err(problem),
        }
    }
    let mut body = String::from("{\"jobs\":[");
    for (nth, (wanted, taken)) in jobs.into_iter().enumerate() {
        body.push_str(if nth > 0 { ",{\"lock\":" } else { "{\"lock\":" });
        let pieces = taken.keep();
        write_handle(&mut body, &pieces);
        let (operation, dataset, kind) = (wanted.operation, wanted.dataset, wanted.lock());
        let _ = write!(body, ",\"operation\":\"{operation}\",\"datasetId\":{dataset}");
        let _ = write!(body, ",\"type\":\"{kind}\",\"ttl\":");
        write_ttl(&mut body, ttl);
        let fence = pieces.first().and_then(|piece| piece.fence).map_or(0, |fence| fence.0);
        let _ = write!(body, ",\"fence\":{fence},\"items\":[");
        for (nth, item) in wanted.items.iter().enumerate() {
            let data = kept.iter().find(|one| one.item == *item).map(|one| &*one.record.data);
            write_item(&mut body, nth, *item, data.unwrap_or(""));
        }
        body.push_str("]}");
    }
    body.push_str("]}");
    Ok(json(StatusCode::OK, body))
}

fn write_item(out: &mut String, nth: usize, item: Item, data: &str) {
    let _ = write!(out, "{}{{\"datasetId\":{}", if nth > 0 { "," } else { "" }, item.dataset());
    match item {
        Item::Dataset(_) => out.push_str(",\"datafileId\":null,\"data\":"),
        Item::Datafile { datafile, .. } => {
            let _ = write!(out, ",\"datafileId\":{datafile},\"data\":");
        }
    }
    write_text(out, data);
    out.push('}');
}

/// Finds workers that are gone, and gives up what must not be done.
async fn settle(asked: &Asked<'_>, kept: &mut [Kept], now: Stamp) -> Result<(), Problem> {
    for one in kept {
        if let Some(changing) = &one.record.changing
            && active(asked, ClaimId(changing.worker)).await?.is_none()
        {
            one.record.abandon(one.item);
        }
        one.record.refuse_unwritten(now);
        one.save(asked).await?;
    }
    Ok(())
}

async fn start(
    asked: &Asked<'_>,
    kept: &mut [Kept],
    wanted: &mut Wanted,
    taken: &Taken,
    now: Stamp,
) -> Result<(), Problem> {
    let ClaimId(worker) = taken.pieces.first().expect("a dataset takes a claim").owner.claim;
    for one in kept.iter_mut().filter(|one| wanted.items.contains(&one.item)) {
        one.record.start(wanted.operation, worker, now);
        one.save(asked).await?;
    }
    Ok(())
}

/// A claim, if it is held.
async fn active(asked: &Asked<'_>, claim: ClaimId) -> Result<Option<Claim>, Problem> {
    let standing = asked.server.store.standing(claim).await.map_err(unavailable)?;
    let claim = standing.map(|standing| standing.claim);
    Ok(claim.filter(|claim| claim.status() == Status::Active))
}

pub(crate) async fn finish(asked: &Asked<'_>, piece: &str, body: &[u8]) -> Result<Answer, Problem> {
    let fields = Fields::parse(asked.media, body, asked.query)?;
    let failed = read::failed(&fields)?;
    drop(fields);
    asked.demand_something(Verb::Claim)?;
    let owners = owners(piece)?;
    let [owner] = owners[..] else { return Err(lost(asked, ClaimId(0))) };
    asked.demand_own(owner).await?;

    let _alone = asked.server.operations.lock().await;
    let claim = active(asked, owner.claim).await?.filter(|claim| claim.key == owner.key);
    let claim = claim.ok_or_else(|| lost(asked, owner.claim))?;
    let now = records::now(asked).await?;
    let names = claim.resources.as_slice().iter();
    for dataset in names.filter_map(|name| DatasetId::of_resource(name.as_str())) {
        for mut kept in records::of_dataset(asked, Item::Dataset(dataset)).await? {
            let worker = kept.record.changing.as_ref().map(|changing| changing.worker);
            if worker != Some(owner.claim.0) {
                continue;
            }
            let failure = failed.iter().find(|(id, _)| *id == kept.item.id());
            let outcome = failure.map_or(Ok(()), |(_, reason)| Err(reason.clone()));
            kept.record.finish(outcome, now);
            kept.save(asked).await?;
        }
    }
    // After it: whoever gets the lock finds the items as they were left.
    let end = Command::End(Owner { claim: claim.id, key: claim.key }, Farewell::Release);
    submit(asked, end, None).await?;
    Ok(no_content())
}

/// The lock of a worker is not there, or not any more.
fn lost(asked: &Asked<'_>, claim: ClaimId) -> Problem {
    asked.unknown(Verb::Claim, claim)
}
