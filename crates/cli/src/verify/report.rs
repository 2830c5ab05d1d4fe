//! What was found, for people or for programs, and which guarantees hold.

use serde_json::json;

use super::place::Trial;
use crate::out::Out;

/// How the contenders did.
pub(super) struct Turns {
    pub(super) processes: u16,
    pub(super) taken: usize,
    pub(super) expected: usize,
    pub(super) overlap: bool,
    pub(super) fences_rise: bool,
    /// How many of them gave up.
    pub(super) failed: usize,
}

pub(super) struct Report<'a> {
    json: bool,
    out: &'a mut Out,
    kept: usize,
    broken: usize,
    turns: Option<Turns>,
}

impl<'a> Report<'a> {
    pub(super) fn new(json: bool, out: &'a mut Out) -> Self {
        Self { json, out, kept: 0, broken: 0, turns: None }
    }

    pub(super) fn begin(&mut self, trial: &Trial) -> anyhow::Result<()> {
        if !self.json {
            let url = crate::out::plain(&without_password(&trial.url));
            self.out.line(format_args!("trying out {url}, which is removed afterwards"))?;
        }
        self.out.flush()
    }

    /// A promise of the suite was kept, or broken with these words.
    pub(super) fn promise(&mut self, name: &str, broken: Option<&str>) -> anyhow::Result<()> {
        match broken {
            Some(_) => self.broken += 1,
            None => self.kept += 1,
        }
        if self.json {
            let finding = json!({
                "finding": "promise", "name": name, "kept": broken.is_none(), "why": broken,
            });
            self.out.line(finding)?;
        } else if let Some(why) = broken {
            self.out.line(format_args!("  BROKEN {}: {why}", name.replace('_', " ")))?;
        }
        self.out.flush()
    }

    pub(super) fn turns(&mut self, turns: Turns) -> anyhow::Result<()> {
        if self.json {
            self.out.line(json!({
                "finding": "exclusion", "processes": turns.processes, "turns": turns.taken,
                "expected": turns.expected, "overlap": turns.overlap,
                "fences_rise": turns.fences_rise, "gave_up": turns.failed,
            }))?;
        }
        self.turns = Some(turns);
        self.out.flush()
    }

    /// Says it all. Whether every promise was kept.
    pub(super) fn end(self, trial: &Trial) -> anyhow::Result<bool> {
        let Self { json, out, kept, broken, turns } = self;
        let turns = turns.as_ref();
        let alone = turns.is_some_and(|turns| !turns.overlap);
        let all = turns.is_some_and(|turns| turns.taken == turns.expected && turns.failed == 0);
        let rise = turns.is_some_and(|turns| turns.fences_rise);
        let good = broken == 0 && alone && all && rise;
        let guarantees = [
            (
                "record exclusion",
                "the store never lists an illegal set of holders",
                alone && broken == 0,
            ),
            ("fences", "every grant has a greater number: late writers can be refused", rise),
            ("turns", "waiters are served in turn, and everybody is served", all && broken == 0),
            (
                "several resources",
                "a claim may cover several, all or nothing",
                trial.keeps_several() && broken == 0,
            ),
        ];
        if json {
            let holds: serde_json::Map<String, serde_json::Value> =
                guarantees.iter().map(|(name, _, holds)| ((*name).into(), json!(holds))).collect();
            out.line(json!({ "finding": "summary", "good": good, "holds": holds }))?;
            return Ok(good);
        }
        out.line(format_args!("  {kept} of {} promises kept", kept + broken))?;
        if let Some(turns) = turns {
            let overlap =
                if turns.overlap { "TWO WERE INSIDE AT ONCE" } else { "never two inside" };
            let fences =
                if turns.fences_rise { "every fence greater" } else { "FENCES DID NOT RISE" };
            out.line(format_args!(
                "  {} of {} turns taken by {} processes: {overlap}, {fences}",
                turns.taken, turns.expected, turns.processes
            ))?;
        }
        out.line("")?;
        for (name, means, holds) in guarantees {
            let holds = if holds { "holds" } else { "DOES NOT HOLD" };
            out.line(format_args!("  {name:18} {holds:14} {means}"))?;
        }
        out.line("")?;
        out.line("not tried here: failures of the store itself; docs/guarantees.md says what it must survive")?;
        Ok(good)
    }
}

fn without_password(url: &str) -> String {
    match (url.split_once("//"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}//{rest}"),
        _ => url.into(),
    }
}
