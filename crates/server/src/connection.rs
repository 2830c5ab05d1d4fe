//! One connection, from its first request to its last.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::answer::Answer;
use crate::faces::cloudshell::{Ending, Face, Line};
use crate::patient::Patient;
use crate::server::Server;
use crate::tls;

/// The largest head of a request.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// What is spoken on a connection.
#[derive(Clone)]
pub(crate) enum Door {
    /// The server's own protocol.
    V1,
    /// Reservations, for clients of CloudShell.
    Cloudshell(Arc<Face>),
}

pub(crate) async fn serve(server: Arc<Server>, door: Door, stream: TcpStream, peer: SocketAddr) {
    // Answers are small and waited for.
    let _ = stream.set_nodelay(true);
    let Some(certificate) = &server.config.tls else {
        return enter(&server, &door, stream, peer).await;
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
    enter(&server, &door, encrypted, peer).await;
}

pub(crate) async fn enter<S>(server: &Arc<Server>, door: &Door, stream: S, peer: SocketAddr)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    match door {
        Door::V1 => {
            speak(server, stream, |request| server.handle_from(Some(peer), request)).await;
        }
        Door::Cloudshell(face) => {
            let line = Arc::new(Line::default());
            let ending = speak(server, stream, |request| face.handle(peer, &line, request)).await;
            line.end(ending);
        }
    }
}

/// Answers what comes on a connection, and says who ended it.
async fn speak<S, A>(
    server: &Arc<Server>,
    stream: S,
    answer: impl Fn(Request<Incoming>) -> A,
) -> Ending
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Future<Output = Answer>,
{
    let turns = AtomicUsize::new(0);
    let stream = Patient::new(stream, &server.config, &turns);
    let service = service_fn(|request| {
        turns.fetch_add(1, Ordering::Relaxed);
        let answer = answer(request);
        async {
            let answer = answer.await;
            turns.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // Counted from the end of the last answer: this is the idle time-out.
        .header_read_timeout(server.config.idle_for)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        done = connection.as_mut() => {
            let is_late = done.as_ref().is_err_and(is_late);
            trace(done);
            return if is_late { Ending::Closed } else { Ending::HungUp };
        }
        () = server.closing() => connection.as_mut().graceful_shutdown(),
    }
    trace(connection.await);
    Ending::Closed
}

/// Whether a time-out ended a connection, and not its client.
fn is_late(error: &hyper::Error) -> bool {
    let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    error.is_timeout() || io.is_some_and(|io| io.kind() == io::ErrorKind::TimedOut)
}

/// Clients come and go: that is worth a line only to somebody who looks for it.
fn trace(done: Result<(), hyper::Error>) {
    if let Err(error) = done {
        tracing::debug!(%error, "a connection ended early");
    }
}
