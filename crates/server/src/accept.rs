//! The door: accepts connections for as long as the server lives, whatever happens to each.

use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use registry::Store;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::audit;
use crate::config::Config;
use crate::connection::{self, Door};
use crate::crowd::Crowd;
use crate::faces::cloudshell::{self, Cloudshell, Face};
use crate::metrics;
use crate::server::Server;
use crate::threads::{self, SEEN_TO_WITHIN, Threads};

/// How long to wait when the system has no room for another connection.
const OUT_OF_ROOM: Duration = Duration::from_millis(50);

/// How often files that may change are looked at.
const REFRESH: Duration = Duration::from_secs(1);

/// What a server speaks besides its own protocol, each on a socket of its own.
#[derive(Debug, Default)]
pub struct Faces {
    /// Reservations, for clients of CloudShell.
    pub cloudshell: Option<(TcpListener, Cloudshell)>,
}

/// Serves a store on a socket until `stop`; then finishes what was begun, wakes who waits, and
/// returns.
pub async fn serve(
    listener: TcpListener,
    store: Arc<dyn Store>,
    config: Config,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_with(listener, Faces::default(), store, config, stop).await
}

/// Serves a store with more faces than one: the same claims, the same limits.
pub async fn serve_with(
    listener: TcpListener,
    faces: Faces,
    store: Arc<dyn Store>,
    config: Config,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let server = Arc::new(Server::new(store, config, listener.local_addr()?));
    let mut background = vec![
        tokio::spawn(threads::bell().listen()),
        tokio::spawn(metrics::follow(server.clone())),
        tokio::spawn(keep_files(server.clone())),
    ];
    let mut doors = vec![(listener, Door::V1)];
    if let Some((listener, config)) = faces.cloudshell {
        let face = Face::open(server.clone(), config).await.map_err(io::Error::other)?;
        let face = Arc::new(face);
        background.push(tokio::spawn(cloudshell::follow(face.clone())));
        doors.push((listener, Door::Cloudshell(face)));
    }
    let (told, tell) = oneshot::channel();
    let audit = server.config.audit.clone();
    let (begin, begun) = oneshot::channel();
    let auditor =
        audit.map(|audit| tokio::spawn(audit::follow(server.clone(), audit, begin, tell)));
    // Every connection has a copy of the sender: when all are gone, so are the connections.
    let (open, mut all_closed) = mpsc::channel::<()>(1);
    let crowd = Arc::new(Crowd {
        all_max: server.config.connections_max,
        per_address_max: server.config.connections_per_address_max,
        counts: Mutex::default(),
    });
    let threads = Arc::new(Threads::start(server.config.threads, &server.store, SEEN_TO_WITHIN)?);
    let mut accepting = JoinSet::new();
    let mut stop = pin!(stop);
    tokio::select! {
        // Nothing happens before the audit log has begun; without one nobody holds the other end.
        _ = begun => {
            for (listener, door) in doors {
                let (server, crowd, open) = (server.clone(), crowd.clone(), open.clone());
                let threads = threads.clone();
                accepting.spawn(async move {
                    accept(&server, &listener, &door, &crowd, &threads, &open).await;
                });
            }
            stop.await;
        }
        () = &mut stop => {}
    }
    drop(open);
    accepting.shutdown().await;
    server.close();
    let _ = tokio::time::timeout(server.config.grace, all_closed.recv()).await;
    // Nobody asks any more: the audit log is brought to its end.
    let _ = told.send(());
    if let Some(auditor) = auditor {
        let _ = tokio::time::timeout(server.config.grace, auditor).await;
    }
    for task in background {
        task.abort();
    }
    Ok(())
}

async fn accept(
    server: &Arc<Server>,
    listener: &TcpListener,
    door: &Door,
    crowd: &Arc<Crowd>,
    threads: &Threads,
    open: &mpsc::Sender<()>,
) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) if is_about_one(&error) => continue,
            Err(error) => {
                // Out of descriptors or memory: those who are connected are served on.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(OUT_OF_ROOM).await;
                continue;
            }
        };
        let Some(seat) = crowd.enter(peer.ip()) else {
            server.metrics.turned_away();
            continue;
        };
        let (server, door, open) = (server.clone(), door.clone(), open.clone());
        threads.deal(stream, move |stream| async move {
            connection::serve(server, door, stream, peer).await;
            drop((seat, open));
        });
    }
}

/// The one connection failed before it was accepted; the next may not.
fn is_about_one(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    )
}

/// Notices that tokens or certificates were replaced.
async fn keep_files(server: Arc<Server>) {
    loop {
        tokio::time::sleep(REFRESH).await;
        if let Some(tokens) = &server.config.tokens {
            tokens.refresh();
        }
        if let Some(certificate) = &server.config.tls {
            certificate.refresh();
        }
    }
}
