//! What `run` and `once` can be told, and the wish that follows from it.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use claims::claimant::Patience;
use claims::{Data, Resources, Span, Ttl};
use clap::Args;
use serde_json::json;
use tenure::driver::Settings;
use tenure::{Place, Wish};

use super::code::{self, Stop};
use super::lead::Lead;
use crate::credentials::Credentials;
use crate::span::span;

/// How long the server may take to answer somebody who does not wait.
const TRY: Span = Span::from_secs(10);

/// What is the same for every way to run a command.
#[derive(Args)]
pub(crate) struct Terms {
    /// Where the claim is kept: a server (http://…), a store without one (sqlite:FILE, postgres://…,
    /// mysql://…, etcd://…, s3://…), or a place that was not made for locking (mops+file:///DIR,
    /// create+s3://…, cloudshell://…). If nothing is said, a file of yours serves this machine:
    /// $XDG_STATE_HOME/tenure/claims.db (~/.local/state if that is not set)
    #[arg(long, value_name = "URL", env = "TENURE_URL")]
    at: Option<String>,
    #[command(flatten)]
    credentials: Credentials,
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
        let token = self.credentials.token().map_err(|error| usage(&format!("{error:#}")))?;
        let ca_file = self.credentials.ca_file.clone();
        Ok(Settings { token, ca_file, ..Settings::at(place) })
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

    /// Whether somebody said what others shall see.
    pub(super) fn names_data(&self) -> bool {
        self.data.is_some()
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
