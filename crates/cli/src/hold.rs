//! Claims that are acknowledged one by one: a victim for whoever wants to pull the plug.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use claims::{Command, Limit, Name, Registration, Resources, Ttl};
use registry::Store;
use registry::embedded::{Options, open};

use crate::keys::{new_key, random};

/// Claims `held/1`, `held/2`, … and prints a line for each when it is acknowledged.
pub(crate) async fn run(data: &Path, count: u64, new_epoch: bool) -> anyhow::Result<()> {
    let options = Options { new_epoch, salt: random()?, ..Options::default() };
    let store = open(data, options)?;
    let mut out = std::io::stdout();
    let first = store.vitals().await?.tally.active as u64;
    for nth in (first..).take(usize::try_from(count).unwrap_or(usize::MAX)) {
        let registration = Registration {
            key: new_key()?,
            resources: Resources::one(Name::new(&format!("held/{nth}"))?),
            limit: Limit::EXCLUSIVE,
            ttl: Ttl::from_secs_f64(3600.0)?,
            data: None,
        };
        let standing = store.submit(Command::Register(registration)).await??;
        let fence = standing.claim.activation().context("nobody else wants it")?.fence;
        writeln!(out, "held/{nth} claim {} fence {fence}", standing.claim.id)?;
        out.flush()?;
    }
    Ok(())
}
