//! The conformance suite, each promise tried until one is not kept; then a new process goes on.

use std::process::Stdio;

use clap::Args;
use indicatif::ProgressBar;
use registry::conformance::{CASES, Examined};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;

use super::place::Trial;
use super::report::Report;
use crate::exit::{Exit, OrExit};

/// Try promise after promise.
#[derive(Args)]
pub(crate) struct Promises {
    /// Not in the arguments, which others can see: there may be a password in it
    #[arg(long, env = super::URL, hide_env_values = true)]
    url: String,
    /// Begin with this one
    #[arg(long)]
    from: usize,
}

pub(super) fn count() -> u64 {
    CASES.len() as u64
}

/// Says the name of each promise that was kept. Ends at the first that was not.
pub(super) async fn run(wish: &Promises) -> anyhow::Result<()> {
    let trial = Trial::at(&wish.url)?;
    for (name, case) in CASES.iter().skip(wish.from) {
        let examined = Examined::new(trial.open().await?);
        let examined = if trial.has_clock() { examined } else { examined.without_clock() };
        let examined = if trial.keeps_several() { examined } else { examined.one_resource_each() };
        case(&examined).await;
        crate::out::say(name)?;
    }
    Ok(())
}

pub(super) async fn try_all(
    trial: &Trial,
    bar: &ProgressBar,
    report: &mut Report<'_>,
) -> anyhow::Result<()> {
    let mut from = 0;
    while from < CASES.len() {
        let mut child = super::contend::this_program()?
            .args(["verify-part", "promises", "--from", &from.to_string()])
            .env(super::URL, &trial.url)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn_or_exit()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let listen = async {
            let mut said = String::new();
            if let Some(mut stderr) = stderr {
                let _ = stderr.read_to_string(&mut said).await;
            }
            said
        };
        let count = async {
            let mut kept = 0;
            let Some(stdout) = stdout else { return kept };
            let mut lines = BufReader::new(stdout).lines();
            while let Ok(Some(_)) = lines.next_line().await {
                bar.inc(1);
                kept += 1;
            }
            kept
        };
        let (said, kept) = tokio::join!(listen, count);
        let status = child.wait().await.or_exit(Exit::Io, || "a process is lost".into())?;
        for (name, _) in &CASES[from..from + kept] {
            report.promise(name, None)?;
        }
        from += kept;
        if from < CASES.len() && !status.success() {
            report.promise(CASES[from].0, Some(&reason(&said)))?;
            bar.inc(1);
            from += 1;
        }
    }
    Ok(())
}

/// What a process that broke off said last, without where in the program that was.
fn reason(said: &str) -> String {
    let lines = said.lines().skip_while(|line| !line.contains("panicked at")).skip(1);
    let words = lines.take_while(|line| !line.starts_with("note:") && !line.starts_with("stack"));
    let text = words.map(str::trim).collect::<Vec<_>>().join(" ");
    let last = said.lines().last().unwrap_or("it ended without a word").to_owned();
    crate::out::plain(if text.is_empty() { &last } else { &text })
}

pub(super) trait SpawnOrExit {
    fn spawn_or_exit(&mut self) -> anyhow::Result<tokio::process::Child>;
}

impl SpawnOrExit for Command {
    fn spawn_or_exit(&mut self) -> anyhow::Result<tokio::process::Child> {
        self.spawn().or_exit(Exit::Io, || "no further process can be started".into())
    }
}
