//! What was seen, by whom, and when: one line of JSON each.
//!
//! ```
//! use torture::history::{Acquired, Entry, What};
//!
//! let entry = Entry {
//!     client: 3,
//!     resource: "db".into(),
//!     begin: 1_000,
//!     end: Some(5_000),
//!     what: What::Acquire { ttl: 2_000_000_000, limit: Some(1), placed: None, outcome: Acquired::Granted { claim: 7, fence: 12 } },
//! };
//! let line = entry.to_line();
//! assert_eq!(Entry::from_line(&line).unwrap(), entry);
//! ```

use serde::{Deserialize, Serialize};

/// Nanoseconds on the clock of the machine that counts suspension too, the same for all processes.
pub type Nanos = u64;

/// Something that took from `begin` to `end`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Who: acts of one client do not overlap, apart from its beliefs.
    pub client: u32,
    /// The resource it is about.
    pub resource: String,
    /// When it was asked for.
    pub begin: Nanos,
    /// When the answer was there; none if it never came, and then it may have happened at any time or never.
    pub end: Option<Nanos>,
    /// What was done.
    pub what: What,
}

/// What a client did or saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "act")]
pub enum What {
    /// It asked to hold the resource.
    Acquire {
        /// How long the lease lasts, in nanoseconds.
        ttl: u64,
        /// With how many others at most; none is no limit.
        limit: Option<u32>,
        /// Since when it knew that it had a place in the line.
        placed: Option<Nanos>,
        /// What it was told.
        outcome: Acquired,
    },
    /// It asked for another ttl.
    Renew {
        /// The claim.
        claim: u64,
        /// What it was told.
        outcome: Told,
    },
    /// It gave the resource back, or gave its place in the line up.
    Release {
        /// The claim.
        claim: u64,
        /// What it was told.
        outcome: Told,
    },
    /// From `begin` to `end` it believed that it holds.
    Belief {
        /// The claim.
        claim: u64,
        /// Its fence.
        fence: u64,
        /// With how many others at most.
        limit: Option<u32>,
    },
    /// It changed the protected thing; written by the witness, at one instant of its clock.
    Effect {
        /// The fence it came with.
        fence: u64,
        /// Whether it was let through.
        landed: bool,
    },
    /// It looked at a claim.
    Look {
        /// The claim.
        claim: u64,
        /// What it saw; none is: no such claim.
        seen: Option<Seen>,
    },
    /// Something bad was done to the world, for whoever reads the history.
    Fault {
        /// What, in words.
        kind: String,
    },
}

/// The answer to an acquisition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acquired {
    /// It holds.
    Granted {
        /// The claim's number.
        claim: u64,
        /// Its fence.
        fence: u64,
    },
    /// It does not hold, and does not wait any more.
    Refused,
    /// Nobody knows.
    Unknown,
}

/// The answer to a renewal or a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// It was done.
    Done,
    /// The claim is over, or another's.
    Refused,
    /// Nobody knows.
    Unknown,
}

/// The state of a claim that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// It stands in line.
    Waiting,
    /// It holds.
    Active,
    /// It is over.
    Ended,
}

impl Entry {
    /// As a line without its end.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("an entry is plain data")
    }

    /// # Errors
    /// If the line is not an entry.
    pub fn from_line(line: &str) -> serde_json::Result<Self> {
        serde_json::from_str(line)
    }
}
