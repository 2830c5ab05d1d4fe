//! `tenure`: hold a shared thing safely. The program is [`main`]; it is a library so that what reads
//! the input of others can be tested without starting it.
#![forbid(unsafe_code)]
#![warn(clippy::print_stderr)] // See `aside`.

#[macro_use]
mod aside;
mod exit;
mod limits;
mod out;

mod config;
mod credentials;
mod password;
mod reservations;
mod security;
mod serve;
mod settings;
mod token;

mod http;
mod place;

mod list;
mod revoke;
mod show;
mod span;
mod why;

mod keychain;
mod once;
mod run;

mod bench;
mod blob;
mod verify;
mod watch;

mod demo;
mod hold;
mod keys;
#[cfg(feature = "planted")]
mod planted;

#[doc(hidden)]
pub mod fuzzing;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use tracing::level_filters::LevelFilter;

use crate::aside::log_at;
use crate::exit::Exit;
use crate::out::{Enough, Out};

/// The version, with the commit if it is known.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("TENURE_COMMIT"));

/// Hold a shared thing safely, across processes and machines.
#[derive(Parser)]
#[command(name = "tenure", version = VERSION, after_long_help = exit::help(), after_help = exit::help())]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Serve claims over HTTP, in the foreground
    Serve(Box<serve::Serve>),
    /// List the claims of a server
    Claims(list::List),
    /// Show one claim
    Show(show::Show),
    /// Say who holds a resource, since when, who waits for it, and how long that usually takes
    Why(why::Why),
    /// Take a claim away from its owner (needs the administrator's token)
    Revoke(revoke::Revoke),
    /// Watch what is held and who waits, live
    Watch(watch::Watch),
    /// Put a running server under load, and say how it did
    Bench(bench::Bench),
    /// Try out whether a store keeps its promises, with processes that contend; leaves nothing behind
    Verify(verify::Verify),
    /// A part of `verify`, in a process of its own
    #[command(hide = true, subcommand)]
    VerifyPart(verify::Part),
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Hold the claims of a program that talks over the standard streams, one JSON object a line
    Keychain(keychain::Keychain),
    /// Run a command while holding a claim, and stop it if the claim is lost
    Run(Box<run::Run>),
    /// Run a command only if nobody has, and remember its success
    Once(Box<once::Once>),
    /// Between `run` and its command: stops the command in time
    #[command(hide = true)]
    Guard(run::guard::Guard),
    /// Locks on stores that were not made for locking: buckets, directories, reservations
    #[command(subcommand)]
    Blob(blob::Blob),
    /// Make, list, replace and take back the tokens of a server
    #[command(subcommand)]
    Token(token::Tokens),
    /// Hash a password, read from the input, for a user of the reservations of a server
    Password(password::Password),
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

/// Does what the command line says.
pub async fn main() -> ExitCode {
    let mut out = Out::new();
    let done = async {
        let code = obey(&mut out).await?;
        out.flush()?;
        anyhow::Ok(code)
    };
    match done.await {
        Ok(code) => code,
        Err(error) if error.is::<Enough>() => ExitCode::SUCCESS,
        Err(error) => {
            // A usage error has been told by the parser, with the usage.
            if !error.is::<clap::Error>() {
                aside!("tenure: {error:#}");
                return ExitCode::from(Exit::of(&error) as u8);
            }
            ExitCode::from(Exit::Usage as u8)
        }
    }
}

async fn obey(out: &mut Out) -> anyhow::Result<ExitCode> {
    let Some(matches) = parse(Arguments::command(), out)? else {
        return Ok(ExitCode::SUCCESS);
    };
    let command = Arguments::from_arg_matches(&matches)?.command;
    limits::survive_the_file_size_limit()?;
    #[cfg(feature = "planted")]
    planted::warn()?;
    if let Action::Serve(wish) = command {
        serve(*wish, out).await?;
        return Ok(ExitCode::SUCCESS);
    }
    log_at(LevelFilter::INFO);
    dispatch(command, out).await
}

/// Reads the command line. None if it asked for help, which has been given.
fn parse(command: clap::Command, out: &mut Out) -> anyhow::Result<Option<ArgMatches>> {
    match command.try_get_matches() {
        Ok(matches) => Ok(Some(matches)),
        Err(error) if error.use_stderr() => {
            let _ = error.print();
            Err(error.into())
        }
        Err(help) => {
            out.flush()?;
            out::print_help(&help)?;
            Ok(None)
        }
    }
}

async fn dispatch(command: Action, out: &mut Out) -> anyhow::Result<ExitCode> {
    match command {
        Action::Serve(_) => unreachable!("it is served before this"),
        Action::Claims(wish) => list::run(&wish, out).await?,
        Action::Show(wish) => show::run(&wish, out).await?,
        Action::Why(wish) => why::run(&wish, out).await?,
        Action::Revoke(wish) => revoke::run(&wish, out).await?,
        Action::Watch(wish) => watch::run(&wish, out).await?,
        Action::Bench(wish) => bench::run(&wish, out).await?,
        Action::Verify(wish) => return verify::run(&wish, out).await,
        Action::VerifyPart(part) => verify::part(part).await?,
        Action::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "tenure", &mut script);
            out.write(&script)?;
        }
        Action::Keychain(wish) => keychain::run(wish).await?,
        Action::Run(wish) => return Ok(run::run(*wish).await.into()),
        Action::Once(wish) => return Ok(once::run(*wish).await.into()),
        Action::Guard(wish) => return Ok(run::guard::run(wish).await.into()),
        Action::Blob(wish) => return blob::run(wish).await,
        Action::Token(wish) => token::run(wish, out)?,
        Action::Password(wish) => password::run(&wish, out)?,
        Action::Demo { data } => demo::run(data).await?,
        Action::Hold { data, count, new_epoch } => hold::run(&data, count, new_epoch).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the command line again, with the values of the configuration file for defaults.
async fn serve(wish: serve::Serve, out: &mut Out) -> anyhow::Result<()> {
    let command = Arguments::command();
    let known = command.find_subcommand("serve").expect("it was just parsed").clone();
    let file = config::File::find(wish.config.as_deref(), &known)?;
    let command = match &file {
        Some(file) => command.mut_subcommand("serve", |serve| config::with_defaults(serve, file)),
        None => command,
    };
    let Some(matches) = parse(command, out)? else { return Ok(()) };
    let matches = matches.subcommand_matches("serve").expect("it was just parsed");
    let wish = serve::Serve::from_arg_matches(matches)?;
    if wish.print_config {
        return config::print(out, &known, matches, file.as_ref());
    }
    log_at(wish.settings.log_level);
    serve::run(wish.settings, file.as_ref(), out).await
}
