//! `tenure verify`: whether a store keeps its promises, tried out where you keep it.
//!
//! The promises are those of the conformance suite; exclusion is tried with processes that contend.
//! Both run in processes of their own: a promise that is not kept ends the one that found it.

mod contend;
mod place;
mod promises;
mod report;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};

use self::place::Trial;
use self::report::Report;
use crate::exit::{Exit, OrExit};
use crate::out::Out;
use crate::serve::stopped;

/// How late a request of a process that was ended may arrive.
const LATE: Duration = Duration::from_millis(500);
/// Where the parts find the address.
const URL: &str = "TENURE_VERIFY_URL";

/// What to verify, and how hard.
#[derive(Args)]
pub(crate) struct Verify {
    /// The store: sqlite:FILE, postgres://…, mysql://…, etcd://host:port/prefix, s3://…, az://…, gs://…,
    /// file:///directory
    url: String,
    /// How many processes contend
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(2..=64))]
    processes: u16,
    /// How many turns each of them takes
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// One line of JSON for each finding
    #[arg(long)]
    json: bool,
}

/// A part of it, in a process of its own.
#[derive(Subcommand)]
pub(crate) enum Part {
    /// Try promise after promise
    Promises(promises::Promises),
    /// Take turns with others
    Contend(contend::Contend),
}

pub(crate) async fn run(wish: &Verify, out: &mut Out) -> anyhow::Result<ExitCode> {
    let interrupted = stopped().or_exit(Exit::Io, || "signals cannot be heard".into())?;
    let trial = Trial::below(&wish.url)?;
    let mut report = Report::new(wish.json, out);
    report.begin(&trial)?;
    let tried = tokio::select! {
        tried = attempt(wish, &trial, &mut report) => Some(tried),
        () = interrupted => None,
    };
    // Whatever came of it, nothing of ours stays there.
    let removed = trial.remove().await;
    let Some(tried) = tried else {
        removed?;
        // What the processes that were ended had under way may still have arrived.
        tokio::time::sleep(LATE).await;
        trial.remove().await?;
        aside!("tenure: stopped; what was tried out is removed");
        return Ok(ExitCode::from(130));
    };
    tried?;
    removed?;
    let kept = report.end(&trial)?;
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::from(Exit::Refused as u8) })
}

async fn attempt(wish: &Verify, trial: &Trial, report: &mut Report<'_>) -> anyhow::Result<()> {
    let turns = u64::from(wish.processes) * u64::from(wish.rounds);
    let bar = progress(promises::count() + turns);
    trial.probe().await?;
    drop(trial.open().await?);
    promises::try_all(trial, &bar, report).await?;
    contend::try_out(trial, wish, &bar, report).await?;
    bar.finish_and_clear();
    Ok(())
}

pub(crate) async fn part(part: Part) -> anyhow::Result<()> {
    match part {
        Part::Promises(wish) => promises::run(&wish).await,
        Part::Contend(wish) => contend::run(&wish).await,
    }
}

/// A bar on a terminal, nothing elsewhere.
fn progress(steps: u64) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar
}
