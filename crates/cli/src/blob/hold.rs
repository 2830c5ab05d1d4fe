//! `tenure blob hold` and `tenure blob remote`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use claims::contest::{Ending, Terms, WriterId};
use clap::Args;
use makeshift::last_writer::{LastWriter, Lease, NotHeld};
use makeshift::unique_create::{Held, IfNot, NotMine, Outcome};
use makeshift::{Makeshift, Place, Wish, clock};
use serde_json::json;

use super::event::Speaker;
use super::work::{Done, Work};
use super::{is_of_names, lease_address};

/// The lock was lost while it was held.
const LOST: u8 = 121;

#[derive(Args)]
pub(crate) struct Hold {
    /// Where the lock is
    address: String,
    /// Its name, in a place of unique names
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    common: Common,
    /// How long a lease lasts without being refreshed, in seconds
    #[arg(long, default_value_t = 30.0)]
    expire: f64,
    /// How long to wait for the lock, in seconds (for ever, if not said)
    #[arg(long, short = 'w')]
    wait: Option<f64>,
    /// If a unique name cannot be had, go on without it (dangerous)
    #[arg(long, requires = "name")]
    go_on_without: bool,
}

#[derive(Args)]
pub(crate) struct Remote {
    /// Where the lease is
    address: String,
    /// The name of the writer who acquired it; keeps whoever's it is, if not said
    #[arg(long, env = "TENURE_WRITER")]
    writer: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Common {
    /// How long others may take between looking and writing, in seconds; the same for everybody
    #[arg(long, default_value_t = 1.0)]
    margin: f64,
    /// Hold it for so many seconds at most
    #[arg(long = "for")]
    at_most: Option<f64>,
    /// Say what happens as lines of JSON
    #[arg(long)]
    json: bool,
    /// Hold it while this runs
    #[arg(last = true)]
    command: Vec<String>,
}

impl Common {
    fn speaker(&self) -> Speaker {
        Speaker { json: self.json, aside: !self.command.is_empty() }
    }

    fn work(self, environment: Vec<(&'static str, String)>) -> anyhow::Result<Work> {
        let at_most = self.at_most.map(seconds).transpose()?;
        Ok(Work { command: self.command, at_most, environment })
    }
}

pub(super) fn seconds(number: f64) -> anyhow::Result<Duration> {
    Duration::try_from_secs_f64(number).with_context(|| format!("{number} is not a time"))
}

pub(super) async fn hold(wish: Hold) -> anyhow::Result<ExitCode> {
    if is_of_names(&wish.address) {
        return hold_name(wish).await;
    }
    let speaker = wish.common.speaker();
    let span = |number| seconds(number).map(clock::span);
    let terms = Terms::new(span(wish.expire)?, span(wish.common.margin)?)?;
    let terms = terms.patience(wish.wait.map(span).transpose()?);
    let address = lease_address(&wish.address);
    let lock = LastWriter::new(Place::open(address)?, "", terms)?;
    match lock.acquire().await {
        Ok(lease) => keep(lease, address, speaker, wish.common).await,
        Err(refusal) => refuse(refusal, speaker),
    }
}

pub(super) async fn remote(wish: Remote) -> anyhow::Result<ExitCode> {
    let speaker = wish.common.speaker();
    let margin = seconds(wish.common.margin).map(clock::span)?;
    let terms = Terms::new(claims::Span::from_secs(30).max(margin.half_again()), margin)?;
    let writer = match &wish.writer {
        Some(text) => Some(WriterId::new(text).context("that is not the name of a writer")?),
        None => None,
    };
    let address = lease_address(&wish.address);
    let lock = LastWriter::new(Place::open(address)?, "", terms)?;
    match lock.join(writer).await {
        Ok(lease) => keep(lease, address, speaker, wish.common).await,
        Err(refusal) => refuse(refusal, speaker),
    }
}

fn refuse(refusal: NotHeld, speaker: Speaker) -> anyhow::Result<ExitCode> {
    speaker.refused(&refusal.to_string());
    Err(refusal.into())
}

async fn keep(
    lease: Lease,
    address: &str,
    speaker: Speaker,
    common: Common,
) -> anyhow::Result<ExitCode> {
    let writer = lease.writer().to_string();
    speaker.say("acquired", json!({ "lease": address, "writer": writer }));
    let environment = vec![("TENURE_WRITER", writer), ("TENURE_LEASE", address.to_owned())];
    let done = common.work(environment)?.run(lease.lost()).await?;
    let believed_until = lease.deadline().min(clock::at()).as_micros();
    let ending = lease.release().await;
    let more = json!({ "believed_until_us": believed_until });
    let code = match (done, ending) {
        (Done::Lost(loss), _) | (Done::Code(_), Ending::Lost(loss)) => {
            let why =
                json!({ "why": makeshift::say_loss(&loss), "believed_until_us": believed_until });
            speaker.say("lost", why);
            LOST
        }
        (Done::Code(code), Ending::Released) => {
            speaker.say("released", more);
            code
        }
        (Done::Code(code), Ending::Left) => {
            speaker.say("left", more);
            code
        }
        (Done::Code(code), Ending::Unreleased) => {
            speaker.say("unreleased", more);
            code
        }
    };
    Ok(ExitCode::from(code))
}

async fn hold_name(wish: Hold) -> anyhow::Result<ExitCode> {
    let speaker = wish.common.speaker();
    let name = wish.name.as_deref().context("say which lock with --name")?;
    let place = Makeshift::open(&wish.address)?;
    let terms = Wish {
        owner: owner(),
        ttl: seconds(wish.expire)?,
        patience: wish.wait.map(seconds).transpose()?,
    };
    let if_not = if wish.go_on_without { IfNot::GoOn } else { IfNot::Fail };
    let mutex = place.mutex(name, &terms).await?;
    let mutex = mutex.context("this is not a place of unique names")?;
    match mutex.if_not(if_not).acquire().await {
        Ok(Outcome::Held(held)) => keep_name(held, name, speaker, wish.common).await,
        Ok(Outcome::Without(refusal)) => {
            aside!("tenure: WARNING: GOING ON WITHOUT THE LOCK: {refusal}");
            speaker.say("without", json!({ "why": refusal.to_string() }));
            match wish.common.work(Vec::new())?.run(std::future::pending::<()>()).await? {
                Done::Code(code) => Ok(ExitCode::from(code)),
                Done::Lost(()) => Ok(ExitCode::from(LOST)),
            }
        }
        Err(refusal @ NotMine::Held { .. }) => {
            speaker.refused(&refusal.to_string());
            Err(refusal.into())
        }
        Err(fault) => Err(fault.into()),
    }
}

async fn keep_name(
    held: Held,
    name: &str,
    speaker: Speaker,
    common: Common,
) -> anyhow::Result<ExitCode> {
    let fence = held.fence();
    speaker.say("acquired", json!({ "name": name, "fence": fence, "owner": held.tag().owner }));
    let environment = fence.map(|fence| ("TENURE_FENCE", fence.to_string())).into_iter().collect();
    let done = common.work(environment)?.run(held.lost()).await?;
    let believed_until = held.deadline().min(clock::at()).as_micros();
    let more = json!({ "believed_until_us": believed_until });
    let released = held.release().await;
    match (done, released) {
        (Done::Code(code), Ok(())) => {
            speaker.say("released", more);
            Ok(ExitCode::from(code))
        }
        (Done::Code(code), Err(makeshift::unique_create::Unreleased::NoAnswer)) => {
            speaker.say("unreleased", more);
            Ok(ExitCode::from(code))
        }
        (Done::Lost(_), _) | (_, Err(makeshift::unique_create::Unreleased::Lost(_))) => {
            speaker.say("lost", more);
            Ok(ExitCode::from(LOST))
        }
    }
}

fn owner() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{host} process {}", std::process::id())
}
