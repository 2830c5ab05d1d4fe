//! The guard: a process between `tenure run` and its command, which stops the command in time.
//!
//! Whoever renews the lease can be killed, stopped or starved, and then could not stop anything. So the
//! command is started by a second, very small process that knows the deadline. It hears of each renewal
//! through a pipe. When none comes in time, when it is told to, or when the pipe ends because `tenure
//! run` is gone, it stops everything below itself.
//!
//! If somebody else is in front, it is started before the claim is held, and waits for the word to begin:
//! what is ready need not be waited for when the turn comes.
//!
//! It ends with the exit code of the command. If it had to stop the command, it ends itself by SIGKILL:
//! no exit code of a command can be mistaken for that.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use clap::Args;
use rustix::process::{Pid, Signal, getpid, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::unix::pipe::Receiver;
use tokio::signal::unix::{SignalKind, signal};

use super::code;
use super::lead::Lead;
use super::moment::Moment;
use super::order::{Held, Order};
use super::{signals, tree};

/// The machine may sleep, and timers with it; deadlines do not.
const LOOK_AT_LEAST: Duration = Duration::from_secs(1);

/// How the guard is started by `tenure run`.
#[derive(Args)]
pub(crate) struct Guard {
    /// The pipe with the orders
    #[arg(long)]
    orders: PathBuf,
    #[arg(long)]
    grace_micros: u64,
    #[arg(long)]
    reserve_micros: u64,
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// Why the command is not left alone any more.
enum Turn {
    Ended(u8),
    Stop(Moment),
}

pub(crate) async fn run(wish: Guard) -> u8 {
    match guard(wish).await {
        Ok(code) => code,
        Err(error) => {
            aside!("tenure: the command cannot be guarded, and is not run: {error}");
            code::SYSTEM
        }
    }
}

async fn guard(wish: Guard) -> io::Result<u8> {
    tree::gather_orphans()?;
    let mut orders = BufReader::new(Receiver::from_file(File::open(&wish.orders)?)?).lines();
    // What is meant for the command comes through the pipe; what reaches us is not passed on twice.
    let _caught = signals::catch()?;
    let lead = Lead::of_micros(wish.grace_micros, wish.reserve_micros);
    let turn = match told_to_begin(&mut orders).await {
        Some((held, deadline)) if !lead.term_at(deadline).has_passed() => {
            match start(&wish.command, held)? {
                Ok(command) => watch(command, deadline, lead, &mut orders).await?,
                Err(code) => return Ok(code),
            }
        }
        _ => Turn::Stop(Moment::now()),
    };
    match turn {
        Turn::Ended(code) => Ok(code),
        Turn::Stop(kill_at) => {
            tell_of(&tree::stop(kill_at).await);
            kill_process(getpid(), Signal::KILL)?;
            Ok(code::LOST)
        }
    }
}

/// Returns when the claim is held, and with its deadline; nothing if it never will be.
async fn told_to_begin(orders: &mut Lines<BufReader<Receiver>>) -> Option<(Held, Moment)> {
    match (next(orders).await?, next(orders).await?) {
        (Order::Begin(held), Order::Until(deadline)) => Some((held, deadline)),
        _ => None,
    }
}

/// Starts the command; the exit code says why not.
fn start(command: &[OsString], held: Held) -> io::Result<Result<Pid, u8>> {
    let (program, arguments) =
        command.split_first().ok_or_else(|| io::Error::other("there is no command"))?;
    match Command::new(program).args(arguments).envs(held.environment()).spawn() {
        Ok(child) => Ok(Ok(Pid::from_child(&child))),
        Err(error) => {
            let program = program.to_string_lossy();
            aside!("tenure: {program:?} cannot be run: {error}");
            let missing = error.kind() == ErrorKind::NotFound;
            Ok(Err(if missing { code::NOT_FOUND } else { code::NOT_RUN }))
        }
    }
}

async fn watch(
    command: Pid,
    mut deadline: Moment,
    lead: Lead,
    orders: &mut Lines<BufReader<Receiver>>,
) -> io::Result<Turn> {
    let mut children = signal(SignalKind::child())?;
    loop {
        // Looked at first: it may have ended before anybody listened.
        if let Some(status) = tree::bury(command) {
            let signal = status.terminating_signal().map(code::of_signal);
            let code = status.exit_status().and_then(|code| u8::try_from(code).ok());
            return Ok(Turn::Ended(signal.or(code).unwrap_or(code::SYSTEM)));
        }
        let term_at = lead.term_at(deadline);
        if term_at.has_passed() {
            return Ok(Turn::Stop(lead.kill_at(deadline)));
        }
        tokio::select! {
            _ = children.recv() => {}
            order = next(orders) => match order {
                Some(Order::Until(later)) => deadline = later,
                Some(Order::Pass(signal)) => drop(kill_process(command, signal)),
                // It has begun already: who says so again is not to be trusted with a deadline.
                Some(Order::Stop | Order::Begin(_)) | None => return Ok(Turn::Stop(lead.kill_soon(deadline))),
            },
            () = tokio::time::sleep(term_at.left().min(LOOK_AT_LEAST)) => {}
        }
    }
}

/// The next order; none if nobody is there any more to give one.
async fn next(orders: &mut Lines<BufReader<Receiver>>) -> Option<Order> {
    Order::parse(&orders.next_line().await.ok()??)
}

pub(super) fn tell_of(left: &[i32]) {
    if !left.is_empty() {
        aside!(
            "tenure: processes {left:?} belong to somebody else or do not end, and still run: \
             the claim does not protect what they do"
        );
    }
}
