//! What a keychain says to its program: one JSON object a line.

use serde::{Deserialize, Serialize};

use super::json::{Json, read_within};

/// The version of the protocol that a keychain speaks.
pub const VERSION: u32 = 1;

/// What a keychain tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// It has started. Always the first line.
    Ready {
        /// Of the protocol.
        version: u32,
        /// The lock server.
        server: String,
    },
    /// The claim is in the queue.
    Waiting {
        /// The program's name for it.
        claim: String,
        /// Its place, if the server said so; 1 is next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<u64>,
        /// Its key, with which it can be adopted.
        key: String,
    },
    /// The claim is held.
    Granted {
        /// The program's name for it.
        claim: String,
        /// Its number at the server.
        number: u64,
        /// Greater than any that a holder of its resources ever had.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fence: Option<u64>,
        /// Until when it is certain.
        #[serde(flatten)]
        until: Until,
        /// Its key, with which it can be adopted.
        key: String,
    },
    /// The lease goes on.
    Renewed {
        /// The program's name for it.
        claim: String,
        /// Until when it is certain.
        #[serde(flatten)]
        until: Until,
        /// Of the request to refresh that this answers.
        #[serde(default, deserialize_with = "read_within", skip_serializing_if = "Json::is_null")]
        id: Json,
    },
    /// A renewal is not confirmed. The old deadline counts, and it is tried again.
    Unknown {
        /// The program's name for it.
        claim: String,
        /// Until when it is certain.
        #[serde(flatten)]
        until: Until,
        /// What happened.
        problem: String,
        /// Of the request to refresh that this answers.
        #[serde(default, deserialize_with = "read_within", skip_serializing_if = "Json::is_null")]
        id: Json,
    },
    /// It was held, and is not any more. Its name is free again.
    Lost {
        /// The program's name for it.
        claim: String,
        /// Why.
        cause: Cause,
        /// In words.
        problem: String,
    },
    /// It was given back, or up. Its name is free again.
    Released {
        /// The program's name for it.
        claim: String,
        /// The server has confirmed it; if not, it ends with its ttl at the latest.
        confirmed: bool,
        /// What happened, if it is not confirmed.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        problem: String,
    },
    /// It was never held. Its name is free again.
    Failed {
        /// The program's name for it.
        claim: String,
        /// Why.
        cause: Cause,
        /// In words.
        problem: String,
        /// The place it had in the queue, if it was busy and the server said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<u64>,
    },
    /// The answer to `validate`.
    Valid {
        /// The program's name for it.
        claim: String,
        /// It is held now.
        held: bool,
        /// The last renewal was confirmed.
        confirmed: bool,
        /// Until when it is certain.
        #[serde(flatten)]
        until: Until,
        /// Its fence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fence: Option<u64>,
        /// Of the request.
        #[serde(default, deserialize_with = "read_within", skip_serializing_if = "Json::is_null")]
        id: Json,
    },
    /// The answer to `list`.
    List {
        /// What is there, by name.
        claims: Vec<Listed>,
        /// Of the request.
        #[serde(default, deserialize_with = "read_within", skip_serializing_if = "Json::is_null")]
        id: Json,
    },
    /// The answer to `ping`.
    Pong {
        /// Of the request.
        #[serde(default, deserialize_with = "read_within", skip_serializing_if = "Json::is_null")]
        id: Json,
    },
    /// A line could not be followed; nothing was changed.
    Error {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The last line: all is given back or up.
    Closed {
        /// Why it ends.
        reason: String,
    },
}

impl Event {
    /// The claim it is about, by the program's name for it.
    pub fn claim(&self) -> Option<&str> {
        match self {
            Self::Waiting { claim, .. }
            | Self::Granted { claim, .. }
            | Self::Renewed { claim, .. }
            | Self::Unknown { claim, .. }
            | Self::Lost { claim, .. }
            | Self::Released { claim, .. }
            | Self::Failed { claim, .. }
            | Self::Valid { claim, .. } => Some(claim),
            Self::Ready { .. }
            | Self::List { .. }
            | Self::Pong { .. }
            | Self::Error { .. }
            | Self::Closed { .. } => None,
        }
    }
}

/// Until when it is certain that a claim is held.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Until {
    /// By the boot-time clock of this machine, in seconds: 0 if it is not held.
    pub deadline: f64,
    /// How long that was when the line was made, in seconds.
    pub valid_for: f64,
}

/// One claim of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// The program's name for it.
    pub claim: String,
    /// What it is for.
    pub resources: Vec<String>,
    /// It is held now.
    pub held: bool,
    /// It is being given back or up.
    pub releasing: bool,
    /// Until when it is certain.
    #[serde(flatten)]
    pub until: Until,
    /// Its fence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
    /// Its number at the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
}

/// Why a claim is not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The server says that its lease ran out.
    Expired,
    /// An administrator took it away.
    Revoked,
    /// Its deadline passed before a renewal was confirmed.
    Unconfirmed,
    /// The server does not know it any more.
    Unknown,
    /// The keychain gave it up: it was stopped.
    Aborted,
    /// Somebody else holds it, and nobody wanted to wait.
    Busy,
    /// It was not its turn in time.
    Timeout,
    /// The server could not be asked in time.
    Unavailable,
    /// The terms are not possible, or the server refused.
    Refused,
    /// The lease is shorter than the way to the server and back.
    TtlTooShort,
}
