//! Runs seeds: one as a story, or many with a progress bar.
#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    reason = "this program is run by people, who read its standard output"
)]

use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{ArgGroup, Parser};
use indicatif::{ProgressBar, ProgressStyle};
use sim::planted::{ALL, Planted};
use sim::{Failure, Figures, Outcome, Setup, run};

/// Runs the whole system in one thread from one seed, and says whether everything held.
#[derive(Debug, Parser)]
#[command(group(ArgGroup::new("which").required(true).args(["seed", "seeds", "bugs"])))]
struct Arguments {
    /// Run this seed and tell what happened.
    #[arg(long)]
    seed: Option<u64>,
    /// Run all seeds of a range, such as 0..2000.
    #[arg(long, value_parser = parse_range)]
    seeds: Option<Range<u64>>,
    /// Name the bugs that can be planted.
    #[arg(long)]
    bugs: bool,
    /// Plant a bug.
    #[arg(long, value_parser = parse_bug)]
    bug: Option<Planted>,
    /// How much of the end of a story to tell, or how many of the failing seeds.
    #[arg(long, default_value_t = 80)]
    last: usize,
    /// How many threads share the seeds of a range.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
}

/// The seed the only thread is at, for the panic hook.
static SEED: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    tell_panics(&arguments);
    if arguments.bugs {
        for bug in ALL.iter() {
            println!("{:<8} {}", bug.part(), bug.name());
        }
        return ExitCode::SUCCESS;
    }
    match (arguments.seed, arguments.seeds.clone()) {
        (Some(seed), _) => tell_one(seed, &arguments),
        (None, Some(seeds)) => run_many(seeds, &arguments),
        (None, None) => unreachable!("the command line demands one of them"),
    }
}

/// One seed, as a story.
fn tell_one(seed: u64, arguments: &Arguments) -> ExitCode {
    SEED.store(seed, Ordering::Relaxed);
    let setup = Setup { planted: arguments.bug, keep: arguments.last };
    let Outcome { hash, figures, failure } = run(seed, &setup);
    match failure {
        Some(failure) => {
            tell_failure(seed, &failure, arguments);
            ExitCode::FAILURE
        }
        None => {
            for line in sim::take_story().iter().rev().take(arguments.last).rev() {
                println!("{line}");
            }
            println!("\nseed {seed}: everything held ({})", summary(&figures));
            println!("trace {hash:016x}");
            ExitCode::SUCCESS
        }
    }
}

fn tell_failure(seed: u64, failure: &Failure, arguments: &Arguments) {
    for line in &failure.story {
        println!("{line}");
    }
    println!("\nseed {seed} FAILS: {}", failure.invariant);
    println!("  {}", failure.what);
    println!("run it again: {}", command(seed, arguments));
}

fn command(seed: u64, arguments: &Arguments) -> String {
    let bug = arguments.bug.map_or(String::new(), |bug| format!(" --bug {}", bug.name()));
    format!("cargo run --release -p sim -- --seed {seed}{bug}")
}

/// Many seeds, with a bar.
fn run_many(seeds: Range<u64>, arguments: &Arguments) -> ExitCode {
    let setup = Setup { planted: arguments.bug, keep: 0 };
    let style = "{bar:40} {pos}/{len} seeds  {per_sec}  {msg}  {eta} left";
    let style = ProgressStyle::with_template(style).expect("a valid template");
    let bar = ProgressBar::new(seeds.end.saturating_sub(seeds.start)).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    let began = Instant::now();
    let next = AtomicU64::new(seeds.start);
    let worker = || {
        let (mut figures, mut failing) = (Figures::default(), Vec::new());
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return (figures, failing);
            }
            if arguments.jobs <= 1 {
                SEED.store(seed, Ordering::Relaxed);
            }
            let outcome = run(seed, &setup);
            add(&mut figures, &outcome.figures);
            if let Some(failure) = outcome.failure {
                failing.push((seed, failure));
                bar.set_message(format!("{} FAILING", failing.len()));
            }
            bar.inc(1);
        }
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..arguments.jobs.max(1)).map(|_| scope.spawn(worker)).collect();
        let results = workers.into_iter().map(|worker| worker.join());
        results.map(|result| result.expect("a panic ends the process")).collect()
    });
    bar.finish_and_clear();
    let (mut figures, mut failing) = (Figures::default(), Vec::new());
    for (part, some) in results {
        add(&mut figures, &part);
        failing.extend(some);
    }
    failing.sort_by_key(|(seed, _)| *seed);
    let took = began.elapsed().as_secs_f64();
    let count = seeds.end.saturating_sub(seeds.start);
    println!("{count} seeds in {took:.1} s, {:.0} seeds/s", count as f64 / took);
    println!("{}", summary(&figures));
    for (seed, failure) in failing.iter().take(arguments.last) {
        println!("seed {seed} FAILS: {}: {}", failure.invariant, failure.what);
        println!("  {}", command(*seed, arguments));
    }
    println!("{} seeds fail", failing.len());
    match failing.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn add(sum: &mut Figures, figures: &Figures) {
    let simulated = sum.simulated.as_micros() + figures.simulated.as_micros();
    *sum = Figures {
        events: sum.events + figures.events,
        commits: sum.commits + figures.commits,
        stops: sum.stops + figures.stops,
        starts: sum.starts + figures.starts,
        simulated: claims::Span::from_micros(simulated),
    };
}

fn summary(figures: &Figures) -> String {
    let Figures { events, commits, stops, starts, simulated } = figures;
    let hours = simulated.as_micros() as f64 / 3.6e9;
    format!(
        "{events} events, {commits} commits, {stops} stops and {starts} starts of the server, \
         {hours:.3} simulated hours"
    )
}

/// A release build ends with a panic; before that, say which seed it was and what happened.
fn tell_panics(arguments: &Arguments) {
    let (one, last) = (arguments.jobs <= 1, arguments.last);
    let bug = arguments.bug.map_or(String::new(), |bug| format!(" --bug {}", bug.name()));
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        for line in sim::take_story().iter().rev().take(last).rev() {
            println!("{line}");
        }
        if one {
            let seed = SEED.load(Ordering::Relaxed);
            println!("\nseed {seed} FAILS: the store stopped itself");
            println!("run it again: cargo run --release -p sim -- --seed {seed}{bug}");
        }
        usual(info);
    }));
}

fn parse_range(text: &str) -> Result<Range<u64>, String> {
    let (first, end) = text.split_once("..").ok_or("write it as A..B")?;
    let number = |text: &str| text.parse::<u64>().map_err(|error| format!("{text:?}: {error}"));
    Ok(number(first)?..number(end)?)
}

fn parse_bug(name: &str) -> Result<Planted, String> {
    Planted::named(name).ok_or_else(|| "no such bug: --bugs names them all".to_owned())
}
