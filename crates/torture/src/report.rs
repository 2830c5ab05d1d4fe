//! What came out of a run, for people and for programs.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use torture::check::{Terms, Verdict, judge_by};
use torture::history::{Acquired, Entry, Told, What};

/// How many findings of one kind are told in full.
const TOLD_MAX: usize = 3;

/// Figures and findings.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) figures: Figures,
    /// How often each fault struck.
    pub(crate) faults: BTreeMap<&'static str, u64>,
    /// What this machine cannot do, and why.
    pub(crate) skipped: BTreeMap<&'static str, String>,
    /// What must hold and did not, as the rig saw it; empty is good.
    pub(crate) findings: Vec<String>,
    /// What the judge says of the history.
    pub(crate) verdict: Verdict,
    /// The same in words, with the lines of the history that show it.
    #[serde(skip)]
    pub(crate) told: String,
}

/// How much was done.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Figures {
    pub(crate) grants: u64,
    pub(crate) refused: u64,
    /// Acts of which nobody knows how they ended.
    pub(crate) unknown: u64,
    pub(crate) renewals: u64,
    pub(crate) releases: u64,
    pub(crate) beliefs: u64,
    pub(crate) effects: u64,
    /// Effects that came too late, and were not let through.
    pub(crate) late: u64,
    pub(crate) looks: u64,
}

impl Report {
    /// Counts what is in a history, and lets the judge look at it.
    pub(crate) fn judge(&mut self, history: &[Entry], terms: &Terms) {
        history.iter().for_each(|entry| self.figures.count(entry));
        self.verdict = judge_by(history, terms);
        self.told = self.verdict.report(history, TOLD_MAX);
    }

    /// Whether everything held.
    pub(crate) fn passes(&self) -> bool {
        self.findings.is_empty() && self.verdict.passes()
    }
}

impl Figures {
    fn count(&mut self, entry: &Entry) {
        let counter = match &entry.what {
            What::Acquire { outcome: Acquired::Granted { .. }, .. } => &mut self.grants,
            What::Acquire { outcome: Acquired::Refused, .. } => &mut self.refused,
            What::Acquire { outcome: Acquired::Unknown, .. }
            | What::Renew { outcome: Told::Unknown, .. }
            | What::Release { outcome: Told::Unknown, .. } => &mut self.unknown,
            What::Renew { .. } => &mut self.renewals,
            What::Release { .. } => &mut self.releases,
            What::Belief { .. } => &mut self.beliefs,
            What::Effect { landed: true, .. } => &mut self.effects,
            What::Effect { landed: false, .. } => &mut self.late,
            What::Look { .. } => &mut self.looks,
            What::Fault { .. } => return,
        };
        *counter += 1;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { grants, refused, unknown, renewals, releases, effects, late, looks, .. } =
            &self.figures;
        writeln!(
            f,
            "{grants} grants, {refused} refusals, {renewals} renewals, {releases} releases, \
             {unknown} acts without an answer, {effects} effects, {late} late ones kept out, \
             {looks} looks"
        )?;
        let struck: Vec<String> =
            self.faults.iter().map(|(name, count)| format!("{name} {count}")).collect();
        writeln!(f, "faults: {}", struck.join(", "))?;
        for (name, why) in &self.skipped {
            writeln!(f, "SKIPPED, NOT TESTED: {name}: {why}")?;
        }
        for finding in &self.findings {
            writeln!(f, "FOUND: {finding}")?;
        }
        write!(f, "{}", self.told)
    }
}
