//! `torture soak`: a long run in which the server is never ended, so that what grows has time to
//! grow.

use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::run::Work;
use super::{name, seed};
use crate::faults::{CREW, HOUSE};
use crate::gauge::{Gauge, Growth, Sample};
use crate::report::Report;

/// Few enough to be reached soon: from then on, what is remembered stays the same.
const ENDED_MAX: usize = 2_000;

/// How often it is looked at.
const SAMPLES: u32 = 60;

/// What ends the server, and so hides what grows.
const ENDINGS: [&str; 4] = ["server-kill", "restart-storm", "failing-sync", "power-cut"];

/// What `soak` can be told.
#[derive(Args, Clone, Debug)]
pub(crate) struct Soak {
    /// For how long faults fall.
    #[arg(long, default_value_t = 60)]
    minutes: u64,
    /// Print the outcome as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    work: Work,
}

/// What came out of it.
#[derive(Serialize)]
struct Outcome {
    report: Report,
    memory: Option<Growth>,
    disk: Option<Growth>,
    samples: Vec<Sample>,
}

impl Soak {
    pub(crate) fn go(mut self) -> anyhow::Result<bool> {
        let seed = seed(self.work.seed);
        if self.work.faults == ["all"] {
            let all =
                HOUSE.iter().map(|fault| fault.name).chain(CREW.iter().map(|fault| fault.name));
            let lasting = all.filter(|name| !ENDINGS.contains(name));
            self.work.faults = lasting.map(str::to_owned).collect();
        }
        let directory = self.work.place.directory()?;
        let lasts = Duration::from_secs(60 * self.minutes);
        let gauge = Gauge::every(lasts / SAMPLES);
        let report = self.work.suffer(directory.path(), seed, lasts, ENDED_MAX, Some(&gauge))?;
        let samples = gauge.samples();
        let memory = Growth::of(&samples, |sample| sample.memory);
        let disk = Growth::of(&samples, |sample| sample.disk);
        let outcome = Outcome { report, memory, disk, samples };
        let grows = outcome.grows();
        if self.json {
            println!("{}", serde_json::to_string(&outcome)?);
        } else {
            print!(
                "{} store, seed {seed}, {} min: {}",
                name(&self.work.store),
                self.minutes,
                outcome.report
            );
            println!("memory: {}", told(memory));
            println!("disk: {}", told(disk));
        }
        let held = outcome.report.passes() && !grows;
        if !held {
            let program = std::env::current_exe()?;
            let (program, minutes, rest) = (program.display(), self.minutes, self.work.again(seed));
            directory.tell(&format!("{program} soak --minutes {minutes}{rest}"));
        }
        Ok(held)
    }
}

impl Outcome {
    fn grows(&self) -> bool {
        [self.memory, self.disk].iter().flatten().any(Growth::is_growing)
    }
}

fn told(growth: Option<Growth>) -> String {
    let Some(growth) = growth else { return "too short to say".to_owned() };
    let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let verdict = if growth.is_growing() { "FOUND: it grows" } else { "it does not grow" };
    format!(
        "median of the first quarter {:.1} MiB, of the last {:.1} MiB: {verdict}",
        megabytes(growth.first),
        megabytes(growth.last)
    )
}
