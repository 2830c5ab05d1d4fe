//! What can be asked for on the command line. Each says whether everything held.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};

use torture::check::Terms;

use crate::cycles::{Blow, Cycles, Outcome};
use crate::faults::{CREW, Choice, HOUSE};
use crate::progress::Progress;
use crate::world::Plan;
use crate::{disk, run, stores};

/// More than a run ever makes: nothing is forgotten.
const ENDED_MAX: usize = 1_000_000;

/// Where what is needed comes from, and what is kept of it.
#[derive(Args, Clone, Debug)]
pub(crate) struct Place {
    /// The `tenure` to be tortured; without it, the one beside this program.
    #[arg(long, value_name = "PATH")]
    tenure: Option<PathBuf>,
    /// Keep history and logs in this directory; without it they are kept only if something was found.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// The file system of the disk that loses power.
    #[arg(long, default_value = "ext4")]
    disk: disk::Kind,
    /// One more word for `tenure serve`, such as --server-flag=--durability=none.
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    server_flag: Vec<String>,
}

impl Place {
    pub(crate) fn tenure(&self) -> anyhow::Result<PathBuf> {
        let beside = || Ok::<_, std::io::Error>(std::env::current_exe()?.with_file_name("tenure"));
        let path = self.tenure.clone().map_or_else(beside, Ok)?;
        ensure!(path.exists(), "there is no {}: cargo build -p cli makes it", path.display());
        path.canonicalize().with_context(|| path.display().to_string())
    }

    /// The words that say the same again.
    fn again(&self) -> String {
        let mut words = format!(" --disk {}", name(&self.disk));
        if let Some(tenure) = &self.tenure {
            let _ = write!(words, " --tenure {}", tenure.display());
        }
        for flag in &self.server_flag {
            let _ = write!(words, " --server-flag={flag}");
        }
        words
    }
}

/// What `run` can be told.
#[derive(Args, Clone, Debug)]
pub(crate) struct Run {
    /// Where the server keeps its claims.
    #[arg(long, default_value = "embedded")]
    store: stores::Kind,
    /// Decides which faults fall, on whom and in which order; without it, another one each time.
    #[arg(long)]
    seed: Option<u64>,
    /// For how long faults fall.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Which faults may fall: all, or some of what `torture faults` names, with commas.
    #[arg(long, value_delimiter = ',', default_value = "all")]
    faults: Vec<String>,
    /// How many workers: by hand, with the library, with a keychain, and so on.
    #[arg(long, default_value_t = 6)]
    workers: usize,
    /// How many resources they contend for.
    #[arg(long, default_value_t = 2)]
    resources: u32,
    /// How long leases last, in milliseconds.
    #[arg(long, default_value_t = 2_000)]
    ttl_ms: u64,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Run {
    pub(crate) fn go(self) -> anyhow::Result<bool> {
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        let choice = Choice::of(&self.faults)?;
        let mut flags = self.place.server_flag.clone();
        // Small segments, so that the log is rotated and snapshots are taken; nothing is forgotten.
        flags.push(format!("--ended-max={ENDED_MAX}"));
        flags.extend(["--segment-bytes=1048576", "--snapshot-after=1048576"].map(str::to_owned));
        let plan = Plan {
            tenure: self.place.tenure()?,
            store: self.store,
            disk: self.place.disk,
            workers: self.workers,
            resources: self.resources,
            ttl: Duration::from_millis(self.ttl_ms),
            flags,
        };
        let directory = Directory::new(self.place.keep.as_deref())?;
        let lasts = Duration::from_secs(self.seconds);
        let progress = Progress::open(&format!("{} seed {seed}", name(&self.store)));
        let terms = Terms { ended_max: ENDED_MAX, ..Terms::default() };
        let run = run::Run { plan: &plan, seed, lasts, choice: &choice, terms };
        let report = run.go(directory.path(), &progress)?;
        drop(progress);
        let held = report.passes();
        if self.json {
            println!("{}", serde_json::to_string(&report)?);
        } else {
            print!("{} store, seed {seed}, {} s: {report}", name(&self.store), self.seconds);
        }
        if !held {
            println!("again: {}", self.again(seed)?);
            println!("history and logs: {}", directory.keep().display());
        }
        Ok(held)
    }

    /// One command that does the same again.
    fn again(&self, seed: u64) -> anyhow::Result<String> {
        Ok(format!(
            "{} run --store {} --seed {seed} --seconds {} --faults {} --workers {} --resources {} \
             --ttl-ms {}{}",
            std::env::current_exe()?.display(),
            name(&self.store),
            self.seconds,
            self.faults.join(","),
            self.workers,
            self.resources,
            self.ttl_ms,
            self.place.again(),
        ))
    }
}

/// What `kill` and `power` can be told.
#[derive(Args, Clone, Debug)]
pub(crate) struct Cycle {
    /// How often.
    #[arg(long, default_value_t = 100)]
    rounds: u64,
    /// Decides when each blow falls; without it, another one each time.
    #[arg(long)]
    seed: Option<u64>,
    /// Print the outcome as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Cycle {
    pub(crate) fn kill(self) -> anyhow::Result<bool> {
        self.go(Blow::Kill, "kill")
    }

    pub(crate) fn power(self) -> anyhow::Result<bool> {
        let blow = Blow::PowerCut(self.place.disk);
        self.go(blow, "power")
    }

    fn go(self, blow: Blow, word: &str) -> anyhow::Result<bool> {
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        let (tenure, flags) = (&self.place.tenure()?, &self.place.server_flag);
        let directory = Directory::new(self.place.keep.as_deref())?;
        let progress = Progress::of(self.rounds, "rounds");
        let cycles = Cycles { tenure, flags, blow, rounds: self.rounds, seed };
        let outcome = cycles.go(directory.path(), &progress)?;
        drop(progress);
        if self.json {
            println!("{}", serde_json::to_string(&outcome)?);
        } else {
            let Outcome { rounds, lost, acknowledged, unanswered, losses } = &outcome;
            println!(
                "{word}, seed {seed}: something was lost in {lost} of {rounds} rounds; \
                 {acknowledged} answers were heard, {unanswered} never came"
            );
            losses.iter().for_each(|loss| println!("FOUND: {loss}"));
        }
        if outcome.lost > 0 {
            let (program, again) = (std::env::current_exe()?, self.place.again());
            let (program, rounds) = (program.display(), self.rounds);
            println!("again: {program} {word} --rounds {rounds} --seed {seed}{again}");
        }
        Ok(outcome.lost == 0)
    }
}

pub(crate) fn tell_faults() -> anyhow::Result<bool> {
    for fault in HOUSE {
        println!("{:<16} {}", fault.name, fault.about);
    }
    for fault in CREW {
        println!("{:<16} {}", fault.name, fault.about);
    }
    Ok(true)
}

/// The directory of a run: gone after it, unless somebody wants to keep it.
pub(crate) enum Directory {
    Kept(PathBuf),
    Passing(tempfile::TempDir),
}

impl Directory {
    pub(crate) fn new(keep: Option<&Path>) -> anyhow::Result<Self> {
        let Some(keep) = keep else {
            let directory = tempfile::Builder::new().prefix("torture-").tempdir()?;
            // A database that does not run as root must get through.
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(directory.path(), open)?;
            return Ok(Self::Passing(directory));
        };
        std::fs::create_dir_all(keep)?;
        let is_empty = std::fs::read_dir(keep)?.next().is_none();
        ensure!(is_empty, "{} is not empty: name another directory", keep.display());
        Ok(Self::Kept(keep.canonicalize()?))
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Passing(directory) => directory.path(),
        }
    }

    pub(crate) fn keep(self) -> PathBuf {
        match self {
            Self::Kept(path) => path,
            Self::Passing(directory) => directory.keep(),
        }
    }
}

fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
