//! `torture run`: workers claim while faults fall.

use std::time::Duration;

use clap::Args;
use torture::check::Terms;

use super::place::Place;
use super::{name, seed};
use crate::faults::Choice;
use crate::gauge::Gauge;
use crate::progress::Progress;
use crate::report::Report;
use crate::worker::Holds;
use crate::world::Plan;
use crate::{run, stores};

/// More than a run ever makes: nothing is forgotten.
const ENDED_MAX: usize = 1_000_000;

/// What `run` can be told.
#[derive(Args, Clone, Debug)]
pub(crate) struct Run {
    /// For how long faults fall.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    work: Work,
}

/// Who does what, and what happens to them.
#[derive(Args, Clone, Debug)]
pub(super) struct Work {
    /// Where the server keeps its claims.
    #[arg(long, default_value = "embedded")]
    pub(super) store: stores::Kind,
    /// Decides which faults fall, on whom and in which order; without it, another one each time.
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Which faults may fall: all, or some of what `torture faults` names, with commas.
    #[arg(long, value_delimiter = ',', default_value = "all")]
    pub(super) faults: Vec<String>,
    /// How many workers: by hand, with the library, with a keychain, and so on.
    #[arg(long, default_value_t = 6)]
    workers: usize,
    /// How many resources they contend for.
    #[arg(long, default_value_t = 2)]
    resources: u32,
    /// How long leases last, in milliseconds.
    #[arg(long, default_value_t = 2_000)]
    ttl_ms: u64,
    /// How long workers hold.
    #[arg(long, default_value = "mixed")]
    holds: Holds,
    #[command(flatten)]
    pub(super) place: Place,
}

impl Run {
    pub(crate) fn go(self) -> anyhow::Result<bool> {
        let seed = seed(self.work.seed);
        let directory = self.work.place.directory()?;
        let lasts = Duration::from_secs(self.seconds);
        let report = self.work.suffer(directory.path(), seed, lasts, ENDED_MAX, None)?;
        if self.json {
            println!("{}", serde_json::to_string(&report)?);
        } else {
            print!("{} store, seed {seed}, {} s: {report}", name(&self.work.store), self.seconds);
        }
        let held = report.passes();
        if !held {
            let program = std::env::current_exe()?;
            let (program, secs, rest) = (program.display(), self.seconds, self.work.again(seed));
            directory.tell(&format!("{program} run --seconds {secs}{rest}"));
        }
        Ok(held)
    }
}

impl Work {
    pub(super) fn suffer(
        &self,
        directory: &std::path::Path,
        seed: u64,
        lasts: Duration,
        ended_max: usize,
        gauge: Option<&Gauge>,
    ) -> anyhow::Result<Report> {
        let choice = Choice::of(&self.faults)?;
        let mut flags = self.place.server_flag.clone();
        flags.push(format!("--ended-max={ended_max}"));
        // Small, so that the log is rotated and snapshots are taken.
        flags.extend(["--segment-bytes=1048576", "--snapshot-after=1048576"].map(str::to_owned));
        let plan = Plan {
            tenure: self.place.tenure()?,
            store: self.store,
            disk: self.place.disk,
            workers: self.workers,
            resources: self.resources,
            ttl: Duration::from_millis(self.ttl_ms),
            holds: self.holds,
            flags,
        };
        let terms = Terms { ended_max: self.store.ended_max(ended_max), ..Terms::default() };
        let progress = Progress::open(&format!("{} seed {seed}", name(&self.store)));
        let run = run::Run { plan: &plan, seed, lasts, choice: &choice, terms, gauge };
        run.go(directory, &progress)
    }

    /// The words that say the same again.
    pub(super) fn again(&self, seed: u64) -> String {
        let Self { store, faults, workers, resources, ttl_ms, holds, place, .. } = self;
        format!(
            " --store {} --seed {seed} --faults {} --workers {workers} --resources {resources} \
             --ttl-ms {ttl_ms} --holds {}{}",
            name(store),
            faults.join(","),
            name(holds),
            place.again(),
        )
    }
}
