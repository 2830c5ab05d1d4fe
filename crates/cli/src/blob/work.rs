//! What is done while a lock is held.

use std::future::Future;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

/// How long a command has between being asked to stop and being made to.
const GRACE: Duration = Duration::from_secs(2);

/// What to do.
pub(super) struct Work {
    pub(super) command: Vec<String>,
    pub(super) at_most: Option<Duration>,
    pub(super) environment: Vec<(&'static str, String)>,
}

/// How it ended.
pub(super) enum Done<Loss> {
    /// It is done; the exit code of the command.
    Code(u8),
    /// The lock was lost. The command was stopped.
    Lost(Loss),
}

impl Work {
    /// Works until it is done, somebody stops us, or the lock is lost.
    pub(super) async fn run<Loss>(
        self,
        lost: impl Future<Output = Loss>,
    ) -> anyhow::Result<Done<Loss>> {
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut terminated = signal(SignalKind::terminate())?;
        let stopped = async {
            tokio::select! {
                _ = interrupted.recv() => 2,
                _ = terminated.recv() => 15,
            }
        };
        let time_is_up = async {
            match self.at_most {
                Some(span) => tokio::time::sleep(span).await,
                None => std::future::pending().await,
            }
        };
        let Some((program, arguments)) = self.command.split_first() else {
            return Ok(tokio::select! {
                _ = stopped => Done::Code(0),
                () = time_is_up => Done::Code(0),
                loss = lost => Done::Lost(loss),
            });
        };
        let mut child = Command::new(program)
            .args(arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .process_group(0)
            .spawn()
            .with_context(|| format!("{program} cannot be started"))?;
        tokio::select! {
            status = child.wait() => Ok(Done::Code(code(status?))),
            number = stopped => {
                stop(&mut child).await;
                Ok(Done::Code(128 + number))
            }
            () = time_is_up => {
                stop(&mut child).await;
                Ok(Done::Code(124))
            }
            loss = lost => {
                stop(&mut child).await;
                Ok(Done::Lost(loss))
            }
        }
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// The command and all it has started.
async fn stop(child: &mut Child) {
    let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let Some(group) = group else { return };
    let _ = kill_process_group(group, Signal::TERM);
    if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
        let _ = kill_process_group(group, Signal::KILL);
        let _ = child.wait().await;
    }
}
