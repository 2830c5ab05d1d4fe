//! `torture controls`: the rig on builds that are broken on purpose. A rig that cannot fail proves
//! nothing, so each bug must be found, and by the checker that should.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use clap::Args;
use serde::Deserialize;
use torture::check::Kind;

/// The variable that names the bug to a build that can have one.
const VARIABLE: &str = "TENURE_PLANTED";

/// A bug, what brings it out, and what gives it away.
struct Control {
    /// Its name in the code; none is the same build without any, which must not be blamed.
    bug: Option<&'static str>,
    rig: Rig,
    found: &'static [Kind],
    /// What the rig itself says of it, where no checker has a word.
    said: Option<&'static str>,
    /// What else a run is told: some bugs need many leases that are held for long.
    words: &'static [&'static str],
}

enum Rig {
    /// `torture run` with these faults.
    Run(&'static str),
    /// `torture power`; of its rounds so many percent must fail.
    Power(u64),
}

/// What two who hold together look like.
const TOGETHER: &[Kind] =
    &[Kind::NotLinearizable, Kind::HeldTogether, Kind::BelievedTogether, Kind::GrantLost];

const fn run(bug: &'static str, faults: &'static str, found: &'static [Kind]) -> Control {
    Control { bug: Some(bug), rig: Rig::Run(faults), found, said: None, words: &[] }
}

const fn power(bug: Option<&'static str>, percent: u64) -> Control {
    Control { bug, rig: Rig::Power(percent), found: &[], said: None, words: &[] }
}

/// Something that the rig says without a judge.
const fn plain(bug: &'static str, faults: &'static str, said: &'static str) -> Control {
    Control { said: Some(said), ..run(bug, faults, &[]) }
}

/// Two, of whom one holds with the library; one of them is cut off most of the time.
const fn pair(bug: &'static str, faults: &'static str) -> Control {
    let words = &["--workers", "2"];
    Control { words, ..run(bug, faults, &[Kind::BelievedTogether]) }
}

const CONTROLS: &[Control] = &[
    Control { bug: None, ..run("", "worker-kill,worker-stop,server-kill,partition", &[]) },
    power(None, 0),
    power(Some("NeverSynced"), 95),
    power(Some("AnswerBeforeSync"), 1),
    run("Barging", "worker-kill", &[Kind::OutOfTurn]),
    run("EarlyExpiry", "worker-kill,worker-stop", TOGETHER),
    run("RenewalNotRecorded", "worker-clock", TOGETHER),
    run("RestartRestoresFirstDeadline", "server-kill", TOGETHER),
    run("LimitOffByOne", "worker-clock", TOGETHER),
    run("ReleaseFreesWhoeverHolds", "worker-stop", TOGETHER),
    run("SharedFence", "worker-clock", &[Kind::FenceTwice]),
    run("FenceNotDurable", "server-kill", &[Kind::FenceTwice, Kind::FenceOrder]),
    pair("BelievesPastDeadline", "partition"),
    Control {
        words: &["--workers", "2", "--holds", "long"],
        ..pair("LostAnswerIsYes", "partition,lost-answers")
    },
    plain("GhostGrant", "worker-clock", "behind its back"),
    plain("NoIdempotency", "worker-clock", "made two claims"),
];

/// What `controls` can be told.
#[derive(Args, Clone, Debug)]
pub(crate) struct Controls {
    /// Where `tenure` and `torture` are, built with the feature `planted`; without it they are
    /// built, into a directory of their own.
    #[arg(long, value_name = "DIR")]
    built: Option<PathBuf>,
    /// Only these bugs, with commas.
    #[arg(long, value_delimiter = ',')]
    bugs: Vec<String>,
    /// How many runs a bug may take to be found. Without a bug, a third of them must hold.
    #[arg(long, default_value_t = 30)]
    runs: u64,
    /// How long a run lasts.
    #[arg(long, default_value_t = 15)]
    seconds: u64,
    /// How many power cuts.
    #[arg(long, default_value_t = 60)]
    rounds: u64,
    /// The seed of the first run; each further run has the next.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Control {
    /// Whether this is what should come of it; if the rig itself said so, in which words.
    fn given_away(
        &self,
        tally: &BTreeMap<Kind, usize>,
        findings: &[String],
    ) -> Option<Option<&'static str>> {
        let by_judge = self.found.iter().any(|kind| tally.contains_key(kind));
        let by_rig = self.said.filter(|said| findings.iter().any(|it| it.contains(said)));
        by_rig.map(Some).or(by_judge.then_some(None))
    }
}

impl Controls {
    pub(crate) fn go(self) -> anyhow::Result<bool> {
        let built = self.built.clone().map_or_else(build, Ok)?;
        println!("| bug | brought out by | found by | after |");
        println!("|---|---|---|---|");
        let mut all = true;
        for control in CONTROLS {
            let name = control.bug.unwrap_or("none");
            if !self.bugs.is_empty() && !self.bugs.iter().any(|bug| bug == name) {
                continue;
            }
            let outcome = match control.rig {
                Rig::Run(faults) => self.runs_of(&built, control, faults),
                Rig::Power(percent) => self.power_cuts(&built, control, percent),
            };
            let Row { by, after, as_it_should } =
                outcome.with_context(|| format!("with the bug {name}"))?;
            let with = match control.rig {
                Rig::Run(faults) => faults.replace(',', ", "),
                Rig::Power(_) => "power cuts".to_owned(),
            };
            let mark = if as_it_should { "" } else { " **NOT AS IT SHOULD BE**" };
            println!("| {name} | {with} | {by} | {after}{mark} |");
            all &= as_it_should;
        }
        Ok(all)
    }

    /// Runs until the bug is found by what should find it. Without a bug, all runs must hold.
    fn runs_of(&self, built: &Path, control: &Control, faults: &str) -> anyhow::Result<Row> {
        let runs = if control.bug.is_some() { self.runs } else { self.runs.div_ceil(3) };
        for nth in 0..runs {
            let seed = (self.seed + nth).to_string();
            let seconds = self.seconds.to_string();
            let words = ["run", "--json", "--seed", &seed, "--seconds", &seconds];
            let contention = ["--resources", "1", "--ttl-ms", "1000", "--faults", faults];
            let words = [&words[..], &contention, control.words].concat();
            let report: Report = rig(built, control, &words)?;
            let mut tally: BTreeMap<Kind, usize> = BTreeMap::new();
            for finding in &report.verdict.findings {
                *tally.entry(finding.kind).or_default() += 1;
            }
            let told: Vec<String> =
                tally.iter().map(|(kind, count)| format!("{kind:?} {count}")).collect();
            if control.bug.is_none() {
                let holds = tally.is_empty() && report.findings.is_empty();
                if !holds {
                    let by = [told, report.findings].concat().join(", ");
                    return Ok(Row { by, after: format!("run {seed}"), as_it_should: false });
                }
            } else if let Some(by) = control.given_away(&tally, &report.findings) {
                let after = format!("{} of at most {runs} runs", nth + 1);
                let by = by.map_or_else(|| told.join(", "), |said| format!("the rig: {said}"));
                return Ok(Row { by, after, as_it_should: true });
            }
        }
        let as_it_should = control.bug.is_none();
        let after = format!("{runs} runs of {} s", self.seconds);
        Ok(Row { by: "nothing found".into(), after, as_it_should })
    }

    fn power_cuts(&self, built: &Path, control: &Control, percent: u64) -> anyhow::Result<Row> {
        let (rounds, seed) = (self.rounds.to_string(), self.seed.to_string());
        let words = ["power", "--json", "--rounds", &rounds, "--seed", &seed];
        let Losses { rounds, lost } = rig(built, control, &words)?;
        let as_it_should = match control.bug {
            Some(_) => lost * 100 >= rounds * percent,
            None => lost == 0,
        };
        let by = if lost > 0 { "something acknowledged is lost" } else { "nothing found" };
        let rate = lost as f64 * 100.0 / rounds.max(1) as f64;
        let after = format!("{lost} of {rounds} rounds ({rate:.0} %)");
        Ok(Row { by: by.into(), after, as_it_should })
    }
}

/// What is told of a bug.
struct Row {
    by: String,
    after: String,
    as_it_should: bool,
}

/// What is read of the report of a run.
#[derive(Deserialize)]
struct Report {
    findings: Vec<String>,
    verdict: Verdict,
}

#[derive(Deserialize)]
struct Verdict {
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    kind: Kind,
}

/// What is read of the outcome of power cuts.
#[derive(Deserialize)]
struct Losses {
    rounds: u64,
    lost: u64,
}

/// Runs the rig in a process of its own, so that everything it starts has the bug, and reads the
/// first line that it says. What it keeps is needed only if there was no bug and it found one.
fn rig<T: for<'a> Deserialize<'a>>(
    built: &Path,
    control: &Control,
    words: &[&str],
) -> anyhow::Result<T> {
    let kept = tempfile::Builder::new().prefix("controls-").tempdir()?;
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(kept.path(), open)?;
    let mut command = Command::new(built.join("torture"));
    command.args(words).arg("--keep").arg(kept.path().join("run"));
    command.arg("--tenure").arg(built.join("tenure"));
    command.stdin(Stdio::null()).stderr(Stdio::piped()).env_remove(VARIABLE);
    command.envs(control.bug.map(|bug| (VARIABLE, bug)));
    let done = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let said = String::from_utf8_lossy(&done.stdout);
    let failed = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.code().is_some_and(|code| code < 2), "the rig failed: {failed}");
    if control.bug.is_none() && !done.status.success() {
        // Nothing was broken on purpose: whoever looks into it needs all there is.
        eprintln!("history and logs: {}", kept.keep().display());
    }
    let line = said.lines().next().context("the rig says nothing")?;
    serde_json::from_str(line).with_context(|| format!("the rig says {line:?}"))
}

/// Builds what can be broken, beside what cannot. It is never found by those who look for the
/// product.
fn build() -> anyhow::Result<PathBuf> {
    let beside = std::env::current_exe()?;
    let target = beside.ancestors().nth(2).context("this program is in a target directory")?;
    let target = target.join("planted");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--locked", "-p", "cli", "-p", "torture"]);
    command.args(["--features", "cli/planted,torture/planted", "--target-dir"]).arg(&target);
    let status = command.current_dir(root).stdin(Stdio::null()).status()?;
    ensure!(status.success(), "the build that can be broken failed");
    Ok(target.join("debug"))
}
