//! `GET /ids/getServiceStatus`: what is locked, what is queued, what failed.

use claims::datasets::{
    DATASET_PREFIX, DatasetId, Holder, LockLine, Locked, Note, OPERATION_PREFIX, ServiceStatus,
};
use claims::wire::Problem;
use claims::{Name, Verb};
use hyper::StatusCode;
use registry::ResourceReport;

use super::records;
use crate::answer::{Answer, json, text};
use crate::asked::Asked;
use crate::body::Body;

/// The most entries of each list: an answer is bounded, whatever is locked.
const LINES_MAX: usize = 10_000;

/// The version of the data service whose status this is like. Clients ask before they ask for more.
const VERSION: &str = "2.1.1";

pub(crate) async fn status(asked: &Asked<'_>) -> Result<Answer, Problem> {
    // All or nothing: whoever waits for an empty queue must not be shown one that only looks empty.
    let datasets = Name::new(DATASET_PREFIX).expect("the prefix is a good name");
    asked.demand(Verb::Read, &[datasets, records::everything()])?;
    let mut status = ServiceStatus::default();
    records::each_resource(asked, DATASET_PREFIX, |report| {
        if let Some(line) = line(report) {
            match status.locks.len() < LINES_MAX {
                true => status.locks.push(line),
                false => status.locks_left_out += 1,
            }
        }
    })
    .await?;
    status.locks.sort_unstable_by_key(|line| line.dataset);
    for kept in records::all(asked, OPERATION_PREFIX).await? {
        match status.operations.len() < LINES_MAX {
            true => status.add(kept.item, &kept.record),
            false => status.operations_left_out += 1,
        }
    }
    Ok(json(StatusCode::OK, status.to_json()))
}

fn line(report: &ResourceReport) -> Option<LockLine> {
    let dataset = DatasetId::of_resource(report.name.as_str())?;
    let kind = Locked::of(report.holders.iter().map(|claim| claim.limit), 0).kind();
    let mut holders: Vec<_> = report
        .holders
        .iter()
        .filter_map(|claim| {
            let since = claim.activation()?.since.wall;
            let note = Note::of(claim.data().map(|data| data.as_str()));
            Some((claim.id, Holder { since, note }))
        })
        .collect();
    holders.sort_unstable_by_key(|(id, _)| *id);
    let holders: Vec<Holder> = holders.into_iter().map(|(_, holder)| holder).collect();
    let waiting = report.waiting;
    (!holders.is_empty()).then_some(LockLine { dataset, kind, holders, waiting })
}

/// `GET /ids/ping`.
pub(crate) fn ping() -> Answer {
    text("text/plain", Body::Whole("IdsOK".into()))
}

/// `GET /ids/version`.
pub(crate) fn version() -> Answer {
    let tenure = env!("CARGO_PKG_VERSION");
    json(StatusCode::OK, format!("{{\"version\":\"{VERSION}\",\"tenure\":\"{tenure}\"}}"))
}
