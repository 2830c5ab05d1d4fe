//! `token create|list|rotate|revoke`: who may do what on a server.
//!
//! These work on the file in the data directory, with or without a running server; that one notices
//! within a second.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use claims::wire::write_moment;
use claims::{Grant, WallTime};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use server::{Token, TokenFile};

use crate::out::Out;

/// What can be done with tokens.
#[derive(Subcommand)]
pub(crate) enum Tokens {
    /// Make a token; it is printed once and kept nowhere
    Create {
        /// Whose it is: letters, digits, '-', '_' and '.'
        name: String,
        /// What it allows: verbs (read, claim, revoke, or all) on names that begin with a prefix
        /// (or * for every name)
        #[arg(long = "grant", value_name = "VERBS:PREFIX", required = true, value_parser = grant)]
        grants: Vec<Grant>,
        #[command(flatten)]
        life: Life,
        #[command(flatten)]
        place: Place,
    },
    /// List the tokens; what they are is not shown, nobody knows it
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Make a new token with the name and the grants of one that is there, which ends soon
    Rotate {
        /// The name of the token
        name: String,
        /// How long the tokens before it go on
        #[arg(long, value_name = "SPAN", default_value = "24h", value_parser = span)]
        overlap: Span,
        #[command(flatten)]
        life: Life,
        #[command(flatten)]
        place: Place,
    },
    /// Take back all tokens with a name, or the one with an id
    Revoke {
        /// The name, or the id
        name_or_id: String,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Args)]
pub(crate) struct Life {
    /// How long it is good for: 90d, 12h, 30m, 60s, or never
    #[arg(long = "expires", value_name = "SPAN", default_value = "90d", value_parser = span)]
    expires: Span,
}

#[derive(Args)]
pub(crate) struct Place {
    /// The data directory of the server
    #[arg(long, env = "TENURE_DATA", default_value = "./tenure-data")]
    data: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A length of time; none is for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(Option<Duration>);

impl Span {
    fn millis(self) -> Option<u64> {
        self.0.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
    }
}

pub(crate) fn run(wish: Tokens, out: &mut Out) -> anyhow::Result<()> {
    let now = now();
    match wish {
        Tokens::Create { name, grants, life, place } => {
            let expires = life.expires.millis();
            let made = place
                .file()
                .change(|list| list.create(&name, grants.into(), expires, now))
                .context("no token was made")??;
            announce(out, &place, &name, &made)
        }
        Tokens::Rotate { name, overlap, life, place } => {
            let (expires, overlap) = (life.expires.millis(), overlap.millis().unwrap_or(u64::MAX));
            let made = place
                .file()
                .change(|list| list.rotate(&name, expires, overlap, now))
                .context("no token was made")??;
            announce(out, &place, &name, &made)
        }
        Tokens::List { place } => list(out, &place, now),
        Tokens::Revoke { name_or_id, place } => {
            let count = place
                .file()
                .change(|list| list.revoke(&name_or_id))
                .context("no token was taken back")??;
            if place.json {
                out.line(format_args!("{}", json!({ "revoked": count })))?;
            } else {
                out.line(format_args!(
                    "{count} taken back. A running server notices within a second."
                ))?;
            }
            Ok(())
        }
    }
}

/// The token alone goes to the output, so that a script can catch it.
fn announce(out: &mut Out, place: &Place, name: &str, made: &str) -> anyhow::Result<()> {
    let list = place.file().read()?;
    let token = list.as_slice().iter().rfind(|token| token.name == name);
    let token = token.context("the token is gone already")?;
    if place.json {
        let mut shown = shown(token, now());
        shown["token"] = made.into();
        out.line(format_args!("{shown}"))?;
        return Ok(());
    }
    aside!("Token {name} may {}; {}.", granted(token), ends(token, now()));
    aside!("This is the only time it is shown. Send it as Authorization: Bearer TOKEN.");
    out.line(format_args!("{made}"))?;
    Ok(())
}

fn list(out: &mut Out, place: &Place, now: WallTime) -> anyhow::Result<()> {
    let list = place.file().read()?;
    if place.json {
        let all: Vec<Value> = list.as_slice().iter().map(|token| shown(token, now)).collect();
        out.line(format_args!("{}", Value::from(all)))?;
        return Ok(());
    }
    out.line(format_args!("{:<12}  {:<16}  {:<38}  GRANTS", "ID", "NAME", "ENDS"))?;
    for token in list.as_slice() {
        let ends = ends(token, now);
        out.line(format_args!(
            "{:<12}  {:<16}  {ends:<38}  {}",
            token.id,
            token.name,
            granted(token)
        ))?;
    }
    Ok(())
}

/// What may be shown of a token: not even its hash.
fn shown(token: &Token, now: WallTime) -> Value {
    let grants: Vec<String> = token.grants.as_slice().iter().map(Grant::to_string).collect();
    json!({
        "id": token.id,
        "name": token.name,
        "grants": grants,
        "created": moment(token.created),
        "expires": token.expires.map(moment),
        "live": token.is_live(now),
    })
}

fn granted(token: &Token) -> String {
    let grants: Vec<String> = token.grants.as_slice().iter().map(Grant::to_string).collect();
    grants.join(" ")
}

fn ends(token: &Token, now: WallTime) -> String {
    match token.expires {
        None => "never ends".into(),
        Some(at) if token.is_live(now) => format!("ends {}", moment(at)),
        Some(at) => format!("ended {}", moment(at)),
    }
}

fn moment(time: WallTime) -> String {
    let mut text = String::new();
    write_moment(&mut text, time);
    text
}

impl Place {
    fn file(&self) -> TokenFile {
        TokenFile::within(&self.data)
    }
}

fn now() -> WallTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    WallTime(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn grant(text: &str) -> Result<Grant, String> {
    Grant::parse(text).map_err(|bad| bad.to_string())
}

/// Reads `90d`, `12h`, `30m`, `60s` or `never`.
fn span(text: &str) -> Result<Span, String> {
    if text == "never" {
        return Ok(Span(None));
    }
    // A number alone could be anything from seconds to days, and a token lives long.
    let has_unit = text.ends_with(|c: char| c.is_ascii_alphabetic());
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric());
    let span = if has_unit && is_plain { crate::span::span(text).ok() } else { None };
    match span {
        Some(span) => Ok(Span(Some(span))),
        None => Err(format!("{text:?} is not a span such as 90d, 12h, 30m, 60s, or never")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_people_write_them() {
        let secs = |secs| Ok(Span(Some(Duration::from_secs(secs))));
        for (text, read) in [
            ("90d", secs(7_776_000)),
            ("12h", secs(43_200)),
            ("1m", secs(60)),
            ("0s", secs(0)),
            ("never", Ok(Span(None))),
        ] {
            assert_eq!(span(text), read);
        }
        for text in ["", "90", "d", "-1d", "1.5h", "1y", "90 d"] {
            assert!(span(text).is_err(), "{text}");
        }
    }
}
