//! What a decision writes: the claims that changed, their places, the events, and the revisions.

use std::collections::{BTreeMap, BTreeSet};

use claims::{
    Claim, ClaimId, Event, Name, Phase, Record, Rules, Stamp, State, Status, Timestamp, Turn,
};
use serde::de::DeserializeOwned;
use update_if::{Dialect, Resource, Value};

use super::change::Change;
use super::load::Loaded;
use super::trouble::Trouble;

/// Where a claim stands on each of its resources.
pub(super) const IN_LINE: i64 = 0;
pub(super) const CALLED: i64 = 1;
pub(super) const PASSED_OVER: i64 = 2;
pub(super) const HOLDING: i64 = 3;
pub(super) const OVER: i64 = 4;

/// How bodies are written.
const FORMAT: u8 = 1;

/// A resource's row, as far as a decision changes it.
#[derive(Resource)]
#[resource(table = "tenure_resources")]
#[allow(dead_code, reason = "only its columns are used")]
struct ResourceRow {
    #[resource(key)]
    name: Vec<u8>,
    revision: i64,
    fence: i64,
    waiting: i64,
    touched_at: i64,
}

/// What must be written so that what happened to a part is kept.
pub(super) fn changes(
    loaded: &Loaded,
    state: &State,
    events: &[Event],
    stamp: Stamp,
    rules: &Rules,
    dialect: Dialect,
) -> Result<Vec<Change>, Trouble> {
    let touched: BTreeSet<ClaimId> = events.iter().filter_map(Event::claim).collect();
    let mut waiting: BTreeMap<&Name, i64> = BTreeMap::new();
    let mut fences: BTreeMap<&Name, i64> = BTreeMap::new();
    let (mut changes, mut writes) = (Vec::new(), Vec::new());
    for &id in &touched {
        let record = state.record(id).ok_or_else(unsure)?;
        let after = record.claim;
        let before = loaded.claims.get(&id).map(|record| &record.claim);
        write_claim(before, record, rules, &mut writes)?;
        let delta = i64::from(waits(after)) - i64::from(before.is_some_and(waits));
        let fence = after.activation().map_or(0, |activation| activation.fence.0 as i64);
        for name in after.resources.as_slice() {
            *waiting.entry(name).or_default() += delta;
            let greatest = fences.entry(name).or_default();
            *greatest = fence.max(*greatest);
        }
    }
    for (name, shown) in &loaded.resources {
        let fence = fences.remove(name).unwrap_or(0).max(shown.fence);
        let waiting = shown.waiting + waiting.remove(name).unwrap_or(0);
        let guard = ResourceRow::update(name.as_str().as_bytes().to_vec())
            .set(ResourceRow::REVISION.to(shown.revision + 1))
            .set(ResourceRow::FENCE.to(fence))
            .set(ResourceRow::WAITING.to(waiting.max(0)))
            .set(ResourceRow::TOUCHED_AT.to(micros(stamp.at)))
            .expect(ResourceRow::REVISION.is(shown.revision));
        changes.push(Change::Guard(Box::new(guard)));
    }
    if !waiting.is_empty() || !fences.is_empty() {
        // Nothing may change on a resource that is not guarded.
        return Err(unsure());
    }
    if dialect == Dialect::Sqlite && events.iter().any(|e| matches!(e, Event::Registered { .. })) {
        let set = vec![("next_id", Value::Int(loaded.next_id as i64 + 1))];
        let key = vec![("one", Value::Int(1))];
        writes.push(Change::Update { table: "tenure_store", set, key });
    }
    changes.append(&mut writes);
    changes.push(batch(events, stamp)?);
    Ok(changes)
}

fn unsure() -> Trouble {
    Trouble::Corrupt("a decision changed what it had not loaded: stop, and report this".to_owned())
}

/// The events of one decision.
pub(super) fn batch(events: &[Event], stamp: Stamp) -> Result<Change, Trouble> {
    let values = vec![
        ("happened_at", Value::Int(micros(stamp.at))),
        ("happened_wall", Value::Int(stamp.wall.0 as i64)),
        ("events", Value::Int(events.len() as i64)),
        ("body", Value::Bytes(written(&events)?)),
    ];
    Ok(Change::Insert { table: "tenure_batches", values })
}

fn write_claim(
    before: Option<&Claim>,
    record: Record<&Claim>,
    rules: &Rules,
    writes: &mut Vec<Change>,
) -> Result<(), Trouble> {
    let after = record.claim;
    let id = Value::Int(after.id.0 as i64);
    let kind = kind(after);
    let mut columns = columns(record, rules)?;
    let place = |name: &Name| Value::Bytes(name.as_str().as_bytes().to_vec());
    let Some(before) = before else {
        columns.extend([
            ("id", id.clone()),
            ("key_hash", Value::Bytes(after.key.0.to_vec())),
            ("created_wall", Value::Int(after.created.wall.0 as i64)),
            ("created_at", Value::Int(micros(after.created.at))),
        ]);
        writes.push(Change::Insert { table: "tenure_claims", values: columns });
        for name in after.resources.as_slice() {
            let values =
                vec![("name", place(name)), ("kind", Value::Int(kind)), ("id", id.clone())];
            writes.push(Change::Insert { table: "tenure_places", values });
        }
        return Ok(());
    };
    let key = vec![("id", id.clone())];
    writes.push(Change::Update { table: "tenure_claims", set: columns, key });
    let stood = self::kind(before);
    if stood != kind {
        for name in after.resources.as_slice() {
            let set = vec![("kind", Value::Int(kind))];
            let key = vec![("name", place(name)), ("kind", Value::Int(stood)), ("id", id.clone())];
            writes.push(Change::Update { table: "tenure_places", set, key });
        }
    }
    Ok(())
}

/// What changes in the life of a claim.
fn columns(record: Record<&Claim>, rules: &Rules) -> Result<Vec<(&'static str, Value)>, Trouble> {
    let claim = record.claim;
    let moment = |at: Option<Timestamp>| at.map_or(Value::Null, |at| Value::Int(micros(at)));
    let ended = match &claim.phase {
        Phase::Ended(ended) => Some(ended.at.at),
        Phase::Waiting(_) | Phase::Active(_) => None,
    };
    let due = if ended.is_some() { None } else { record.due(rules) };
    Ok(vec![
        ("kind", Value::Int(kind(claim))),
        ("status", Value::Int(status(claim.status()))),
        ("active_at", moment(claim.activation().map(|activation| activation.since.at))),
        ("ended_at", moment(ended)),
        ("due", moment(due)),
        ("body", Value::Bytes(written(&record)?)),
    ])
}

fn kind(claim: &Claim) -> i64 {
    match &claim.phase {
        Phase::Waiting(turn) => match turn {
            Turn::InLine => IN_LINE,
            Turn::Called { .. } => CALLED,
            Turn::PassedOver => PASSED_OVER,
        },
        Phase::Active(_) => HOLDING,
        Phase::Ended(_) => OVER,
    }
}

fn waits(claim: &Claim) -> bool {
    matches!(claim.phase, Phase::Waiting(_))
}

/// A status as a number: its place in a life.
pub(super) fn status(status: Status) -> i64 {
    Status::ALL.iter().position(|&known| known == status).map_or(-1, |nth| nth as i64)
}

pub(super) fn micros(at: Timestamp) -> i64 {
    i64::try_from(at.as_micros()).unwrap_or(i64::MAX)
}

fn written(thing: &impl serde::Serialize) -> Result<Vec<u8>, Trouble> {
    let written = postcard::to_extend(thing, vec![FORMAT]);
    written.map_err(|error| Trouble::Refused(format!("it cannot be written down: {error}")))
}

pub(super) fn read_claim(body: &[u8]) -> Result<Claim, Trouble> {
    read_record(body).map(|record| record.claim)
}

pub(super) fn read_record(body: &[u8]) -> Result<Record, Trouble> {
    read(body)
}

pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Trouble> {
    let bad = |why: String| {
        Trouble::Corrupt(format!("what is stored cannot be read ({why}): its tables were changed"))
    };
    match body.split_first() {
        Some((&FORMAT, body)) => postcard::from_bytes(body).map_err(|error| bad(error.to_string())),
        Some((format, _)) => Err(bad(format!("it is written in format {format}"))),
        None => Err(bad("there is nothing".to_owned())),
    }
}
