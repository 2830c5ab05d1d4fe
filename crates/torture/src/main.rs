//! `torture`: real processes, real faults, and a judge.
#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    reason = "this program is run by people, who read its standard output"
)]

mod clock;
mod commands;
mod controls;
mod crew;
mod cycles;
mod disk;
mod faults;
mod gauge;
mod line;
mod network;
mod process;
mod progress;
mod record;
mod report;
mod run;
mod server;
mod stores;
mod witness;
mod worker;
mod world;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tries to break Tenure as a whole, and judges what came out of it.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Workers claim while faults fall; then everything heals, and what they saw is judged.
    Run(commands::Run),
    /// The same for an hour, without an end of the server; its memory and its disk must not grow.
    Soak(commands::Soak),
    /// Kills the server again and again while clients are at work; nothing acknowledged may be
    /// lost.
    Kill(commands::Cycle),
    /// Cuts the power of the server's disk again and again; nothing acknowledged may be lost.
    Power(commands::Cycle),
    /// Runs all this on builds that are broken on purpose: each bug must be found.
    Controls(controls::Controls),
    /// Names the faults.
    Faults,
    /// One worker of a run.
    #[command(hide = true)]
    Worker(worker::Worker),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Run(run) => run.go(),
        Command::Soak(soak) => soak.go(),
        Command::Kill(cycle) => cycle.kill(),
        Command::Power(cycle) => cycle.power(),
        Command::Controls(controls) => controls.go(),
        Command::Faults => commands::tell_faults(),
        Command::Worker(worker) => worker.run().map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("torture: {error:#}");
            ExitCode::from(2)
        }
    }
}
