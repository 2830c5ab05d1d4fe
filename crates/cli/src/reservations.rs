//! The settings of reservations: who may log on, and how long a service may stay.

use std::net::SocketAddr;

use clap::{ArgAction, Args};
use server::{Cloudshell, LongestHold, User};

use crate::config::{Span, parse_bool};

/// What `serve` can be told about reservations.
#[derive(Args)]
#[command(next_help_heading = "Reservations")]
pub(crate) struct Reservations {
    /// Serve reservations to clients of CloudShell at this address; their usual port is 8029
    #[arg(long, env = "TENURE_CLOUDSHELL", value_name = "ADDRESS")]
    pub(crate) cloudshell: Option<SocketAddr>,
    /// Who may log on there, as `tenure password NAME` prints it; if nobody is named, everybody
    #[arg(
        long,
        env = "TENURE_CLOUDSHELL_USER",
        value_name = "NAME:HASH",
        value_delimiter = ' ',
        hide_env_values = true
    )]
    cloudshell_user: Vec<User>,
    /// The longest time a service may stay under an alias (* for all), such as MUTEX=10m; the first
    /// that is about an alias counts
    #[arg(long, env = "TENURE_CLOUDSHELL_LONGEST_HOLD", value_name = "ALIAS=SPAN", value_delimiter = ',', value_parser = longest_hold)]
    cloudshell_longest_hold: Vec<LongestHold>,
    /// Take every reservation that was not made here for a running one that was made elsewhere
    #[arg(long, env = "TENURE_CLOUDSHELL_FOREIGN_RESERVATIONS", default_value = "false", default_missing_value = "true", action = ArgAction::Set, num_args = 0..=1, require_equals = true, value_parser = parse_bool)]
    cloudshell_foreign_reservations: bool,
    /// Let everybody remove every service, as CloudShell does: a lock can be taken from its owner
    #[arg(long, env = "TENURE_CLOUDSHELL_ANYBODY_REMOVES", default_value = "false", default_missing_value = "true", action = ArgAction::Set, num_args = 0..=1, require_equals = true, value_parser = parse_bool)]
    cloudshell_anybody_removes: bool,
}

impl Reservations {
    /// Whether somebody has to log on with a password.
    pub(crate) fn has_users(&self) -> bool {
        !self.cloudshell_user.is_empty()
    }

    /// For the server.
    pub(crate) fn config(&self) -> Cloudshell {
        Cloudshell {
            users: self.cloudshell_user.clone(),
            longest_holds: self.cloudshell_longest_hold.clone(),
            foreign_reservations: self.cloudshell_foreign_reservations,
            anybody_removes: self.cloudshell_anybody_removes,
        }
    }
}

fn longest_hold(text: &str) -> Result<LongestHold, String> {
    let (alias, span) = text.rsplit_once('=').unwrap_or_default();
    match alias {
        "" => Err("ALIAS=SPAN is wanted, such as MUTEX=10m, or *=1h for every alias".into()),
        alias => Ok(LongestHold::new(alias, span.parse::<Span>()?.0)),
    }
}
