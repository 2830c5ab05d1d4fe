//! `tenure blob`: locks on stores that were not made for locking.

mod event;
mod hold;
mod look;
mod measure;
mod work;

use std::process::ExitCode;

use clap::Subcommand;

/// What to do with a makeshift lock. An address is that of a lease directory (a path, `file:///dir`,
/// `s3://bucket/dir`, `az://…`, `gs://…`; `mops+` may stand in front), or, with `--name`, a place of
/// unique names (`create+file:///dir`, `create+s3://…`, `cloudshell://user@host:port/RESERVATION`).
#[derive(Subcommand)]
pub(crate) enum Blob {
    /// Acquire a lock and hold it: until stopped, for a while, or while a command runs
    Hold(hold::Hold),
    /// Keep somebody else's lease alive, as its second owner; never release it
    Remote(hold::Remote),
    /// Say who holds the leases under an address
    Status(look::Status),
    /// Take a lock away from its holder, deliberately
    Break(look::Break),
    /// Measure a store, and say how often two would hold at once, by margin
    Measure(measure::Measure),
}

pub(crate) async fn run(blob: Blob) -> anyhow::Result<ExitCode> {
    match blob {
        Blob::Hold(hold) => hold::hold(hold).await,
        Blob::Remote(remote) => hold::remote(remote).await,
        Blob::Status(status) => look::status(&status).await,
        Blob::Break(wish) => look::take_away(&wish).await,
        Blob::Measure(wish) => measure::run(&wish).await,
    }
}

/// The place of an address, and whether it is one of unique names.
fn is_of_names(address: &str) -> bool {
    address.starts_with("create+") || address.starts_with("cloudshell://")
}

fn lease_address(address: &str) -> &str {
    address.strip_prefix("mops+").unwrap_or(address)
}
