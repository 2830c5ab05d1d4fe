//! Everything the server can be told, each in one field: a flag, a variable and a key in the file.
//! `docs/configuration.md` lists them; a test holds the two together.

use std::net::SocketAddr;
use std::path::PathBuf;

use claims::Rules;
use claims::datasets::Delays;
use clap::{ArgAction, Args};
use registry::embedded::Options;
use server::Config;
use tracing::level_filters::LevelFilter;

use crate::config::{Keep, Span, parse_bool};
use crate::keys::random;
use crate::reservations::Reservations;
use crate::security::Security;

/// What `serve` can be told.
#[derive(Args)]
pub(crate) struct Settings {
    /// Where to listen; port 0 picks a free one
    #[arg(long, env = "TENURE_LISTEN", default_value = "127.0.0.1:7117")]
    pub(crate) listen: SocketAddr,
    /// Where to keep the claims
    #[arg(long, env = "TENURE_DATA", default_value = "./tenure-data")]
    pub(crate) data: PathBuf,
    /// A name under which clients may address this server, besides those of the loopback
    #[arg(long, env = "TENURE_HOST", value_delimiter = ',')]
    pub(crate) host: Vec<String>,
    /// The data directory or the store was restored from a backup: put every later fence above any before
    #[arg(long, env = "TENURE_NEW_EPOCH", default_value = "false", default_missing_value = "true", action = ArgAction::Set, num_args = 0..=1, require_equals = true, value_parser = parse_bool)]
    new_epoch: bool,
    /// What is worth a line in the log: error, warn, info, debug, trace or off
    #[arg(long, env = "TENURE_LOG_LEVEL", default_value = "info")]
    pub(crate) log_level: LevelFilter,

    #[command(flatten)]
    pub(crate) security: Security,
    #[command(flatten)]
    pub(crate) reservations: Reservations,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    rules: Figures,
    #[command(flatten)]
    store: Keeping,
    #[command(flatten)]
    datasets: Datasets,
}

/// What a client may ask for, and how long it may take.
#[derive(Args)]
#[command(next_help_heading = "Limits")]
struct Limits {
    /// The largest body of a request, in bytes
    #[arg(long, env = "TENURE_BODY_BYTES_MAX", default_value = "131072", value_parser = at_least_one)]
    body_bytes_max: usize,
    /// How long a client may take to agree on encryption
    #[arg(long, env = "TENURE_HANDSHAKE_FOR", default_value = "5s")]
    handshake_for: Span,
    /// How long the head of a request may take to arrive
    #[arg(long, env = "TENURE_HEAD_FOR", default_value = "10s")]
    head_for: Span,
    /// How long a body may take to arrive
    #[arg(long, env = "TENURE_BODY_FOR", default_value = "10s")]
    body_for: Span,
    /// How long a connection may be silent before a request
    #[arg(long, env = "TENURE_IDLE_FOR", default_value = "30s")]
    idle_for: Span,
    /// How long a client may take to receive what is ready of its answer
    #[arg(long, env = "TENURE_WRITE_FOR", default_value = "30s")]
    write_for: Span,
    /// The longest wait for a claim within one request
    #[arg(long, env = "TENURE_WAIT_FOR_MAX", default_value = "60s")]
    wait_for_max: Span,
    /// How long requests may take to finish when the server stops
    #[arg(long, env = "TENURE_GRACE", default_value = "10s")]
    grace: Span,
    /// How many threads read requests and send answers; each has 32 connections before the next one gets any, the one that accepts them last. One more decides what comes in crowds
    #[arg(long, env = "TENURE_THREADS", default_value = "2", value_parser = within::<1, 64>)]
    threads: usize,
    /// The most connections in all; the limit on open files may make it less
    #[arg(long, env = "TENURE_CONNECTIONS_MAX", default_value = "20000", value_parser = at_least_one)]
    connections_max: usize,
    /// The most connections from one address; the loopback is not counted
    #[arg(long, env = "TENURE_CONNECTIONS_PER_ADDRESS_MAX", default_value = "256", value_parser = at_least_one)]
    connections_per_address_max: usize,
    /// The most event streams
    #[arg(long, env = "TENURE_STREAMS_MAX", default_value = "64", value_parser = at_least_one)]
    streams_max: usize,
    /// The longest list in one answer
    #[arg(long, env = "TENURE_LIST_MAX", default_value = "1000", value_parser = at_least_one)]
    list_max: usize,
    /// The most bytes that lists and other large answers take together until they are read
    #[arg(long, env = "TENURE_UNREAD_BYTES_MAX", default_value = "134217728", value_parser = at_least_one)]
    unread_bytes_max: usize,
    /// The most claims renewed by one request
    #[arg(long, env = "TENURE_RENEWALS_MAX", default_value = "4096", value_parser = at_least_one)]
    renewals_max: usize,
}

/// The figures in the rules. What one command may write has to fit into the smallest log segment, so
/// some have an upper bound.
#[derive(Args)]
#[command(next_help_heading = "Rules")]
struct Figures {
    /// How long an overdue lease that nobody wants may still be renewed or released
    #[arg(long, env = "TENURE_LINGER", default_value = "60s")]
    linger: Span,
    /// The longest a turn is kept for a waiter that was called
    #[arg(long, env = "TENURE_TURN_MAX", default_value = "120s")]
    turn_max: Span,
    /// How many waiters of one resource may be called at once
    #[arg(long, env = "TENURE_CALLED_MAX", default_value = "64", value_parser = within::<1, 120>)]
    called_max: usize,
    /// How long a waiter stays in the queue without being seen
    #[arg(long, env = "TENURE_WAITER_LAPSE", default_value = "2h")]
    waiter_lapse: Span,
    /// How long an ended claim is remembered
    #[arg(long, env = "TENURE_RETAIN", default_value = "24h")]
    retain: Span,
    /// How many ended claims are remembered at most
    #[arg(long, env = "TENURE_ENDED_MAX", default_value = "10000", value_parser = at_least_one)]
    ended_max: usize,
    /// How many claims may wait for one resource
    #[arg(long, env = "TENURE_QUEUE_MAX", default_value = "10000", value_parser = at_least_one)]
    queue_max: usize,
    /// The most events one command may cause at once; what is left is settled right after it
    #[arg(long, env = "TENURE_EVENTS_MAX", default_value = "1024", value_parser = within::<256, 4096>)]
    events_max: usize,
}

/// How the store is kept.
#[derive(Args)]
#[command(next_help_heading = "Store")]
struct Keeping {
    /// Keep the claims in a store instead, which other servers may share: sqlite:FILE, postgres://…,
    /// mysql://…, etcd://…, s3://…; the data directory then has only the administrator's token
    #[arg(long, env = "TENURE_STORE", value_name = "URL")]
    store: Option<String>,
    /// When an answer may leave: sync (once it is on disk), none, or an interval; only sync is safe
    #[arg(long, env = "TENURE_DURABILITY", default_value = "sync")]
    durability: Keep,
    /// The size of a log segment in bytes; two are kept ready
    #[arg(long, env = "TENURE_SEGMENT_BYTES", default_value = "16777216", value_parser = clap::value_parser!(u64).range(1 << 20..=1 << 32))]
    segment_bytes: u64,
    /// How many bytes the log may grow beyond the live state before a snapshot is taken
    #[arg(long, env = "TENURE_SNAPSHOT_AFTER", default_value = "67108864", value_parser = clap::value_parser!(u64).range(1 << 16..))]
    snapshot_after: u64,
    /// How many claims one step of a snapshot writes down
    #[arg(long, env = "TENURE_SNAPSHOT_SLICE", default_value = "1000", value_parser = at_least_one)]
    snapshot_slice: usize,
}

/// How operations on datasets are put off, so that requests which cancel each other can meet.
#[derive(Args)]
#[command(next_help_heading = "Datasets")]
struct Datasets {
    /// How long after the last request to write a dataset it is written
    #[arg(long, env = "TENURE_DATASET_WRITES_AFTER")]
    dataset_writes_after: Option<Span>,
    /// How long after the first request for a datafile anything is done with datafiles
    #[arg(long, env = "TENURE_DATAFILES_AFTER")]
    datafiles_after: Option<Span>,
}

impl Settings {
    /// For the server; `hosts` are the names it is known by, besides those it was told.
    pub(crate) fn config(&self, hosts: Vec<String>) -> Config {
        let limits = &self.limits;
        Config {
            hosts: [self.host.clone(), hosts].concat(),
            body_bytes_max: limits.body_bytes_max,
            handshake_for: limits.handshake_for.0,
            head_for: limits.head_for.0,
            body_for: limits.body_for.0,
            idle_for: limits.idle_for.0,
            write_for: limits.write_for.0,
            wait_for_max: limits.wait_for_max.0,
            grace: limits.grace.0,
            threads: limits.threads,
            connections_max: limits.connections_max,
            connections_per_address_max: limits.connections_per_address_max,
            streams_max: limits.streams_max,
            list_max: limits.list_max,
            unread_bytes_max: limits.unread_bytes_max,
            renewals_max: limits.renewals_max,
            delays: Delays {
                dataset_writes: self
                    .datasets
                    .dataset_writes_after
                    .map(Into::into)
                    .unwrap_or_default(),
                datafiles: self.datasets.datafiles_after.map(Into::into).unwrap_or_default(),
            },
            ..Config::default()
        }
    }

    /// The store that is not in the data directory, if one is named, and whether it was restored.
    pub(crate) fn elsewhere(&self) -> Option<(&str, bool)> {
        self.store.store.as_deref().map(|url| (url, self.new_epoch))
    }

    /// For the store.
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        let (rules, store) = (&self.rules, &self.store);
        Ok(Options {
            rules: Rules {
                linger: rules.linger.into(),
                turn_max: rules.turn_max.into(),
                called_max: rules.called_max,
                waiter_lapse: rules.waiter_lapse.into(),
                retain: rules.retain.into(),
                ended_max: rules.ended_max,
                queue_max: rules.queue_max,
                events_max: rules.events_max,
                ..Rules::default()
            },
            durability: store.durability.0,
            segment_bytes: store.segment_bytes,
            snapshot_after: store.snapshot_after,
            snapshot_slice: store.snapshot_slice,
            salt: random()?,
            new_epoch: self.new_epoch,
            ..Options::default()
        })
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    within::<1, { u32::MAX as usize }>(text)
}

fn within<const MIN: usize, const MAX: usize>(text: &str) -> Result<usize, String> {
    let number: usize = text.parse().map_err(|_| "a whole number is wanted".to_owned())?;
    match (MIN..=MAX).contains(&number) {
        true => Ok(number),
        false => Err(format!("it must be between {MIN} and {MAX}")),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    fn parsed(flags: &[&str]) -> Settings {
        let command = Settings::augment_args(Command::new("serve").no_binary_name(true));
        let matches = command.mut_args(|arg| arg.env(None)).try_get_matches_from(flags).unwrap();
        Settings::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn defaults_are_those_of_the_server_and_the_store() {
        let settings = parsed(&[]);
        assert_eq!(
            format!("{:?}", settings.config(Vec::new())),
            format!("{:?}", Config::default())
        );
        let options = Options { salt: [0; 16], ..settings.options().unwrap() };
        assert_eq!(format!("{options:?}"), format!("{:?}", Options::default()));
    }

    #[test]
    fn every_setting_has_a_flag_and_the_variable_that_follows_from_it() {
        let command = Settings::augment_args(Command::new("serve"));
        let mut count = 0;
        for setting in crate::config::settings(&command) {
            let key = crate::config::key(setting);
            let expected = format!("TENURE_{}", key.to_uppercase().replace('-', "_"));
            assert_eq!(crate::config::variable(setting), expected);
            count += 1;
        }
        assert_eq!(count, command.get_arguments().count(), "an argument is no setting");
    }
}
