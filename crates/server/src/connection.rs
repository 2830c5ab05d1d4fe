//! One connection, from its first request to its last.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::patient::Patient;
use crate::server::Server;
use crate::tls;

/// The largest head of a request.
const HEAD_BYTES_MAX: usize = 16 * 1024;

pub(crate) async fn serve(server: Arc<Server>, stream: TcpStream, peer: SocketAddr) {
    // Answers are small and waited for.
    let _ = stream.set_nodelay(true);
    let Some(certificate) = &server.config.tls else {
        return speak(&server, stream, peer).await;
    };
    let handshake = tls::shake_hands(certificate, stream);
    let encrypted = tokio::select! {
        done = tokio::time::timeout(server.config.handshake_for, handshake) => match done {
            Ok(Ok(encrypted)) => encrypted,
            Ok(Err(error)) => return tracing::debug!(%error, "no encryption was agreed on"),
            Err(_) => return tracing::debug!("a handshake took too long"),
        },
        () = server.closing() => return,
    };
    speak(&server, encrypted, peer).await;
}

async fn speak<S>(server: &Arc<Server>, stream: S, peer: SocketAddr)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let turns = AtomicUsize::new(0);
    let stream = Patient::new(stream, &server.config, &turns);
    let service = service_fn(|request| async {
        turns.fetch_add(1, Ordering::Relaxed);
        let answer = server.handle_from(Some(peer), request).await;
        turns.fetch_add(1, Ordering::Relaxed);
        Ok::<_, Infallible>(answer)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // Counted from the end of the last answer: this is the idle time-out.
        .header_read_timeout(server.config.idle_for)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        done = connection.as_mut() => return trace(done),
        () = server.closing() => connection.as_mut().graceful_shutdown(),
    }
    trace(connection.await);
}

/// Clients come and go: that is worth a line only to somebody who looks for it.
fn trace(done: Result<(), hyper::Error>) {
    if let Err(error) = done {
        tracing::debug!(%error, "a connection ended early");
    }
}
