//! One connection, from its first request to its last.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::answer::Answer;
use crate::faces::cloudshell::{Ending, Face, Line};
use crate::patient::{Patient, Turns};
use crate::server::Server;
use crate::tls::{self, Certificate};

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
    match &server.config.tls {
        None => enter(&server, &door, stream, peer).await,
        // What encryption needs is apart: whoever does without should not keep room for it.
        Some(certificate) => Box::pin(encrypt(&server, certificate, &door, stream, peer)).await,
    }
}

async fn encrypt(
    server: &Arc<Server>,
    certificate: &Certificate,
    door: &Door,
    stream: TcpStream,
    peer: SocketAddr,
) {
    let handshake = tls::shake_hands(certificate, stream);
    let encrypted = tokio::select! {
        done = tokio::time::timeout(server.config.handshake_for, handshake) => match done {
            Ok(Ok(encrypted)) => encrypted,
            Ok(Err(error)) => return tracing::debug!(%error, "no encryption was agreed on"),
            Err(_) => return tracing::debug!("a handshake took too long"),
        },
        () = server.closing() => return,
    };
    enter(server, door, encrypted, peer).await;
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
    let turns = Turns::default();
    // Declared before the connection, so closed after it: whoever sees it closed may be sure that a
    // wait on it is over, also in the thread that serves somebody else.
    let mut stream = Patient::new(stream, &server.config, &turns);
    let service = service_fn(|request| {
        turns.asked();
        let answer = answer(request);
        async {
            let mut answer = answer.await;
            turns.answered(&mut answer);
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // Counted from the end of the last answer: this is the idle time-out.
        .header_read_timeout(server.config.idle_for)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(&mut stream), service);
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

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::pin::Pin;
    use std::sync::Mutex;
    use std::task::{Context, Poll};

    use claims::Rules;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadBuf, duplex};

    use super::*;
    use crate::config::Config;

    /// Says when it is dropped.
    struct Farewell<'a>(&'static str, &'a Mutex<Vec<&'static str>>);

    impl Drop for Farewell<'_> {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    struct Socket<'a> {
        stream: DuplexStream,
        _farewell: Farewell<'a>,
    }

    impl AsyncRead for Socket<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_read(cx, buffer)
        }
    }

    impl AsyncWrite for Socket<'_> {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.stream).poll_write(cx, bytes)
        }
        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_flush(cx)
        }
        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_shutdown(cx)
        }
    }

    fn server() -> Arc<Server> {
        let store = Arc::new(registry::memory(Rules::default()));
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        Arc::new(Server::new(store, Config::default(), address))
    }

    /// Ten thousand may wait at the same time. Encryption would need 4 kB more, a request about datasets 1 kB.
    #[tokio::test]
    async fn connection_that_waits_keeps_no_room_for_what_it_does_not_do() {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let peer = stream.peer_addr().unwrap();
        let (server, request) = (server(), Request::new(crate::body::Body::empty()));
        let answer = size_of_val(&server.handle_from(Some(peer), request));
        let connection = size_of_val(&serve(server.clone(), Door::V1, stream, peer));
        assert!(answer < 4 * 1024, "{answer} bytes");
        assert!(connection < 2 * 1024, "{connection} bytes");
    }

    #[tokio::test]
    async fn wait_is_over_before_its_connection_is_closed() {
        let server = server();
        let order = Mutex::new(Vec::new());
        let (mut client, stream) = duplex(1024);
        let _farewell = Farewell("connection", &order);
        let socket = Socket { stream, _farewell };
        let (begun, begins) = tokio::sync::oneshot::channel::<()>();
        let begun = Mutex::new(Some(begun));
        let serving = speak(&server, socket, |_| {
            let wait = Farewell("wait", &order);
            drop(begun.lock().unwrap().take());
            async move {
                let _wait = wait;
                std::future::pending().await
            }
        });
        let client = async {
            client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
            let _ = begins.await;
            client.shutdown().await.unwrap();
            assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        };
        tokio::join!(serving, client);
        assert_eq!(*order.lock().unwrap(), ["wait", "connection"]);
    }
}
