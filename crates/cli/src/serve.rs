//! `tenure serve`: the lock server, in the foreground.

use std::fs;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use gather::Gathered;
use registry::Store;
use registry::embedded::open;
use server::{AdminToken, Config, Faces, new_token, serve_with};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::File;
use crate::exit::{Exit, OrExit};
use crate::limits::{raise_file_limit, room_for_connections};
use crate::out::Out;
use crate::settings::Settings;

/// Where the administrator's token is kept, in the data directory.
pub(crate) const TOKEN_FILE: &str = "admin-token";

/// How often it is looked whether the server has grown so much that its memory is gathered.
const GATHER_EVERY: Duration = Duration::from_secs(10);

/// What `serve` can be told.
#[derive(Args)]
pub(crate) struct Serve {
    /// The configuration file (TOML). Without it, the first that is there is read:
    /// $XDG_CONFIG_HOME/tenure/config.toml, then /etc/tenure/config.toml
    #[arg(long, value_name = "FILE", env = "TENURE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print the configuration in effect, with where each value comes from, and end
    #[arg(long)]
    pub(crate) print_config: bool,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

pub(crate) async fn run(wish: Settings, read: Option<&File>, out: &mut Out) -> anyhow::Result<()> {
    match read {
        Some(file) => tracing::info!(file = %file.path.display(), "configuration read"),
        None => tracing::info!("no configuration file: flags, variables and defaults count"),
    }
    wish.security.allow(wish.listen)?;
    wish.security.allow_reservations(&wish.reservations)?;
    let connections_max = room_for_connections(raise_file_limit());
    let (store, kept_in) = opened(&wish).await?;
    let token_file = wish.data.join(TOKEN_FILE);
    let token = admin_token(&token_file)?;
    let protection = wish.security.open(&wish.data)?;
    protection.heed_hangups()?;
    let listener = listen(wish.listen, "--listen").await?;
    let address = listener.local_addr()?;

    let mut hosts = Vec::from_iter(own_name(address));
    let mut faces = Faces::default();
    if let Some(wanted) = wish.reservations.cloudshell {
        let listener = listen(wanted, "--cloudshell").await?;
        hosts.extend(own_name(listener.local_addr()?));
        faces.cloudshell = Some((listener, wish.reservations.config()));
    }
    let config = wish.config(hosts);
    let config = Config {
        admin: Some(AdminToken::of(&token)),
        tls: protection.tls.clone(),
        tokens: protection.tokens.clone(),
        audit: protection.audit.clone(),
        connections_max: config.connections_max.min(connections_max),
        ..config
    };
    // Heard before anybody knows that it serves: who is told so may stop it at once.
    let stop = stopped()?;
    greet(out, address, &config, &kept_in, &token_file)?;
    if let Some((listener, _)) = &faces.cloudshell {
        let (scheme, address) = (scheme(&config), listener.local_addr()?);
        out.line(format_args!("  reservations for clients of CloudShell: {scheme}://{address}/"))?;
    }
    out.flush()?;
    gather::whenever_grown(GATHER_EVERY, tell_gathered).context("cannot start a thread")?;
    serve_with(listener, faces, store.clone(), config, stop).await?;
    // The last one out closes the store: what was asked is on disk when this returns.
    drop(store);
    Ok(())
}

/// The store, and where it keeps its claims, as it may be shown.
async fn opened(wish: &Settings) -> anyhow::Result<(Arc<dyn Store>, String)> {
    let options = wish.options()?;
    #[cfg(feature = "planted")]
    let options = crate::planted::plant(options);
    let Some((url, restored)) = wish.elsewhere() else {
        return Ok((Arc::new(open(&wish.data, options)?), wish.data.display().to_string()));
    };
    let shown = tenure::Place::parse(url).or_exit(Exit::Usage, || "--store".to_owned())?;
    fs::create_dir_all(&wish.data)
        .with_context(|| format!("cannot make {} for the token", wish.data.display()))?;
    let store = match restored {
        true => registry::place::open_restored(url, options.rules).await?,
        false => registry::place::open(url, options.rules).await?,
    };
    Ok((store, shown.to_string()))
}

/// The address as a host that clients may ask for, where it is no other name of the loopback.
fn own_name(address: SocketAddr) -> Option<String> {
    let ip = address.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then(|| ip.to_string())
}

fn scheme(config: &Config) -> &'static str {
    if config.tls.is_some() { "https" } else { "http" }
}

async fn listen(address: SocketAddr, flag: &str) -> anyhow::Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| {
        let denied = error.kind() == io::ErrorKind::PermissionDenied;
        let exit = if denied { Exit::Denied } else { Exit::Unavailable };
        exit.because(format!("cannot listen on {address} ({error}): choose another {flag}"))
    })
}

fn greet(
    out: &mut Out,
    address: SocketAddr,
    config: &Config,
    kept_in: &str,
    token_file: &Path,
) -> anyhow::Result<()> {
    let url = format!("{}://{address}/", scheme(config));
    let token = if config.tokens.is_some() { "-H 'Authorization: Bearer TOKEN' " } else { "" };
    let shown = out.bold(&url);
    out.line(format_args!("Tenure serves at {shown}, with its data in {kept_in}"))?;
    out.line(format_args!("  try it:  curl {token}-d resource=printer -d ttl=60 {url}v1/claims/"))?;
    out.line(format_args!("  the administrator's token is in {}", token_file.display()))
}

fn tell_gathered(Gathered { huge, refused, ran_out, slowest }: Gathered) {
    let (huge_mib, refused_mib) = (huge >> 20, refused >> 20);
    tracing::info!(huge_mib, refused_mib, ran_out, ?slowest, "memory gathered into huge pages");
}

/// Returns when somebody asks this process to stop.
pub(crate) fn stopped() -> io::Result<impl Future<Output = ()>> {
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
    match fs::File::open(path) {
        Ok(mut file) => {
            if file.metadata()?.mode() & 0o077 != 0 {
                let said = format!("{} can be read by others: chmod 600 it", path.display());
                return Err(Exit::Denied.because(said));
            }
            let mut token = String::new();
            file.read_to_string(&mut token)?;
            let token = token.trim().to_owned();
            match token.len() >= 22 {
                true => Ok(token),
                false => {
                    let said = format!("{} has no token in it: remove it", path.display());
                    Err(Exit::BadData.because(said))
                }
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let token = new_token();
            keep_token(path, &token).with_context(|| format!("cannot make {}", path.display()))?;
            Ok(token)
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// The file is there with its token or not at all, whenever this process is killed.
fn keep_token(path: &Path, token: &str) -> io::Result<()> {
    let unfinished = path.with_extension("tmp");
    let _ = fs::remove_file(&unfinished);
    let mut file =
        fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    writeln!(file, "{token}")?;
    file.sync_all()?;
    fs::rename(&unfinished, path)
}
