//! `tenure run`: a command that runs while a claim is held, and not a moment longer.
//!
//! ```text
//! tenure run ──► guard ──► command ──► …
//!  renews the     knows the deadline,
//!  lease          stops all below it
//! ```
//!
//! `pursuit` gets the claim and gives it back; `hold` runs the command meanwhile; `guard` is the process
//! that stops it in time even if `tenure run` cannot; `tree` is how everything below a process ends.

mod child;
pub(crate) mod code;
pub(crate) mod guard;
pub(crate) mod hold;
pub(crate) mod home;
mod lead;
mod moment;
mod order;
pub(crate) mod pursuit;
pub(crate) mod signals;
pub(crate) mod terms;
mod tree;
pub(crate) mod voice;

use std::ffi::OsString;

use claims::Limit;
use clap::Args;
use serde_json::json;

use self::code::Stop;
use self::hold::Manner;
use self::pursuit::Pursuit;
use self::terms::{Terms, usage};
use self::voice::Voice;

/// What `run` can be told. The short flags are those of `flock`.
#[derive(Args)]
pub(crate) struct Run {
    /// Hold it together with others that share
    #[arg(short, long, conflicts_with_all = ["exclusive", "limit"])]
    shared: bool,
    /// Hold it alone: the default
    #[arg(short = 'x', long, short_alias = 'e', conflicts_with = "limit")]
    exclusive: bool,
    /// Hold it together with others, so many in all
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    #[command(flatten)]
    terms: Terms,
    /// What to hold: one name, or several, all or none
    #[arg(required = true, value_name = "RESOURCE")]
    resources: Vec<String>,
    /// What to run
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the command, and returns the exit code.
pub(crate) async fn run(wish: Run) -> u8 {
    let mut voice = Voice::new(wish.terms.json);
    let done = claimed(&wish, &mut voice).await;
    end(done, &mut voice)
}

/// Says why it did not end with the command.
pub(crate) fn end(done: Result<u8, Stop>, voice: &mut Voice) -> u8 {
    done.unwrap_or_else(|stop| {
        if let Some(said) = &stop.said {
            voice.say(said);
        }
        voice.event("stopped", json!({ "code": stop.code }));
        stop.code
    })
}

async fn claimed(asked: &Run, voice: &mut Voice) -> Result<u8, Stop> {
    let terms = &asked.terms;
    let mut wish = terms.wish(&asked.resources, &asked.command)?;
    wish.limit = match asked.limit {
        Some(count) => Limit::at_most(count).map_err(|error| usage(&error))?,
        None if asked.shared => Limit::SHARED,
        None => Limit::EXCLUSIVE,
    };
    let manner = Manner { command: &asked.command, lead: terms.lead()?, leaves: terms.leaves() };
    let signals = signals::catch();
    let mut signals = signals.map_err(|error| Stop::system("signals cannot be caught", error))?;
    let mut pursuit = Pursuit::begin(terms, wish)?;
    let held = match pursuit.granted(&manner, &mut signals, voice).await {
        Ok(()) => pursuit.hold(&manner, &mut signals, voice).await,
        Err(stop) => Err(stop),
    };
    match held {
        Ok(code) => pursuit.give_back(voice).await.map(|()| code),
        Err(stop) => {
            pursuit.leave();
            Err(stop)
        }
    }
}
