//! Why an update did not happen: which conditions did not hold, and what was there instead.

mod question;
mod words;

pub(crate) use question::Question;

use crate::Value;

/// Why an update did not happen, as of one moment after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What a row is called: "volume".
    pub noun: String,
    /// The key that was asked for; empty if the update was for all rows.
    pub key: Vec<Value>,
    /// How many rows there were with that key, or at all.
    pub rows: u64,
    /// All conditions, in their order.
    pub findings: Vec<Finding>,
}

/// One condition, and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// For how many rows it held: of one row, 0 or 1.
    pub held: u64,
    /// What is said when it does not hold: "status is 'in-use', expected 'available'".
    pub says: String,
    /// The columns that it reads and what was in them. Empty if the update was for all rows.
    pub actual: Vec<(String, Value)>,
    /// Of a condition on other rows, how many there were.
    pub count: Option<u64>,
    /// Whether this is the fence: a writer with a greater one has been here.
    pub is_fence: bool,
}

impl Explanation {
    /// The conditions that did not hold.
    pub fn unmet(&self) -> impl Iterator<Item = &Finding> {
        let is_one = !self.key.is_empty();
        let all = if is_one { 1 } else { self.rows };
        self.findings.iter().filter(move |finding| self.rows > 0 && finding.held < all)
    }

    /// Whether a writer with a greater fence has been here: this one holds its lock no longer.
    pub fn is_stale_fence(&self) -> bool {
        self.unmet().any(|finding| finding.is_fence)
    }

    /// Whether the row is there and all conditions hold by now: another writer was in between, so try again.
    pub fn holds_by_now(&self) -> bool {
        self.rows > 0 && !self.key.is_empty() && self.unmet().next().is_none()
    }

    /// The whole as a sentence: `sentence("be deleted")` says "volume v1 cannot be deleted: status is 'in-use',
    /// expected one of 'available', 'error'; it has 2 snapshots".
    pub fn sentence(&self, wish: &str) -> String {
        if self.key.is_empty() {
            return self.sentence_of_many(wish);
        }
        let key: Vec<String> = self.key.iter().map(words::plain).collect();
        let subject = format!("{} {}", self.noun, key.join(", "));
        if self.rows == 0 {
            return format!("{subject} cannot {wish}: it is not there");
        }
        if self.holds_by_now() {
            return format!(
                "{subject} could not {wish}, but by now every condition holds: it has changed in \
                 between, try again"
            );
        }
        let reasons: Vec<&str> = self.unmet().map(|finding| finding.says.as_str()).collect();
        format!("{subject} cannot {wish}: {}", reasons.join("; "))
    }

    fn sentence_of_many(&self, wish: &str) -> String {
        let (noun, rows) = (&self.noun, self.rows);
        let reasons: Vec<String> = self
            .unmet()
            .map(|finding| format!("{} of {rows} fail: {}", rows - finding.held, finding.says))
            .collect();
        if reasons.is_empty() {
            return format!(
                "no {noun} could {wish}: there are {rows}, and none is excluded by now"
            );
        }
        format!("no {noun} can {wish}: {}", reasons.join("; "))
    }
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sentence("be changed"))
    }
}
