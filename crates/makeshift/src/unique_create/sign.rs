//! What a holder leaves in the store: its tag, and signs of life.

use claims::Span;
use serde::{Deserialize, Serialize};

/// Who created a name, in which attempt, and for how long at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Who it is, for people.
    pub owner: String,
    /// Which attempt it was, for the owner itself: two threads may have one name.
    pub attempt: String,
    /// How long it lives without a sign of life, in milliseconds; for ever, without.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ttl_ms: Option<u64>,
    /// The sign of life: every renewal counts on.
    #[serde(default)]
    pub beat: u64,
}

impl Tag {
    /// Whether it is of the same attempt.
    pub fn is_same_attempt(&self, other: &Self) -> bool {
        self.owner == other.owner && self.attempt == other.attempt
    }

    /// How long it lives without a sign of life.
    pub fn ttl(&self) -> Option<Span> {
        self.ttl_ms.map(Span::from_millis)
    }
}

/// A tag as it was found in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sign {
    /// What it says.
    pub tag: Tag,
    /// Which version of it, for the store.
    pub version: String,
    /// A number greater than that of any holder before, if the store can give one.
    pub fence: Option<u64>,
}
