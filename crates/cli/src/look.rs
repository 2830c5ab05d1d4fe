//! `claims`, `show`, `why` and `revoke`: looking at a running server, and helping out.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use serde_json::Value;

use crate::http::Server;
use crate::serve::TOKEN_FILE;

/// Which server is asked.
#[derive(Args)]
pub(crate) struct Where {
    /// The address of the server
    #[arg(long, env = "TENURE_URL", default_value = "http://127.0.0.1:7117")]
    at: String,
    /// Print the server's own JSON
    #[arg(long)]
    json: bool,
}

/// Which claims are listed.
#[derive(Args)]
pub(crate) struct Which {
    /// Only claims on this resource
    #[arg(long)]
    resource: Option<String>,
    /// Only claims with this status
    #[arg(long)]
    status: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 100)]
    limit: usize,
}

pub(crate) fn claims(place: &Where, which: &Which) -> anyhow::Result<()> {
    let mut path = format!("/v1/claims/?limit={}", which.limit);
    for (name, value) in [("resource", &which.resource), ("status", &which.status)] {
        if let Some(value) = value {
            path += &format!("&{name}={}", encode(value));
        }
    }
    let json = Server::at(&place.at, None)?.json("GET", &path, "")?;
    if place.json {
        println!("{json}");
        return Ok(());
    }
    let list: Vec<Value> = serde_json::from_str(&json).context("the answer is not a list")?;
    println!("{:>8}  {:<9}  {:>9}  {:>8}  RESOURCE", "ID", "STATUS", "TTL", "FENCE");
    for claim in &list {
        let resources: Vec<&str> =
            claim["resources"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        println!(
            "{:>8}  {:<9}  {:>9}  {:>8}  {}",
            text(&claim["id"]),
            text(&claim["status"]),
            seconds(&claim["ttl"]),
            text(&claim["fence"]),
            resources.join(", ")
        );
    }
    Ok(())
}

pub(crate) fn show(place: &Where, claim: &str) -> anyhow::Result<()> {
    let json = Server::at(&place.at, None)?.json("GET", &format!("/v1/claims/{claim}/"), "")?;
    if place.json {
        println!("{json}");
        return Ok(());
    }
    let value: Value = serde_json::from_str(&json).context("the answer is not a claim")?;
    for (name, field) in value.as_object().into_iter().flatten() {
        println!("{name:>17}  {}", text(field));
    }
    Ok(())
}

pub(crate) fn why(place: &Where, resource: &str) -> anyhow::Result<()> {
    let path = format!("/v1/resources/{}/", encode(resource));
    let json = Server::at(&place.at, None)?.json("GET", &path, "")?;
    if place.json {
        println!("{json}");
        return Ok(());
    }
    let value: Value = serde_json::from_str(&json).context("the answer is not a resource")?;
    let holders: Vec<&Value> = value["holders"].as_array().into_iter().flatten().collect();
    if holders.is_empty() {
        println!("Nobody holds {resource:?}.");
    }
    for holder in holders {
        println!(
            "Claim {} holds {resource:?} since {}, for {} now; its lease ends in {} unless renewed.",
            text(&holder["id"]),
            text(&holder["status_history"][1]["timestamp"]),
            seconds(&holder["active_duration"]),
            seconds(&holder["ttl"])
        );
        if !holder["user_data"].is_null() {
            println!("  it says: {}", text(&holder["user_data"]));
        }
    }
    println!("{} wait for it.", text(&value["waiting"]));
    for waiter in value["queue"].as_array().into_iter().flatten() {
        let waited = seconds(&waiter["waiting_duration"]);
        print!("  claim {} waits for {waited}", text(&waiter["id"]));
        if waiter["user_data"].is_null() {
            println!();
        } else {
            println!(", and says: {}", text(&waiter["user_data"]));
        }
    }
    if !value["usual_hold"].is_null() {
        println!("It is usually held for {}.", seconds(&value["usual_hold"]));
    }
    Ok(())
}

pub(crate) fn revoke(place: &Where, claim: u64, data: &std::path::Path) -> anyhow::Result<()> {
    let file: PathBuf = data.join(TOKEN_FILE);
    let token = std::fs::read_to_string(&file).with_context(|| {
        format!(
            "cannot read the administrator's token in {}: say where with --data",
            file.display()
        )
    })?;
    let server = Server::at(&place.at, Some(token.trim().to_owned()))?;
    server.json("PATCH", &format!("/v1/claims/{claim}/"), r#"{"status":"revoked"}"#)?;
    println!("Claim {claim} is revoked.");
    Ok(())
}

/// A value as people read it. What others wrote must not drive the terminal.
fn text(value: &Value) -> String {
    match (value.as_str(), value.is_null()) {
        (Some(text), _) => text.chars().flat_map(printable).collect(),
        (None, true) => "-".into(),
        (None, false) => value.to_string(),
    }
}

fn printable(c: char) -> std::vec::IntoIter<char> {
    let shown: Vec<char> = if c.is_control() { c.escape_unicode().collect() } else { vec![c] };
    shown.into_iter()
}

fn seconds(value: &Value) -> String {
    value.as_f64().map_or("-".into(), |secs| format!("{secs:.1} s"))
}

/// A name as it goes into an address.
fn encode(name: &str) -> String {
    name.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
