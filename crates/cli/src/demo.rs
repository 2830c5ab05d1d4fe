//! The embedded store at work, for somebody who has just cloned the repository.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use claims::{Command, Data, Farewell, Limit, Name, Owner, Registration, Resources, Ttl};
use registry::embedded::{Options, open};
use registry::{Filter, Page, Store};

use crate::keys::{new_key, random};
use crate::out::say;

const WORKERS: usize = 4;
const TURNS: usize = 2;
/// How many claims must be acknowledged before the plug is pulled.
const HELD: usize = 200;

pub(crate) async fn run(data: Option<PathBuf>) -> anyhow::Result<()> {
    let (data, temporary) = match data {
        Some(data) => (data, false),
        None => (std::env::temp_dir().join(format!("tenure-demo-{}", std::process::id())), true),
    };
    let shown = show(&data).await;
    if temporary && data.exists() {
        let removed = std::fs::remove_dir_all(&data);
        shown?;
        return removed.context("the demo's directory was not removed");
    }
    shown
}

async fn show(data: &Path) -> anyhow::Result<()> {
    say(format_args!("The store is in {}.\n", data.display()))?;
    take_turns(&data.join("turns")).await?;
    pull_the_plug(&data.join("plug")).await?;
    say(format_args!(
        "\nNext: ARCHITECTURE.md says where everything lives, `make test` proves it."
    ))?;
    Ok(())
}

/// Several workers want one thing; each gets it in its turn, with a greater fence.
async fn take_turns(data: &Path) -> anyhow::Result<()> {
    say(format_args!("{WORKERS} workers want the printer, one at a time:"))?;
    let options = Options { salt: random()?, ..Options::default() };
    let store: Arc<dyn Store> = Arc::new(open(data, options)?);
    let workers: Vec<_> = (1..=WORKERS)
        .map(|worker| {
            let store = store.clone();
            tokio::spawn(async move { work(worker, &*store).await })
        })
        .collect();
    for worker in workers {
        worker.await??;
    }
    Ok(())
}

async fn work(worker: usize, store: &dyn Store) -> anyhow::Result<()> {
    for _ in 0..TURNS {
        let registration = Registration {
            key: new_key()?,
            resources: Resources::one(Name::new("printer")?),
            limit: Limit::EXCLUSIVE,
            ttl: Ttl::from_secs_f64(10.0)?,
            data: Some(Data::new(&format!("{{\"worker\":{worker}}}"))?),
        };
        let key = registration.key;
        let asked = Instant::now();
        let patience = Duration::from_secs(30);
        let standing = store.submit_and_wait(Command::Register(registration), patience).await??;
        let activation = standing.claim.activation().context("it waited too long")?;
        let (claim, fence) = (standing.claim.id, activation.fence);
        say(format_args!(
            "  worker {worker} prints, fence {fence}, after {:.0?}",
            asked.elapsed()
        ))?;
        tokio::time::sleep(Duration::from_millis(20)).await;
        store.submit(Command::End(Owner { claim, key }, Farewell::Release)).await??;
    }
    Ok(())
}

/// Another process claims as fast as the disk allows, and is killed in the middle of it.
async fn pull_the_plug(data: &Path) -> anyhow::Result<()> {
    say(format_args!(
        "\nAnother process claims one thing after the other, and is killed with SIGKILL:"
    ))?;
    let (acknowledged, last) = claim_and_kill(data)?;
    let opened = Instant::now();
    let store = open(data, Options { salt: random()?, ..Options::default() })?;
    let opened = opened.elapsed();
    let held = store.claims(Filter::default(), Page::first(usize::MAX)).await?;
    say(format_args!("  {acknowledged} claims were acknowledged, the last with {last}"))?;
    say(format_args!("  {} are held after the restart, which took {opened:.0?}", held.len()))?;
    ensure!(held.len() >= acknowledged, "a claim that was acknowledged is gone");
    Ok(())
}

fn claim_and_kill(data: &Path) -> anyhow::Result<(usize, String)> {
    let mut victim = Victim(
        std::process::Command::new(std::env::current_exe()?)
            .args(["hold", "--data"])
            .arg(data)
            .stdout(Stdio::piped())
            .spawn()
            .context("the other process did not start")?,
    );
    let out = BufReader::new(victim.0.stdout.take().context("its output is piped")?);
    let mut acknowledged = 0;
    let mut last = String::new();
    for line in out.lines() {
        let line = line?;
        if let Some((_, fence)) = line.rsplit_once(" fence ") {
            acknowledged += 1;
            last = format!("fence {fence}");
        }
        if acknowledged == HELD {
            victim.0.kill()?;
        }
    }
    ensure!(acknowledged >= HELD, "the other process stopped early");
    Ok((acknowledged, last))
}

/// A process that does not outlive the demo.
struct Victim(Child);

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
