//! Looking at leases without taking part, and taking one away deliberately.

use claims::contest::{Lease, Seen, Sighting, Terms, Wall, WriterId};
use futures_util::TryStreamExt;
use object_store::path::Path;
use serde::Serialize;
use serde_json::Value;

use super::LEASE_FILE;
use super::blob::Blob;
use super::lease_file;
use crate::fault::random_name;
use crate::{Fault, Place, clock};

/// What a lease file says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeaseReport {
    /// Where it is, without the name of the file.
    pub lease: String,
    /// What that means.
    pub state: LeaseState,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
    /// The machine that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The process that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<String>,
    /// Seconds since it was written or released, by the clocks on the wall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<f64>,
    /// For how many seconds it lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_s: Option<f64>,
    /// Whether the second owner wrote it last.
    pub by_remote: bool,
}

/// What a lease file means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LeaseState {
    /// Somebody has it.
    Held,
    /// Somebody wrote its name and waits whether it wins.
    Contended,
    /// Somebody had it and did not refresh it: it is free.
    Expired,
    /// It was given back: it is free.
    Released,
    /// It cannot be read, and counts as held.
    Unreadable,
    /// It is not there: it is free.
    Absent,
}

/// All leases under a place.
pub async fn list(place: &Place) -> Result<Vec<LeaseReport>, Fault> {
    let found: Vec<_> = place.objects.list(Some(&place.prefix)).try_collect().await?;
    let mut reports = Vec::new();
    for meta in found {
        let mut parts: Vec<_> = meta.location.parts().collect();
        let is_lease = parts.pop().is_some_and(|name| name.as_ref() == LEASE_FILE);
        if is_lease {
            reports.push(report(place, meta.location).await?);
        }
    }
    reports.sort_by(|one, other| one.lease.cmp(&other.lease));
    Ok(reports)
}

/// The lease in this directory of the place.
pub async fn look(place: &Place, directory: &str) -> Result<LeaseReport, Fault> {
    report(place, path(place, directory)?).await
}

/// Marks a lease as given back, whoever has it and whatever is in the file, and says what was there.
/// A holder of our kind notices at its next refresh; one that never looks writes itself in again.
pub async fn wipe(place: &Place, directory: &str) -> Result<LeaseReport, Fault> {
    let path = path(place, directory)?;
    let before = report(place, path.clone()).await?;
    let writer = before.writer.as_deref().and_then(WriterId::new);
    let writer = match writer {
        Some(writer) => writer,
        None => WriterId::new(&format!("broken.{}", random_name(8)?)).expect("a good id"),
    };
    let now = clock::wall();
    let released = Lease {
        writer,
        written_at: now,
        expire: Terms::default().expire(),
        writes: 1,
        first_written_at: now,
        first_acquired_at: None,
        released_at: Some(now),
        by_remote: false,
    };
    Blob::new(place.clone(), path).overwrite(&released).await?;
    Ok(before)
}

fn path(place: &Place, directory: &str) -> Result<Path, Fault> {
    match directory.trim_matches('/') {
        "" => place.object(LEASE_FILE),
        directory => place.object(&format!("{directory}/{LEASE_FILE}")),
    }
}

async fn report(place: &Place, path: Path) -> Result<LeaseReport, Fault> {
    let shown = match place.file(&path) {
        Some(file) => file.parent().unwrap_or(&file).display().to_string(),
        None => path.as_ref().trim_end_matches(LEASE_FILE).trim_end_matches('/').to_owned(),
    };
    let text = Blob::new(place.clone(), path).text().await?;
    let now = clock::wall();
    let (state, seen) = match text.as_deref().map(lease_file::read) {
        None | Some(Seen::Absent) => (LeaseState::Absent, None),
        Some(Seen::Unreadable) => (LeaseState::Unreadable, None),
        Some(Seen::Record(seen)) => (state(&seen, now), Some(seen)),
    };
    let value: Value =
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or(Value::Null);
    let field = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let stamps = [field("written_at"), field("released_at")];
    let latest = stamps.into_iter().flatten().filter(|text| !text.is_empty()).max();
    let age = latest
        .and_then(|text| text.parse::<jiff::Timestamp>().ok())
        .map(|at| (now.0 as f64 - at.as_microsecond() as f64) / 1e6);
    Ok(LeaseReport {
        lease: shown,
        state,
        writer: seen.as_ref().and_then(|seen| Some(seen.writer.as_ref()?.as_str().to_owned())),
        host: field("hostname"),
        pid: field("pid"),
        age_s: age,
        expire_s: seen.and_then(|seen| Some(clock::duration(seen.expire?).as_secs_f64())),
        by_remote: field("writer_name").is_some_and(|name| name == "remote"),
    })
}

/// As its own writer means it: nobody who only looks has an expiry of its own.
fn state(seen: &Sighting, now: Wall) -> LeaseState {
    if seen.released {
        LeaseState::Released
    } else if seen.expire.is_none() || seen.writer.is_none() {
        LeaseState::Unreadable
    } else if !seen.is_fresh(claims::Span::ZERO, now) {
        LeaseState::Expired
    } else if seen.first_acquired_at.is_none() {
        LeaseState::Contended
    } else {
        LeaseState::Held
    }
}
