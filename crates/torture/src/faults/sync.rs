//! A disk that takes long to sync, or cannot: done to the server's system calls while it runs.

use std::process::Stdio;
use std::time::Duration;

use anyhow::ensure;

use super::{Fault, Fit, House, rest};
use crate::process::{LONG, Process, command, until};
use crate::stores::Store;

pub(super) const SLOW: Fault<House> = Fault {
    name: "slow-sync",
    about: "each sync of the server takes up to a second",
    fits: fit,
    strike: |house, dice| {
        let micros = dice.u64(100_000..=1_000_000);
        let mut strace = attach(house, &format!("delay_enter={micros}"))?;
        rest(dice, 2_000..=4_000);
        detach(&mut strace)
    },
};

pub(super) const FAILING: Fault<House> = Fault {
    name: "failing-sync",
    about: "a sync of the server fails",
    fits: fit,
    strike: |house, dice| {
        let mut strace = attach(house, "error=EIO:when=1")?;
        if house.server.store().is_some() {
            // A database says so to whoever asked, and is still there.
            rest(dice, 500..=1_500);
            return detach(&mut strace);
        }
        // Work goes on, so the next sync is never far away.
        let status = house.server.end(LONG);
        ensure!(status.is_ok(), "a sync failed, and the server went on");
        ensure!(!status?.success(), "a sync failed, and the server ended as if all were well");
        strace.end(LONG)?;
        house.server.again()
    },
};

/// Only where the server itself syncs.
fn fit(house: &House) -> Fit {
    match house.store {
        Store::Embedded | Store::Sqlite => {
            let tried = attach(house, "delay_enter=1").and_then(|mut strace| detach(&mut strace));
            Fit::given(tried.is_ok(), "strace is not installed, or may not trace the server")
        }
        Store::Postgres(_) | Store::MySql(_) | Store::Etcd(_) => Fit::NotForThisStore,
    }
}

fn attach(house: &House, how: &str) -> anyhow::Result<Process> {
    let pid = house.server.pid()?;
    let mut strace = command("strace", None);
    let pid_text = pid.to_string();
    strace.args(["-f", "-qq", "-o", "/dev/null", "-p", &pid_text, "-e", "trace=fdatasync,fsync"]);
    strace.args(["-e", &format!("inject=fdatasync,fsync:{how}")]);
    let mut strace = Process::spawn(strace.stderr(Stdio::null()))?;
    let traced = until(Duration::from_secs(10), || is_traced(pid) || strace.ended().is_some());
    ensure!(traced && strace.ended().is_none(), "strace cannot trace the server");
    Ok(strace)
}

fn detach(strace: &mut Process) -> anyhow::Result<()> {
    strace.signal(rustix::process::Signal::TERM);
    strace.end(LONG)?;
    Ok(())
}

fn is_traced(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|tracer| tracer.trim() != "0")
}
