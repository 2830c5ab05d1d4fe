//! What `run` and `once` can be told, and the wish that follows from it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use claims::claimant::Patience;
use claims::{Data, Resources, Span, Ttl};
use clap::Args;
use serde_json::json;
use tenure::driver::Settings;
use tenure::{Place, Wish};

use super::code::{self, Stop};
use super::lead::Lead;

/// How long the server may take to answer somebody who does not wait.
const TRY: Span = Span::from_secs(10);

/// What is the same for every way to run a command.
#[derive(Args)]
pub(crate) struct Terms {
    /// Where the claim is kept: a server (http://…) or a store without one (sqlite:FILE, postgres://…,
    /// mysql://…). If nothing is said, a file of yours serves this machine:
    /// $XDG_STATE_HOME/tenure/claims.db (~/.local/state if that is not set)
    #[arg(long, value_name = "URL", env = "TENURE_URL")]
    at: Option<String>,
    /// A file with the token to show (or the token itself in TENURE_TOKEN)
    #[arg(long, value_name = "FILE", env = "TENURE_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// Do not wait: if somebody else holds it, end
    #[arg(short = 'n', long = "nonblock", visible_alias = "nb", conflicts_with = "wait")]
    nonblock: bool,
    /// Wait at most this long; 0 is not at all
    #[arg(short, long, visible_alias = "timeout", value_name = "SECS", value_parser = span)]
    wait: Option<Duration>,
    /// The exit code if it was not acquired
    #[arg(short = 'E', long, value_name = "CODE", default_value_t = 1)]
    pub(super) conflict_exit_code: u8,
    /// How long the lease lasts without renewal (renewals come by themselves): 500ms, 30s, 2m
    #[arg(long, value_name = "SPAN", default_value = "60s", value_parser = span)]
    ttl: Duration,
    /// How long the command gets to end by itself when it is stopped: 5s, less if the ttl is short
    #[arg(long, value_name = "SPAN", value_parser = span)]
    grace: Option<Duration>,
    /// What others may see: a JSON text (the host, the pid and the name of the command if not said)
    #[arg(long, value_name = "JSON")]
    data: Option<String>,
    /// Let what the command leaves running go on without the claim
    #[arg(short = 'o', long)]
    close: bool,
    /// Say what happens as JSON, an object a line, on the error stream
    #[arg(long)]
    pub(crate) json: bool,
}

impl Terms {
    pub(super) fn settings(&self) -> Result<Settings, Stop> {
        let at = match &self.at {
            Some(at) => at.clone(),
            None => super::home::store()?,
        };
        let place = Place::parse(&at).map_err(|error| usage(&error))?;
        let token = match &self.token_file {
            Some(file) => Some(std::fs::read_to_string(file).map_err(|error| {
                usage(&format!("cannot read the token in {}: {error}", file.display()))
            })?),
            None => std::env::var("TENURE_TOKEN").ok(),
        };
        Ok(Settings { token, ..Settings::at(place) })
    }

    pub(crate) fn lead(&self) -> Result<Lead, Stop> {
        Lead::of(self.ttl, self.grace).map_err(|error| usage(&error))
    }

    pub(crate) fn wish(&self, names: &[String], command: &[OsString]) -> Result<Wish, Stop> {
        let names = names.iter().map(|name| claims::Name::new(name)).collect::<Result<Vec<_>, _>>();
        let resources = names.and_then(Resources::try_from).map_err(|error| usage(&error))?;
        let mut wish = Wish::new(resources, ttl(self.ttl)?);
        wish.patience = match self.wait {
            _ if self.nonblock => Patience::Try(TRY),
            Some(Duration::ZERO) => Patience::Try(TRY),
            Some(wait) => Patience::For(Span::from_micros(micros(wait))),
            None => Patience::Forever,
        };
        wish.data = Some(self.data(command)?);
        Ok(wish)
    }

    /// Whether what the command leaves running may go on.
    pub(crate) fn leaves(&self) -> bool {
        self.close
    }

    /// What others may see. Never the arguments of the command: they may be secret.
    fn data(&self, command: &[OsString]) -> Result<Data, Stop> {
        let text = match &self.data {
            Some(text) => {
                let json: Result<&serde_json::value::RawValue, _> = serde_json::from_str(text);
                json.map_err(|error| usage(&format!("--data is not JSON: {error}")))?;
                text.clone()
            }
            None => {
                let program = command.first().map(Path::new).and_then(Path::file_name);
                json!({
                    "command": program.unwrap_or_default().to_string_lossy(),
                    "host": rustix::system::uname().nodename().to_string_lossy(),
                    "pid": std::process::id(),
                })
                .to_string()
            }
        };
        Data::new(&text).map_err(|error| usage(&error))
    }
}

pub(crate) fn ttl(span: Duration) -> Result<Ttl, Stop> {
    Ttl::new(Span::from_micros(micros(span))).map_err(|error| usage(&error))
}

pub(crate) fn usage(error: &impl std::fmt::Display) -> Stop {
    Stop::because(code::USAGE, error.to_string())
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// A span of time: `500ms`, `30s`, `2m`, `24h`, `7d`, or a number of seconds.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let wrong = || "a span of time such as 500ms, 30s, 2m, 24h or 7d is wanted".to_owned();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let secs = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * secs).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_with_their_units() {
        for (text, millis) in [("500ms", 500), ("0", 0), ("1.5", 1500), ("2m", 120_000)] {
            assert_eq!(span(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for wrong in ["", "s", "-1", "NaN", "inf", "1e99", "10 parsecs", "1us"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
