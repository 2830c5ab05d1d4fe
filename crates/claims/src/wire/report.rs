//! The client's side: what it sends to register, and how it reads the claim object.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The claim object as a client reads it. Servers of the original send only the first nine fields.
#[derive(Debug, Clone, Deserialize)]
pub struct ClaimReport {
    /// Its address; with the key, if it is ours.
    pub url: String,
    /// The (first) resource.
    pub resource: String,
    /// Its status.
    pub status: String,
    /// When it was registered, as an RFC 822 date.
    pub created: String,
    /// Its statuses so far, oldest first.
    pub status_history: Vec<Step>,
    /// Seconds left, if it holds.
    pub ttl: Option<f64>,
    /// Seconds it has held.
    pub active_duration: Option<f64>,
    /// Seconds it has waited.
    pub waiting_duration: f64,
    /// What its claimant wants others to see.
    pub user_data: Option<Box<RawValue>>,
    /// Its number.
    pub id: Option<u64>,
    /// All its resources.
    #[serde(default)]
    pub resources: Vec<String>,
    /// How many may hold together; none if shared.
    pub limit: Option<u32>,
    /// Its fence, if it ever held.
    pub fence: Option<u64>,
    /// Its place in the queue, if it waits.
    pub queue_position: Option<u64>,
    /// Who holds what it waits for.
    #[serde(default)]
    pub holders: Vec<u64>,
}

/// One step in the life of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Step {
    /// What it became.
    pub status: String,
    /// When, as an RFC 822 date.
    pub timestamp: String,
}

impl ClaimReport {
    /// Reads a claim object.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(json).map_err(|error| alloc::format!("{error}"))
    }
}

/// What a client sends to register a claim.
#[derive(Debug, Clone, Serialize)]
pub struct RegisterBody<'a> {
    /// One resource, for servers of the original, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<&'a str>,
    /// Several.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub resources: &'a [&'a str],
    /// The lease in seconds.
    pub ttl: f64,
    /// What others may see.
    pub user_data: Option<&'a RawValue>,
    /// How many may hold together, if not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Whether any number may.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub shared: bool,
    /// The key the client chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<&'a str>,
}

impl RegisterBody<'_> {
    /// The JSON to send.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}
