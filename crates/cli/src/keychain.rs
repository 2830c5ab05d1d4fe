//! `tenure keychain`: holds the claims of one program that talks to it over its standard streams.
//!
//! A program can be stopped, swapped out or starved for longer than a lease lasts; whoever renews must
//! not be. So the claims live here. Three things keep them alive whatever the program does: the driver
//! has a thread of its own, what is told is kept in bounds (`outbox`), and nobody waits for the pipe.
//! Two things end them with the program: the end of its pipe, and a pidfd, because a pipe end that a
//! third process inherited never ends.

mod chain;
pub(crate) mod input;
mod outbox;

use std::os::fd::OwnedFd;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use rustix::process::{PidfdFlags, getppid, pidfd_open};
use tenure::Place;
use tenure::driver::{Driver, Settings};
use tenure::keychain::{Event, VERSION};
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::chain::{Chain, Next};
use crate::credentials::Credentials;

/// How long goodbyes may take to reach the server.
const GOODBYE: Duration = Duration::from_secs(5);

/// How long a program may take to read the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// What `keychain` can be told.
#[derive(Args)]
pub(crate) struct Keychain {
    /// The lock server
    #[arg(long, env = "TENURE_URL", default_value = "http://127.0.0.1:7117")]
    server: String,
    #[command(flatten)]
    credentials: Credentials,
    /// Give all claims up when the program has said nothing for so many seconds (any line counts)
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    max_silence: Option<Duration>,
}

/// Why a keychain ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The program is gone.
    Gone,
    /// The program asked for it.
    Shutdown,
    /// Somebody stopped this process.
    Terminated,
    /// The program was silent for too long.
    Silent,
}

pub(crate) async fn run(wish: Keychain) -> anyhow::Result<()> {
    let place = Place::parse(&wish.server)?;
    let token = wish.credentials.token()?;
    let ca_file = wish.credentials.ca_file;
    let driver = Driver::start(Settings { token, ca_file, ..Settings::at(place) })?;
    let signals = Signals::new().context("cannot listen to signals")?;
    let program = program();
    let outbox = outbox::start(std::io::stdout())?;
    let lines = input::start(std::io::stdin())?;
    outbox.reply(Event::Ready { version: VERSION, server: driver.place().to_string() });
    let (news, mut told) = mpsc::unbounded_channel();
    let mut chain = Chain::new(driver, news, outbox.clone());
    let end = attend(&mut chain, lines, &mut told, signals, program, wish.max_silence).await;

    let driver = chain.let_go(end != End::Shutdown);
    let closing = tokio::task::spawn_blocking(move || driver.map(|driver| driver.close(GOODBYE)));
    tokio::pin!(closing);
    loop {
        tokio::select! {
            biased;
            Some((number, news)) = told.recv() => chain.hear(number, &news),
            _ = &mut closing => break,
        }
    }
    while let Ok((number, news)) = told.try_recv() {
        chain.hear(number, &news);
    }
    if end != End::Gone {
        let reason = match end {
            End::Silent => "the program was silent for too long",
            End::Terminated => "the keychain was stopped by a signal",
            End::Shutdown | End::Gone => "the program asked for it",
        };
        outbox.reply(Event::Closed { reason: reason.to_owned() });
        outbox.finish(LAST_LINES);
    }
    Ok(())
}

/// Does what the program asks for, until the end.
async fn attend(
    chain: &mut Chain,
    mut lines: mpsc::Receiver<input::Line>,
    told: &mut mpsc::UnboundedReceiver<(u64, tenure::driver::Told)>,
    mut signals: Signals,
    program: Option<AsyncFd<OwnedFd>>,
    max_silence: Option<Duration>,
) -> End {
    let outbox = chain.outbox.clone();
    let mut heard_at = Instant::now();
    loop {
        // Whoever does not read the answers is not asked for more questions.
        let has_room = outbox.has_room();
        let silent_at = max_silence.map(|silence| heard_at + silence);
        tokio::select! {
            biased; // what was said is heard before anybody is called silent
            Some((number, news)) = told.recv() => chain.hear(number, &news),
            line = lines.recv(), if has_room => {
                heard_at = Instant::now();
                match line.map(|line| chain.obey(line)) {
                    Some(Next::GoOn) => {}
                    Some(Next::Shutdown) => return End::Shutdown,
                    None => return End::Gone,
                }
            }
            () = outbox.room(), if !has_room => {}
            () = outbox.broken() => return End::Gone,
            () = gone(program.as_ref()) => return End::Gone,
            () = signals.terminated() => return End::Terminated,
            () = tokio::time::sleep_until(silent_at.unwrap_or(heard_at)), if silent_at.is_some() => {
                return End::Silent;
            }
        }
    }
}

/// A handle on the program, which becomes readable when it has ended.
#[allow(
    deprecated,
    reason = "unsound only for types that lie about their descriptor; this is std's own"
)]
fn program() -> Option<AsyncFd<OwnedFd>> {
    let handle = getppid().and_then(|parent| pidfd_open(parent, PidfdFlags::empty()).ok());
    let handle = handle.and_then(|handle| AsyncFd::new(handle).ok());
    if handle.is_none() {
        tracing::warn!("no handle on the program: its end is noticed by the end of its pipe alone");
    }
    handle
}

async fn gone(program: Option<&AsyncFd<OwnedFd>>) {
    match program {
        Some(handle) => drop(handle.readable().await),
        None => std::future::pending().await,
    }
}

/// Ctrl-C and a closed terminal reach the program, too: it decides what they mean.
struct Signals {
    terminate: Signal,
    _not_ours: [Signal; 2],
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        let not_ours = [signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?];
        Ok(Self { terminate: signal(SignalKind::terminate())?, _not_ours: not_ours })
    }

    async fn terminated(&mut self) {
        self.terminate.recv().await;
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "give seconds, such as 30".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
