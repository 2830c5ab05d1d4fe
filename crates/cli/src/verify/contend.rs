//! Processes that take turns, and a directory in which two cannot be at once unnoticed.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use claims::{Command as Ask, Farewell, Limit, Name, Owner, Registration, Resources, Ttl};
use clap::Args;
use indicatif::ProgressBar;
use registry::{Answer, StoreError};
use tokio::process::Command;

use super::Verify;
use super::place::Trial;
use super::promises::SpawnOrExit;
use super::report::{Report, Turns};
use crate::exit::{Exit, OrExit};
use crate::keys::new_key;

/// Longer than any turn takes, unless the store hangs.
const PATIENCE: Duration = Duration::from_secs(60);
const OVERLAP: &str = "overlap";
const ENTRIES: &str = "entries";

/// Take turns with others.
#[derive(Args)]
pub(crate) struct Contend {
    #[arg(long, env = super::URL, hide_env_values = true)]
    url: String,
    #[arg(long)]
    arena: PathBuf,
    #[arg(long)]
    rounds: u16,
}

/// The program that is running.
pub(super) fn this_program() -> anyhow::Result<Command> {
    let program = std::env::current_exe().or_exit(Exit::Io, || "where is this program?".into())?;
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).kill_on_drop(true);
    Ok(command)
}

pub(super) async fn try_out(
    trial: &Trial,
    wish: &Verify,
    bar: &ProgressBar,
    report: &mut Report<'_>,
) -> anyhow::Result<()> {
    let arena = Arena::make()?;
    let mut contenders = Vec::new();
    for _ in 0..wish.processes {
        let child = this_program()?
            .args(["verify-part", "contend", "--rounds", &wish.rounds.to_string()])
            .env(super::URL, &trial.url)
            .arg("--arena")
            .arg(&arena.0)
            .stdout(Stdio::null())
            .spawn_or_exit()?;
        contenders.push(child);
    }
    let mut failed = 0;
    let begun = bar.position();
    for mut contender in contenders {
        let ended = loop {
            bar.set_position(begun + arena.fences().len() as u64);
            let wait = tokio::time::timeout(Duration::from_millis(200), contender.wait());
            if let Ok(ended) = wait.await {
                break ended.or_exit(Exit::Io, || "a process is lost".into())?;
            }
        };
        failed += usize::from(!ended.success());
    }
    let fences = arena.fences();
    report.turns(Turns {
        processes: wish.processes,
        taken: fences.len(),
        expected: usize::from(wish.processes) * usize::from(wish.rounds),
        overlap: arena.0.join(OVERLAP).exists(),
        fences_rise: fences.is_sorted_by(|one, two| one < two),
        failed,
    })
}

/// One contender.
pub(super) async fn run(wish: &Contend) -> anyhow::Result<()> {
    let store = Trial::at(&wish.url)?.open().await?;
    for _ in 0..wish.rounds {
        let registration = Registration {
            key: new_key()?,
            resources: Resources::one(Name::new("verify/exclusion")?),
            limit: Limit::EXCLUSIVE,
            ttl: Ttl::from_secs_f64(PATIENCE.as_secs_f64())?,
            data: None,
        };
        let key = registration.key;
        let claim = || store.submit_and_wait(Ask::Register(registration.clone()), PATIENCE);
        let granted = persistently(claim).await??;
        let activation = granted.claim.activation();
        let activation =
            activation.ok_or_else(|| Exit::Unavailable.because("the turn did not come in time"))?;
        be_inside(&wish.arena, activation.fence.0)?;
        let owner = Owner { claim: granted.claim.id, key };
        persistently(|| store.submit(Ask::End(owner, Farewell::Release))).await??;
    }
    Ok(())
}

/// Asks until there is an answer: an outcome that is not known is found out by asking again.
async fn persistently<F>(ask: impl Fn() -> F) -> Result<Answer, StoreError>
where
    F: Future<Output = Result<Answer, StoreError>>,
{
    let begun = Instant::now();
    loop {
        match ask().await {
            Err(StoreError::Unavailable(_) | StoreError::Unknown(_) | StoreError::Conflict)
                if begun.elapsed() < PATIENCE =>
            {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            answer => return answer,
        }
    }
}

fn be_inside(arena: &Path, fence: u64) -> anyhow::Result<()> {
    let sign = arena.join("inside");
    let entered = OpenOptions::new().write(true).create_new(true).open(&sign);
    if entered.is_err() {
        std::fs::write(arena.join(OVERLAP), fence.to_string())?;
        return Err(Exit::Refused.because("two were inside at once"));
    }
    let mut entries = OpenOptions::new().append(true).create(true).open(arena.join(ENTRIES))?;
    writeln!(entries, "{fence}")?;
    std::fs::remove_file(sign)?;
    Ok(())
}

/// A directory of this machine, gone afterwards.
struct Arena(PathBuf);

impl Arena {
    fn make() -> anyhow::Result<Self> {
        let name = format!("tenure-verify-{:016x}", u64::from_le_bytes(crate::keys::random()?));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path)
            .or_exit(Exit::Io, || format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    fn fences(&self) -> Vec<u64> {
        let text = std::fs::read_to_string(self.0.join(ENTRIES)).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
