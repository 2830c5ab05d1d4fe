//! `tenure`: hold a shared thing safely.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "the command line speaks to people")]

mod demo;
mod hold;
mod http;
mod keychain;
mod keys;
mod look;
mod serve;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Hold a shared thing safely, across processes and machines.
#[derive(Parser)]
#[command(name = "tenure", version)]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Serve claims over HTTP, in the foreground
    Serve(serve::Serve),
    /// Hold the claims of a program that talks over the standard streams, one JSON object a line
    Keychain(keychain::Keychain),
    /// List the claims of a server
    Claims {
        #[command(flatten)]
        place: look::Where,
        #[command(flatten)]
        which: look::Which,
    },
    /// Show one claim
    Show {
        /// Its number
        claim: String,
        #[command(flatten)]
        place: look::Where,
    },
    /// Say who holds a resource, since when, who waits for it, and how long that usually takes
    Why {
        /// The name of the resource
        resource: String,
        #[command(flatten)]
        place: look::Where,
    },
    /// Take a claim away from its owner (needs the administrator's token)
    Revoke {
        /// Its number
        claim: u64,
        /// The data directory of the server, where the token is
        #[arg(long, env = "TENURE_DATA", default_value = "./tenure-data")]
        data: PathBuf,
        #[command(flatten)]
        place: look::Where,
    },
    /// Show the embedded store at work: workers that take turns, and a power cut that loses nothing
    Demo {
        /// Where to keep the store (a temporary directory, removed afterwards, if not said)
        #[arg(long)]
        data: Option<PathBuf>,
    },
    /// Claim one resource after the other and say so, until stopped: what `demo` kills
    #[command(hide = true)]
    Hold {
        #[arg(long)]
        data: PathBuf,
        /// How many to claim
        #[arg(long, default_value_t = u64::MAX)]
        count: u64,
        /// Begin a new epoch: the directory was restored from a backup
        #[arg(long)]
        new_epoch: bool,
    },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    // Logs are for machines and go to the error stream; what people read goes to the output.
    tracing_subscriber::fmt().json().with_writer(std::io::stderr).init();
    let done = match Arguments::parse().command {
        Action::Serve(wish) => serve::run(wish).await,
        Action::Keychain(wish) => keychain::run(wish).await,
        Action::Claims { place, which } => look::claims(&place, &which),
        Action::Show { claim, place } => look::show(&place, &claim),
        Action::Why { resource, place } => look::why(&place, &resource),
        Action::Revoke { claim, data, place } => look::revoke(&place, claim, &data),
        Action::Demo { data } => demo::run(data).await,
        Action::Hold { data, count, new_epoch } => hold::run(&data, count, new_epoch).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tenure: {error:#}");
            ExitCode::FAILURE
        }
    }
}
