//! Reading what is asked for, within bounds.

use claims::Ttl;
use claims::datasets::{Call, DatasetId, LockType, Note, Operation};
use claims::wire::{Field, Fields, Problem, number};

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
        Some(Field::Json(raw)) => match serde_json::from_str(raw.get()) {
            Ok(ids) => Some(ids),
            Err(_) => {
                serde_json::from_str::<String>(raw.get()).ok().and_then(|text| spelled(&text))
            }
        },
        Some(Field::Text(text)) => spelled(&text),
    };
    let ids = ids.filter(|ids| ids.iter().all(|id| *id <= ID_MAX));
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
        text => text.split(',').map(|id| id.trim().parse().ok()).collect(),
    }
}

pub(super) fn id(fields: &Fields<'_>, name: &'static str) -> Result<Option<u64>, Problem> {
    let Some(field) = fields.get(name).filter(|field| !field.is_null()) else { return Ok(None) };
    let text = match &field {
        Field::Json(raw) => raw.get().trim_matches('"'),
        Field::Text(text) => text.trim(),
    };
    let read = text.parse().ok().filter(|id| *id <= ID_MAX);
    read.map(Some).ok_or_else(|| blamed(name, "A whole number is required"))
}

pub(super) fn text(fields: &Fields<'_>, name: &'static str) -> Result<Option<String>, Problem> {
    let Some(field) = fields.get(name).filter(|field| !field.is_null()) else { return Ok(None) };
    let read = match &field {
        Field::Json(raw) => serde_json::from_str::<String>(raw.get()).ok(),
        Field::Text(text) => Some(text.clone().into_owned()),
    };
    let read = read.filter(|text| text.chars().count() <= TEXT_CHARS_MAX);
    let wanted = format!("A text of at most {TEXT_CHARS_MAX} characters is required");
    read.map(Some).ok_or_else(|| blamed(name, &wanted))
}

pub(super) fn note(fields: &Fields<'_>) -> Result<Note, Problem> {
    Ok(Note { owner: text(fields, "owner")?, reason: text(fields, "reason")? })
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

/// How long a lock lasts; a minute if nobody says.
pub(super) fn ttl(fields: &Fields<'_>) -> Result<Ttl, Problem> {
    let secs = match fields.get("ttl").filter(|field| !field.is_null()) {
        None => 60.0,
        Some(field) => {
            number(&field).ok_or_else(|| blamed("ttl", "Positive ttl required (in seconds)"))?
        }
    };
    Ttl::from_secs_f64(secs).map_err(|refusal| Problem::refused(&refusal))
}

pub(super) fn operation(fields: &Fields<'_>) -> Result<Operation, Problem> {
    let name = text(fields, "operation")?.unwrap_or_default();
    Operation::parse(&name)
        .ok_or_else(|| blamed("operation", "WRITE, ARCHIVE, RESTORE or DELETE is required"))
}

/// Which operations a worker can do; all if it does not say.
pub(super) fn operations(fields: &Fields<'_>) -> Result<Vec<Operation>, Problem> {
    let wanted = || blamed("operations", "A list of operations is required");
    let names: Vec<String> = match fields.get("operations").filter(|field| !field.is_null()) {
        None => return Ok(Operation::ALL.to_vec()),
        Some(Field::Json(raw)) => serde_json::from_str(raw.get()).map_err(|_| wanted())?,
        Some(Field::Text(text)) => text.split(',').map(|name| name.trim().to_owned()).collect(),
    };
    names.iter().map(|name| Operation::parse(name).ok_or_else(wanted)).collect()
}

pub(super) fn truth(fields: &Fields<'_>, name: &'static str) -> bool {
    let field = fields.get(name);
    matches!(field.as_ref().and_then(number), Some(one) if one == 1.0)
        || matches!(field, Some(Field::Text(text)) if text == "true")
}

/// Those items of a job that went wrong.
pub(super) fn failed(fields: &Fields<'_>) -> Result<Vec<(u64, String)>, Problem> {
    #[derive(serde::Deserialize)]
    struct Failed {
        id: u64,
        reason: String,
    }
    let wanted = || blamed("failed", "A list of objects with id and reason is required");
    let Some(field) = fields.get("failed").filter(|field| !field.is_null()) else {
        return Ok(Vec::new());
    };
    let Field::Json(raw) = field else { return Err(wanted()) };
    let list: Vec<Failed> = serde_json::from_str(raw.get()).map_err(|_| wanted())?;
    let short = list.iter().all(|one| one.reason.chars().count() <= TEXT_CHARS_MAX);
    match short {
        true => Ok(list.into_iter().map(|one| (one.id, one.reason)).collect()),
        false => Err(blamed("failed", "A reason has at most 256 characters")),
    }
}
