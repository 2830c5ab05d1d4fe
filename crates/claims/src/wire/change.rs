//! What `PATCH /v1/claims/<id>/` asks for: exactly one thing.

use alloc::string::String;

use super::fields::{Field, Fields};
use super::problem::Problem;
use super::register::{key, read_ttl};
use crate::terms::Ttl;

/// A change somebody asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Another status.
    Status(WishedStatus),
    /// The lease runs from now again, with this ttl.
    Ttl(Ttl),
    /// Another key may renew it.
    Keeper(String),
}

/// The statuses that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WishedStatus {
    /// Become a holder.
    Active,
    /// Give it back.
    Released,
    /// Stop, because the client fails.
    Aborted,
    /// Take it away.
    Revoked,
    /// Stop wanting it.
    Withdrawn,
}

impl Change {
    /// Reads the parameters; all that is wrong with them is said at once.
    pub fn parse(fields: &Fields<'_>) -> Result<Self, Problem> {
        let mut problem = Problem::invalid();
        let status = fields.get("status").filter(|field| !field.is_null());
        let ttl = fields.get("ttl");
        let keeper = fields.get("keeper").filter(|field| !field.is_null());
        let given = [status.is_some(), ttl.is_some(), keeper.is_some()];
        match given.iter().filter(|&&given| given).count() {
            0 => problem.blame(
                "missing-parameters",
                "No parameters specified",
                "say what to change: status, ttl or keeper (in JSON: application/json)",
            ),
            1 => {}
            _ => problem.blame(
                "extra-parameters",
                "Only one parameter may be updated per request",
                "",
            ),
        }
        let status = status.and_then(|field| wished(&field, &mut problem)).map(Self::Status);
        let ttl = ttl.and_then(|field| read_ttl(&field, &mut problem)).map(Self::Ttl);
        let keeper = keeper.and_then(|_| key(fields, "keeper", &mut problem)).map(Self::Keeper);
        match status.or(ttl).or(keeper) {
            Some(change) if problem.is_empty() => Ok(change),
            _ => Err(problem),
        }
    }
}

fn wished(field: &Field<'_>, problem: &mut Problem) -> Option<WishedStatus> {
    let text = match field {
        Field::Text(text) => text,
        Field::Json(raw) => raw.get().trim_matches('"'),
    };
    let wished = match text {
        "active" => Some(WishedStatus::Active),
        "released" => Some(WishedStatus::Released),
        "aborted" => Some(WishedStatus::Aborted),
        "revoked" => Some(WishedStatus::Revoked),
        "withdrawn" => Some(WishedStatus::Withdrawn),
        _ => None,
    };
    if wished.is_none() {
        problem.blame(
            "status",
            "Invalid value for status",
            "ask for active, released, aborted, revoked or withdrawn",
        );
    }
    wished
}
