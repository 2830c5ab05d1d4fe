//! The judge: reads a history and says which promises it breaks.
//!
//! Each promise has a file of its own. None of them knows how the server works; all know is what
//! was asked when, what was told when, and which rules a lock has.
//!
//! ```
//! use torture::check::{Kind, judge};
//! use torture::history::{Acquired, Entry, What};
//!
//! let granted = |client, begin, fence| Entry {
//!     client,
//!     resource: "db".into(),
//!     begin,
//!     end: Some(begin + 10),
//!     what: What::Acquire {
//!         ttl: 1_000_000,
//!         limit: Some(1),
//!         placed: None,
//!         outcome: Acquired::Granted { claim: u64::from(client), fence },
//!     },
//! };
//! let verdict = judge(&[granted(1, 0, 1), granted(2, 100, 2)]);
//! assert!(verdict.has(Kind::NotLinearizable), "nobody gave it back in between");
//! ```

mod acknowledged;
mod cases;
mod fences;
mod linear;
mod model;
mod overlaps;
mod turns;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use self::cases::Case;
use crate::history::{Entry, Nanos};

/// What is known about the store beside its history. The defaults are those of the embedded store.
#[derive(Clone, Debug)]
pub struct Terms {
    /// By how many percent the clock of the store may be faster than that of the history.
    pub drift: u64,
    /// For how long the turn of a called waiter is kept, if its ttl is longer than that.
    pub turn_max: Nanos,
    /// How many claims that are over are remembered.
    pub ended_max: usize,
    /// For how long they are remembered.
    pub retain: Nanos,
    /// How many steps the search for a linearization may take for each resource.
    pub budget: usize,
}

impl Default for Terms {
    fn default() -> Self {
        const SECOND: Nanos = 1_000_000_000;
        Self {
            drift: 5,
            turn_max: 120 * SECOND,
            ended_max: 10_000,
            retain: 24 * 3_600 * SECOND,
            budget: 10_000_000,
        }
    }
}

impl Terms {
    /// How long a lease of this ttl lasts at least.
    pub(crate) fn lease(&self, ttl: Nanos) -> Nanos {
        ttl - ttl / 100 * self.drift
    }
}

/// Which promise was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The history cannot be one: something ends before it begins.
    Malformed,
    /// No order of the operations explains what was told.
    NotLinearizable,
    /// Two were told that they hold, at a time when both must.
    HeldTogether,
    /// Two believed at the same time that they hold.
    BelievedTogether,
    /// Effects of two holders are mixed: one, the other, and the one again.
    EffectsMixed,
    /// A later grant has a lower fence.
    FenceOrder,
    /// One fence was given twice.
    FenceTwice,
    /// An effect landed after one with a higher fence.
    LateEffect,
    /// Somebody who came later was served first.
    OutOfTurn,
    /// An acknowledged grant was gone before its lease could end.
    GrantLost,
    /// A claim that was given back was seen alive.
    ReleaseLost,
    /// A claim that must be remembered was not known.
    ClaimForgotten,
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which.
    pub kind: Kind,
    /// The resource.
    pub resource: String,
    /// How, in words.
    pub says: String,
    /// The entries that show it, by their place in the history.
    pub entries: Vec<usize>,
}

/// What the judge says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What was broken.
    pub findings: Vec<Finding>,
    /// What could not be found out, in words: neither for nor against.
    pub undecided: Vec<String>,
}

impl Verdict {
    /// Whether nothing was found. What is undecided does not count.
    pub fn passes(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether this was found.
    pub fn has(&self, kind: Kind) -> bool {
        self.findings.iter().any(|finding| finding.kind == kind)
    }

    /// How often each was found.
    pub fn tally(&self) -> BTreeMap<Kind, usize> {
        let mut tally = BTreeMap::new();
        for finding in &self.findings {
            *tally.entry(finding.kind).or_default() += 1;
        }
        tally
    }

    /// The findings with the lines of the history that show them, at most `most` of each kind.
    pub fn report(&self, history: &[Entry], most: usize) -> String {
        let mut report = String::new();
        let mut shown: BTreeMap<Kind, usize> = BTreeMap::new();
        for finding in &self.findings {
            let nth = shown.entry(finding.kind).or_default();
            *nth += 1;
            if *nth > most {
                continue;
            }
            report.push_str(&format!("{finding}\n"));
            for &entry in &finding.entries {
                report.push_str(&format!("    {entry}: {}\n", history[entry].to_line()));
            }
        }
        for (kind, count) in self.tally() {
            if count > most {
                report.push_str(&format!("{kind:?}: {} more\n", count - most));
            }
        }
        for undecided in &self.undecided {
            report.push_str(&format!("undecided: {undecided}\n"));
        }
        report
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} on {}: {}", self.kind, self.resource, self.says)
    }
}

/// Judges a history of the embedded store. The entries may come in any order.
pub fn judge(history: &[Entry]) -> Verdict {
    judge_by(history, &Terms::default())
}

/// Judges a history by what is known of its store.
pub fn judge_by(history: &[Entry], terms: &Terms) -> Verdict {
    let mut verdict = Verdict::default();
    let cases = cases::sort(history, terms, &mut verdict.findings);
    let remembered = acknowledged::Remembered::of(history, terms);
    for case in &cases {
        fences::check(case, &mut verdict.findings);
        overlaps::check(case, &mut verdict.findings);
        turns::check(case, terms, &mut verdict.findings);
        acknowledged::check(case, &remembered, &mut verdict.findings);
        linear::check(case, terms, &mut verdict);
    }
    verdict
}

impl Case<'_> {
    fn finding(&self, kind: Kind, entries: &[usize], says: String) -> Finding {
        Finding { kind, resource: self.resource.to_owned(), says, entries: entries.to_vec() }
    }
}

/// A moment as people read it.
fn seconds(at: Nanos) -> String {
    format!("{:.6} s", at as f64 / 1e9)
}
