//! What `POST /v1/claims/` asks for.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use super::fields::{Field, Fields};
use super::handle::is_key;
use super::json::write_text;
use super::number::number;
use super::problem::{Problem, TTL};
use crate::terms::{Data, Limit, Name, Resources, Ttl};

/// How deep user data may be nested: whoever reads it back must survive it.
pub const DATA_DEPTH_MAX: usize = 64;

/// A claim somebody wants to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewClaim {
    /// The key that the client chose, if it did.
    pub key: Option<String>,
    /// What is wanted.
    pub resources: Resources,
    /// How many may hold together.
    pub limit: Limit,
    /// The lease.
    pub ttl: Ttl,
    /// What others may see.
    pub data: Option<Data>,
}

impl NewClaim {
    /// Reads the parameters; all that is wrong with them is said at once.
    pub fn parse(fields: &Fields<'_>) -> Result<Self, Problem> {
        let mut problem = Problem::invalid();
        let resources = resources(fields, &mut problem);
        let ttl = ttl(fields, &mut problem);
        let limit = limit(fields, &mut problem);
        let data = data(fields, &mut problem);
        let key = key(fields, "key", &mut problem);
        match (resources, ttl, limit) {
            (Some(resources), Some(ttl), Some(limit)) if problem.is_empty() => {
                Ok(Self { key, resources, limit, ttl, data })
            }
            _ => Err(problem),
        }
    }
}

fn resources(fields: &Fields<'_>, problem: &mut Problem) -> Option<Resources> {
    let several = several(fields, problem);
    let one = fields.get("resource").filter(|field| !field.is_null());
    let names = match (one, several) {
        (Some(_), Some(_)) => {
            problem.blame("resources", "Give resource or resources, not both", "");
            return None;
        }
        (None, Some(names)) => names,
        (Some(field), None) => Vec::from([name(&field)]),
        (None, None) => {
            problem.blame("resource", "No resource specified", "name what you want: resource");
            return None;
        }
    };
    let mut parsed = Vec::with_capacity(names.len());
    for name in names {
        match name.as_deref().map(Name::new) {
            Some(Ok(name)) => parsed.push(name),
            Some(Err(refusal)) if refusal.code() == "name-empty" => {
                problem.blame("resource", "No resource specified", "");
            }
            Some(Err(refusal)) => problem.blame_refusal(&refusal),
            None => problem.blame("resource", "A resource is named by text", ""),
        }
    }
    if !problem.is_empty() {
        return None;
    }
    Resources::try_from(parsed).map_err(|refusal| problem.blame_refusal(&refusal)).ok()
}

/// The names under `resources`: a JSON list, or repeated in the query.
fn several<'a>(fields: &'a Fields<'_>, problem: &mut Problem) -> Option<Vec<Option<Cow<'a, str>>>> {
    match fields.get("resources")? {
        Field::Text(_) => {
            Some(fields.all("resources").map(|one| Some(Cow::Borrowed(one))).collect())
        }
        field if field.is_null() => None,
        Field::Json(raw) => match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
            Ok(list) => Some(list.into_iter().map(|one| name(&Field::Json(one))).collect()),
            Err(_) => {
                problem.blame("resources", "A list of names is required", "");
                None
            }
        },
    }
}

/// A name, read as the original did: numbers and truth values have a text.
fn name<'a>(field: &Field<'a>) -> Option<Cow<'a, str>> {
    match field {
        Field::Text(text) => Some(text.clone()),
        Field::Json(raw) => match raw.get() {
            "true" => Some(Cow::Borrowed("True")),
            "false" => Some(Cow::Borrowed("False")),
            text if text.starts_with('"') => serde_json::from_str(text).ok().map(Cow::Owned),
            text if text.starts_with(['[', '{']) || text == "null" => None,
            text => Some(Cow::Borrowed(text)),
        },
    }
}

fn ttl(fields: &Fields<'_>, problem: &mut Problem) -> Option<Ttl> {
    match fields.get("ttl") {
        None => {
            problem.blame("ttl", "No ttl specified", "say how many seconds the lease lasts: ttl");
            None
        }
        Some(field) => read_ttl(&field, problem),
    }
}

/// A ttl that is there.
pub(super) fn read_ttl(field: &Field<'_>, problem: &mut Problem) -> Option<Ttl> {
    let Some(secs) = number(field) else {
        problem.blame("ttl", TTL, "the ttl is not a number: give seconds, such as 60");
        return None;
    };
    Ttl::from_secs_f64(secs).map_err(|refusal| problem.blame_refusal(&refusal)).ok()
}

fn limit(fields: &Fields<'_>, problem: &mut Problem) -> Option<Limit> {
    let shared = match fields.get("shared").filter(|field| !field.is_null()) {
        None => false,
        Some(field) => truth(&field).or_else(|| {
            problem.blame("shared", "True or false is required", "");
            None
        })?,
    };
    let limit = fields.get("limit").filter(|field| !field.is_null());
    match (shared, limit) {
        (false, None) => Some(Limit::EXCLUSIVE),
        (true, None) => Some(Limit::SHARED),
        (true, Some(_)) => {
            problem.blame("limit", "Give limit or shared, not both", "");
            None
        }
        (false, Some(field)) => {
            let count = number(&field).filter(|count| {
                (0.0..f64::from(u32::MAX)).contains(count) && *count == f64::from(*count as u32)
            });
            let Some(count) = count else {
                problem.blame("limit", "A whole number above 0 is required", "");
                return None;
            };
            let limit = Limit::at_most(count as u32);
            limit.map_err(|refusal| problem.blame_refusal(&refusal)).ok()
        }
    }
}

fn truth(field: &Field<'_>) -> Option<bool> {
    let text = match field {
        Field::Json(raw) => raw.get().trim_matches('"'),
        Field::Text(text) => text,
    };
    match text {
        "true" | "True" | "1" => Some(true),
        "false" | "False" | "0" => Some(false),
        _ => None,
    }
}

/// User data is kept as the JSON it came as. Nothing and `null` are the same.
fn data(fields: &Fields<'_>, problem: &mut Problem) -> Option<Data> {
    let field = fields.get("user_data").filter(|field| !field.is_null())?;
    let json = match &field {
        Field::Json(raw) => Cow::Borrowed(raw.get()),
        Field::Text(text) => {
            let mut json = String::new();
            write_text(&mut json, text);
            Cow::Owned(json)
        }
    };
    if depth(&json) > DATA_DEPTH_MAX {
        let message = alloc::format!("The user data is nested deeper than {DATA_DEPTH_MAX}");
        problem.blame("user_data", &message, "");
        return None;
    }
    Data::new(&json).map_err(|refusal| problem.blame_refusal(&refusal)).ok()
}

/// How deep a valid JSON text is nested.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// A key that the client chose.
pub(super) fn key(
    fields: &Fields<'_>,
    parameter: &'static str,
    problem: &mut Problem,
) -> Option<String> {
    let field = fields.get(parameter).filter(|field| !field.is_null())?;
    let text = match &field {
        Field::Text(text) => Some((**text).to_owned()),
        Field::Json(raw) => serde_json::from_str(raw.get()).ok(),
    };
    let key = text.filter(|text| is_key(text));
    if key.is_none() {
        problem.blame(
            parameter,
            "A key of 22 to 128 letters, digits, - and _ is required",
            "a key proves that a claim is yours: make it from at least 128 random bits",
        );
    }
    key
}
