//! `tenure serve`: the lock server, in the foreground.

use std::fs;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use clap::Args;
use registry::Store;
use registry::embedded::{Options, open};
use server::{AdminToken, Config, new_token, serve};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::keys::random;
use crate::security::Security;

/// Where the administrator's token is kept, in the data directory.
pub(crate) const TOKEN_FILE: &str = "admin-token";

/// How many files are left to the store and to the process itself.
const STORE_FILES: u64 = 64;

/// What `serve` can be told.
#[derive(Args)]
pub(crate) struct Serve {
    /// Where to listen; port 0 picks a free one
    #[arg(long, env = "TENURE_LISTEN", default_value = "127.0.0.1:7117")]
    listen: SocketAddr,
    /// Where to keep the claims
    #[arg(long, env = "TENURE_DATA", default_value = "./tenure-data")]
    data: PathBuf,
    /// A name under which clients may address this server, besides those of the loopback
    #[arg(long = "host", env = "TENURE_HOSTS", value_delimiter = ',')]
    hosts: Vec<String>,
    #[command(flatten)]
    security: Security,
    /// The data directory was restored from a backup: put every later fence above any before
    #[arg(long)]
    new_epoch: bool,
}

pub(crate) async fn run(wish: Serve) -> anyhow::Result<()> {
    let local = wish.listen.ip().is_loopback();
    wish.security.allow(wish.listen)?;
    let connections_max = room_for_connections(raise_file_limit());
    let options = Options { new_epoch: wish.new_epoch, salt: random()?, ..Options::default() };
    let store: Arc<dyn Store> = Arc::new(open(&wish.data, options)?);
    let token_file = wish.data.join(TOKEN_FILE);
    let token = admin_token(&token_file)?;
    let protection = wish.security.open(&wish.data)?;
    protection.heed_hangups()?;
    let listener = TcpListener::bind(wish.listen)
        .await
        .with_context(|| format!("cannot listen on {}: choose another --listen", wish.listen))?;
    let address = listener.local_addr()?;

    let mut hosts = wish.hosts;
    if !local && !address.ip().is_unspecified() {
        hosts.push(address.ip().to_string());
    }
    let config = Config::default();
    let config = Config {
        hosts,
        admin: Some(AdminToken::of(&token)),
        tls: protection.tls.clone(),
        tokens: protection.tokens.clone(),
        audit: protection.audit.clone(),
        connections_max: config.connections_max.min(connections_max),
        ..config
    };
    greet(address, &config, &wish.data, &token_file)?;
    serve(listener, store.clone(), config, stopped()?).await?;
    // The last one out closes the store: what was asked is on disk when this returns.
    drop(store);
    Ok(())
}

fn greet(address: SocketAddr, config: &Config, data: &Path, token_file: &Path) -> io::Result<()> {
    let mut out = io::stdout();
    let url = format!("http{}://{address}/", if config.tls.is_some() { "s" } else { "" });
    let token = if config.tokens.is_some() { "-H 'Authorization: Bearer TOKEN' " } else { "" };
    writeln!(out, "Tenure serves at {url}, with its data in {}", data.display())?;
    writeln!(out, "  try it:  curl {token}-d resource=printer -d ttl=60 {url}v1/claims/")?;
    writeln!(out, "  the administrator's token is in {}", token_file.display())?;
    out.flush()
}

/// Returns when somebody asks this process to stop.
fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// The administrator's token, made at the first start. Only its owner may read it.
fn admin_token(path: &Path) -> anyhow::Result<String> {
    let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Ok(mut file) => {
            let token = new_token();
            writeln!(file, "{token}")?;
            file.sync_all()?;
            Ok(token)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let mut file = fs::File::open(path)?;
            ensure!(
                file.metadata()?.mode() & 0o077 == 0,
                "{} can be read by others: chmod 600 it",
                path.display()
            );
            let mut token = String::new();
            file.read_to_string(&mut token)?;
            let token = token.trim().to_owned();
            ensure!(token.len() >= 22, "{} has no token in it: remove it", path.display());
            Ok(token)
        }
        Err(error) => Err(error).with_context(|| format!("cannot make {}", path.display())),
    }
}

/// As many open files as the system lets us have. None if there is no limit.
fn raise_file_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let before = limit.current;
    limit.current = limit.maximum;
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) => limit.current,
        Err(error) => {
            tracing::warn!(%error, "the limit on open files stays as it is");
            before
        }
    }
}

/// The store stops if it cannot open its next log file, so connections never take all there is.
fn room_for_connections(files: Option<u64>) -> usize {
    let room = files.map_or(u64::MAX, |files| files.saturating_sub(STORE_FILES).max(files / 2));
    usize::try_from(room).unwrap_or(usize::MAX)
}
