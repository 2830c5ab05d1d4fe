//! Reading what is asked for, within bounds.

use claims::datasets::{Call, DatasetId, LockType, Note, Operation};
use claims::wire::{Field, Fields, Problem, number};
use claims::{Span, Ttl};

/// The longest text that is kept: enough for people, and a record of many fits into a claim.
const TEXT_CHARS_MAX: usize = 256;
/// The most datasets that one call may lock.
pub(super) const DATASETS_MAX: usize = 256;
/// Exact in every JSON reader.
const ID_MAX: u64 = (1 << 53) - 1;

pub(super) fn blamed(name: &'static str, message: &str) -> Problem {
    let mut problem = Problem::invalid();
    problem.blame(name, message, &format!("{name}: {message}"));
    problem
}

/// Whole numbers: a list in JSON, or with commas between them as clients of a data service send them.
pub(super) fn datasets(fields: &Fields<'_>) -> Result<Vec<DatasetId>, Problem> {
    const NAME: &str = "datasetIds";
    let wanted = "A list of whole numbers is required";
    let ids: Option<Vec<u64>> = match fields.get(NAME) {
        None => None,
        Some(Field::Json(raw)) => match serde_json::from_str::<Vec<f64>>(raw.get()) {
            Ok(ids) => ids.into_iter().map(whole).collect(),
            Err(_) => {
                serde_json::from_str::<String>(raw.get()).ok().and_then(|text| spelled(&text))
            }
        },
        Some(Field::Text(text)) => spelled(&text),
    };
    let ids = ids.ok_or_else(|| blamed(NAME, wanted))?;
    if ids.len() > DATASETS_MAX {
        return Err(blamed(
            NAME,
            &format!("At most {DATASETS_MAX} datasets may be locked at once"),
        ));
    }
    Ok(ids.into_iter().map(DatasetId).collect())
}

fn spelled(text: &str) -> Option<Vec<u64>> {
    match text.trim() {
        "" => Some(Vec::new()),
        text => text.split(',').map(|id| digits(id.trim())).collect(),
    }
}

/// A number of JSON that is whole: `7.0` is, too.
fn whole(number: f64) -> Option<u64> {
    let id = number as u64;
    (id <= ID_MAX && id as f64 == number).then_some(id)
}

/// Plain digits, few enough to be exact everywhere.
fn digits(text: &str) -> Option<u64> {
    let plain = (1..=15).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// A whole number, if it is there.
pub(super) fn id(fields: &Fields<'_>, name: &'static str) -> Result<Option<u64>, Problem> {
    let Some(field) = fields.get(name) else { return Ok(None) };
    let read = match &field {
        Field::Json(raw) => serde_json::from_str(raw.get()).ok().and_then(whole),
        Field::Text(text) => digits(text.trim()),
    };
    read.map(Some).ok_or_else(|| blamed(name, "A whole number is required"))
}

/// The same, where `null` says that there is none.
pub(super) fn id_or_null(fields: &Fields<'_>, name: &'static str) -> Result<Option<u64>, Problem> {
    if fields.get(name).is_some_and(|field| field.is_null()) {
        return Ok(None);
    }
    id(fields, name)
}

/// A text, if it is there.
pub(super) fn text(fields: &Fields<'_>, name: &'static str) -> Result<Option<String>, Problem> {
    let Some(field) = fields.get(name) else { return Ok(None) };
    let read = match &field {
        Field::Json(raw) => serde_json::from_str::<String>(raw.get()).ok(),
        Field::Text(text) => Some(text.clone().into_owned()),
    };
    let read = read.filter(|text| text.chars().count() <= TEXT_CHARS_MAX);
    let wanted = format!("A text of at most {TEXT_CHARS_MAX} characters is required");
    read.map(Some).ok_or_else(|| blamed(name, &wanted))
}

/// The same, where `null` says that there is none.
pub(super) fn text_or_null(
    fields: &Fields<'_>,
    name: &'static str,
) -> Result<Option<String>, Problem> {
    if fields.get(name).is_some_and(|field| field.is_null()) {
        return Ok(None);
    }
    text(fields, name)
}

pub(super) fn note(fields: &Fields<'_>) -> Result<Note, Problem> {
    Ok(Note { owner: text_or_null(fields, "owner")?, reason: text_or_null(fields, "reason")? })
}

/// The type of a lock, said by its name or by that of a call.
pub(super) fn kind(fields: &Fields<'_>) -> Result<LockType, Problem> {
    match (text(fields, "type")?, text(fields, "call")?) {
        (Some(_), Some(_)) | (None, None) => Err(blamed("type", "Give either type or call")),
        (Some(kind), None) => {
            LockType::parse(&kind).ok_or_else(|| blamed("type", "SHARED or EXCLUSIVE is required"))
        }
        (None, Some(call)) => match Call::parse(&call) {
            None => Err(blamed("call", "There is no such call")),
            Some(call) => call.lock().ok_or_else(|| {
                blamed("call", "This call takes no lock: queue it with POST /ids/operations")
            }),
        },
    }
}

/// How long a lock lasts, if that is said.
pub(super) fn ttl(fields: &Fields<'_>) -> Result<Option<Ttl>, Problem> {
    let Some(field) = fields.get("ttl") else { return Ok(None) };
    let secs = number(&field);
    let secs = secs.ok_or_else(|| blamed("ttl", "Positive ttl required (in seconds)"))?;
    Ttl::from_secs_f64(secs).map(Some).map_err(|refusal| Problem::refused(&refusal))
}

/// The same; a minute if nobody says.
pub(super) fn ttl_or_minute(fields: &Fields<'_>) -> Result<Ttl, Problem> {
    let minute = || Ttl::new(Span::from_secs(60)).expect("a minute is a good ttl");
    Ok(ttl(fields)?.unwrap_or_else(minute))
}

pub(super) fn operation(fields: &Fields<'_>) -> Result<Operation, Problem> {
    let name = text(fields, "operation")?.unwrap_or_default();
    Operation::parse(&name)
        .ok_or_else(|| blamed("operation", "WRITE, ARCHIVE, RESTORE or DELETE is required"))
}

/// Which operations a worker can do; all if it does not say.
pub(super) fn operations(fields: &Fields<'_>) -> Result<Vec<Operation>, Problem> {
    let wanted = || blamed("operations", "A list of operations is required");
    let names: Vec<String> = match fields.get("operations") {
        None => return Ok(Operation::ALL.to_vec()),
        Some(Field::Json(raw)) => serde_json::from_str(raw.get()).map_err(|_| wanted())?,
        Some(Field::Text(text)) => text.split(',').map(|name| name.trim().to_owned()).collect(),
    };
    names.iter().map(|name| Operation::parse(name).ok_or_else(wanted)).collect()
}

/// Yes or no; no if nobody says.
pub(super) fn truth(fields: &Fields<'_>, name: &'static str) -> Result<bool, Problem> {
    let Some(field) = fields.get(name) else { return Ok(false) };
    let text = match &field {
        Field::Json(raw) => raw.get(),
        Field::Text(text) => text,
    };
    text.parse().map_err(|_| blamed(name, "true or false is required"))
}

/// Those items of a job that went wrong.
pub(super) fn failed(fields: &Fields<'_>) -> Result<Vec<(u64, String)>, Problem> {
    #[derive(serde::Deserialize)]
    struct Failed {
        id: f64,
        reason: String,
    }
    let wanted = || blamed("failed", "A list of objects with id and reason is required");
    let Some(Field::Json(raw)) = fields.get("failed") else { return Err(wanted()) };
    let list: Vec<Failed> = serde_json::from_str(raw.get()).map_err(|_| wanted())?;
    if list.iter().any(|one| one.reason.chars().count() > TEXT_CHARS_MAX) {
        return Err(blamed("failed", "A reason has at most 256 characters"));
    }
    let read = list.into_iter().map(|one| Some((whole(one.id)?, one.reason)));
    read.collect::<Option<Vec<_>>>().ok_or_else(wanted)
}
