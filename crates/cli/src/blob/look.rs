//! `tenure blob status` and `tenure blob break`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use makeshift::last_writer::{LeaseReport, LeaseState, list, wipe};
use makeshift::unique_create::{Mutex, Sign};
use makeshift::{Makeshift, Place, Wish};
use serde_json::json;

use super::{is_of_names, lease_address};

#[derive(Args)]
pub(crate) struct Status {
    /// Where the leases are: everything under it is looked at
    address: String,
    /// The name of the lock, in a place of unique names
    #[arg(long)]
    name: Option<String>,
    /// One line of JSON for each
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Break {
    /// Where the lock is
    address: String,
    /// Its name, in a place of unique names
    #[arg(long)]
    name: Option<String>,
    /// Say what was there as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn status(wish: &Status) -> anyhow::Result<ExitCode> {
    if is_of_names(&wish.address) {
        let (mutex, name) = mutex(&wish.address, wish.name.as_deref()).await?;
        say_holder(&name, mutex.holder().await?.as_ref(), wish.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let address = lease_address(&wish.address);
    let path = address.strip_prefix("file://").unwrap_or(address);
    if !path.contains("://") && !std::path::Path::new(path).exists() {
        anyhow::bail!("{path} is not there");
    }
    let reports = list(&Place::open(address)?).await?;
    for report in &reports {
        say(report, wish.json)?;
    }
    if reports.is_empty() && !wish.json {
        crate::out::say(format_args!("no leases under {address}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn take_away(wish: &Break) -> anyhow::Result<ExitCode> {
    if is_of_names(&wish.address) {
        let (mutex, name) = mutex(&wish.address, wish.name.as_deref()).await?;
        say_holder(&name, mutex.wipe().await?.as_ref(), wish.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let before = wipe(&Place::open(lease_address(&wish.address))?, "").await?;
    if !wish.json {
        crate::out::say(format_args!("marked as released; it was:"))?;
    }
    say(&before, wish.json)?;
    Ok(ExitCode::SUCCESS)
}

async fn mutex(address: &str, name: Option<&str>) -> anyhow::Result<(Mutex, String)> {
    let name = name.context("say which lock with --name")?;
    let place = Makeshift::open(address)?;
    let wish = Wish { owner: String::new(), ttl: Duration::from_secs(30), patience: None };
    let mutex = place.mutex(name, &wish).await?.context("this is not a place of unique names")?;
    Ok((mutex, name.to_owned()))
}

fn say_holder(name: &str, sign: Option<&Sign>, as_json: bool) -> anyhow::Result<()> {
    match (sign, as_json) {
        (None, true) => {
            crate::out::say(format_args!("{}", json!({ "name": name, "state": "free" })))?
        }
        (None, false) => crate::out::say(format_args!("{name}: free"))?,
        (Some(sign), true) => {
            let lease = sign.tag.ttl_ms.map(|ms| ms as f64 / 1000.0);
            let fields = json!({
                "name": name, "state": "held", "owner": sign.tag.owner,
                "attempt": sign.tag.attempt, "fence": sign.fence, "lease_s": lease,
            });
            crate::out::say(format_args!("{fields}"))?;
        }
        (Some(sign), false) => crate::out::say(format_args!("{name}: held by {}", sign.tag.owner))?,
    }
    Ok(())
}

fn say(report: &LeaseReport, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        crate::out::say(format_args!("{}", serde_json::to_string(report)?))?;
        return Ok(());
    }
    let state = match report.state {
        LeaseState::Held => "held",
        LeaseState::Contended => "contended",
        LeaseState::Expired => "expired",
        LeaseState::Released => "released",
        LeaseState::Unreadable => "unreadable",
        LeaseState::Absent => "absent",
    };
    let mut line = format!("{}  {state}", report.lease);
    if let Some(writer) = &report.writer {
        line += &format!(" by {writer}");
    }
    if let (Some(host), Some(pid)) = (&report.host, &report.pid) {
        let who = if report.by_remote { "its remote, process" } else { "process" };
        line += &format!(" ({who} {pid} on {host})");
    }
    if let Some(age) = report.age_s {
        line += &format!(", {age:.1} s old");
    }
    if let Some(expire) = report.expire_s {
        line += &format!(" of {expire} s");
    }
    crate::out::say(format_args!("{line}"))?;
    Ok(())
}
