//! Answers that are not yes, with the original's field names for programs, and a title and a
//! detail for people.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::json::{write_text, write_whole};
use crate::claim::{Ending, Status};
use crate::identity::ClaimId;
use crate::refusal::Refusal;

/// What the original says about a ttl it cannot use.
pub(super) const TTL: &str = "Positive ttl required (in seconds)";

/// An error as HTTP v1 tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// After how many seconds it makes sense to try again.
    pub retry_after: Option<u32>,
    title: &'static str,
    detail: String,
    /// Names with values that are JSON already.
    members: Vec<(&'static str, String)>,
    /// For readers that decode nothing else.
    ascii: bool,
}

impl Problem {
    /// A problem with nothing but words.
    pub fn new(status: u16, title: &'static str, detail: impl Into<String>) -> Self {
        let (detail, members) = (detail.into(), Vec::new());
        Self { status, retry_after: None, title, detail, members, ascii: false }
    }

    /// Parameters that cannot be used; see [`Problem::blame`].
    pub fn invalid() -> Self {
        Self::new(400, "The request has parameters that cannot be used", "")
    }

    /// It cannot be done now: the outcome is open, and asking again is right.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(503, "Not now", detail).retry_after(1)
    }

    /// What it is, in a few words that say nothing about this case.
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// What it is in this case, and what to do about it.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// When to try again.
    pub fn retry_after(mut self, secs: u32) -> Self {
        self.retry_after = Some(secs);
        self
    }

    /// Adds a text.
    pub fn text(mut self, name: &'static str, value: &str) -> Self {
        let mut json = String::new();
        write_text(&mut json, value);
        self.members.push((name, json));
        self
    }

    /// Adds a whole number.
    pub fn whole(mut self, name: &'static str, value: u64) -> Self {
        self.members.push((name, value.to_string()));
        self
    }

    /// The same in the words of a data service: its code and message in front, all in ASCII.
    pub fn in_words_of_ids(mut self, code: &str, message: Option<&str>) -> Self {
        self.members.retain(|(name, _)| !matches!(*name, "code" | "message"));
        let message = message.unwrap_or(&self.detail);
        for (name, value) in [("message", message), ("code", code)] {
            let mut json = String::new();
            write_text(&mut json, value);
            self.members.insert(0, (name, json));
        }
        self.ascii = true;
        self
    }

    /// Blames a parameter in the original's words, with advice for people.
    pub fn blame(&mut self, parameter: &'static str, message: &str, advice: &str) {
        if self.members.iter().any(|(known, _)| *known == parameter) {
            return;
        }
        let mut json = String::new();
        write_text(&mut json, message);
        self.members.push((parameter, json));
        if !self.detail.is_empty() {
            self.detail.push_str("; ");
        }
        self.detail.push_str(if advice.is_empty() { message } else { advice });
    }

    /// Blames the parameter that a refused term came from.
    pub fn blame_refusal(&mut self, refusal: &Refusal) {
        let text = refusal.to_string();
        match parameter(refusal) {
            Some("ttl") => self.blame("ttl", TTL, &text),
            Some(name) => self.blame(name, &text, ""),
            None => self.blame("message", &text, ""),
        }
    }

    /// Whether nobody was blamed.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The answer to a request that the rules refused.
    pub fn refused(refusal: &Refusal) -> Self {
        let detail = refusal.to_string();
        let code = refusal.code();
        let problem = match refusal {
            Refusal::StillWaiting { claim, position, holders } => {
                let first = holders.first().map_or("null".to_string(), |id| id.to_string());
                let mut problem = Self::new(409, "Still waiting", detail)
                    .text("exception_class", "ConflictException")
                    .text("message", "Resource is locked by another claim");
                problem.members.push(("active_claim_id", first));
                problem.members.push(("holders", list(holders)));
                problem.whole("claim_id", claim.0).whole("queue_position", *position as u64)
            }
            Refusal::Unknown { claim } => Self::new(404, "No such claim", detail)
                .text("exception_class", "ClaimNotFound")
                .text("message", "No claim found")
                .whole("claim_id", claim.0),
            Refusal::NotActive { claim, status } => {
                Self::state_error("Failed to update ttl", *claim, *status, detail)
            }
            Refusal::Over { claim, status } => {
                Self::state_error("Claim has invalid status.", *claim, *status, detail)
            }
            Refusal::CannotEnd { claim, status, asked: Ending::Released } => {
                Self::state_error("Failed to remove lock.", *claim, *status, detail)
            }
            Refusal::CannotEnd { claim, status, asked } => {
                let asked = Status::from(*asked);
                let message = alloc::format!("Cannot set status to \"{asked}\" from \"{status}\"");
                Self::state_error(&message, *claim, *status, detail)
            }
            Refusal::KeeperMayOnlyRenew { claim } => {
                Self::new(403, "A keeper may only renew", detail).whole("claim_id", claim.0)
            }
            Refusal::QueueFull { .. } => Self::new(503, "The queue is full", detail).retry_after(5),
            Refusal::KeyInUse { .. }
            | Refusal::TooManyKeepers { .. }
            | Refusal::NameEmpty
            | Refusal::NameTooLong { .. }
            | Refusal::NameHasControl { .. }
            | Refusal::NoResource
            | Refusal::TooManyResources { .. }
            | Refusal::OneResourceOnly { .. }
            | Refusal::ResourceTwice { .. }
            | Refusal::LimitZero
            | Refusal::TtlNotANumber
            | Refusal::TtlNegative
            | Refusal::TtlTooLong { .. }
            | Refusal::DataTooLarge { .. } => {
                let mut problem = Self::invalid();
                problem.blame_refusal(refusal);
                problem
            }
        };
        problem.text("code", code)
    }

    fn state_error(message: &str, claim: ClaimId, status: Status, detail: String) -> Self {
        Self::new(400, "The claim is not in a state for that", detail)
            .text("exception_class", "InvalidRequest")
            .text("message", message)
            .text("status", status.as_str())
            .whole("claim_id", claim.0)
    }

    /// Writes the JSON object.
    pub fn write(&self, out: &mut String) {
        if self.ascii {
            let mut json = String::new();
            Self { ascii: false, ..self.clone() }.write(&mut json);
            return out.push_str(&crate::datasets::ascii(&json));
        }
        out.push('{');
        for (name, value) in &self.members {
            write_text(out, name);
            out.push(':');
            out.push_str(value);
            out.push(',');
        }
        out.push_str("\"title\":");
        write_text(out, self.title);
        out.push_str(",\"detail\":");
        write_text(out, &self.detail);
        out.push('}');
    }
}

/// The parameter that a term comes from.
fn parameter(refusal: &Refusal) -> Option<&'static str> {
    match refusal.code() {
        "name-empty" | "name-too-long" | "name-has-control" | "no-resource" => Some("resource"),
        "too-many-resources" | "resource-twice" => Some("resources"),
        "limit-zero" => Some("limit"),
        "ttl-not-a-number" | "ttl-negative" | "ttl-too-long" => Some("ttl"),
        "data-too-large" => Some("user_data"),
        "key-in-use" => Some("key"),
        "too-many-keepers" => Some("keeper"),
        _ => None,
    }
}

/// Ids as a JSON list.
pub(super) fn list(ids: &[ClaimId]) -> String {
    let mut json = String::from("[");
    for (nth, id) in ids.iter().enumerate() {
        if nth > 0 {
            json.push(',');
        }
        write_whole(&mut json, id.0);
    }
    json.push(']');
    json
}
