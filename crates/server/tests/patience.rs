//! Clients that are slow on purpose: each is let go by the time-out that is meant for it, and what
//! it took is given back.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use claims::Rules;
use server::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;

/// Only what hangs is caught by this.
const NEVER: Duration = Duration::from_secs(120);
const SOON: Duration = Duration::from_millis(100);

/// A server with all the patience in the world, unless told otherwise.
fn patient() -> Config {
    Config {
        head_for: NEVER,
        body_for: NEVER,
        idle_for: NEVER,
        write_for: NEVER,
        ..Config::default()
    }
}

/// Runs a test against a server on a socket; afterwards every connection is gone by itself, or the
/// server would not stop.
async fn with<F: Future<Output = ()>>(config: Config, test: impl FnOnce(SocketAddr) -> F) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let config = Config { grace: NEVER * 2, ..config };
    let store = Arc::new(registry::memory(Rules::default()));
    let serving = tokio::spawn(server::serve(listener, store, config, async {
        let _ = stopped.await;
    }));
    tokio::time::timeout(NEVER / 2, test(address)).await.expect("it is not let go");
    drop(stop);
    let served = tokio::time::timeout(NEVER / 2, serving).await;
    served.expect("a connection was not given back").unwrap().unwrap();
}

async fn open(address: SocketAddr, begun: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(begun).await.unwrap();
    stream
}

/// Makes claims that say much.
async fn claim_with_data(address: SocketAddr, count: usize, bytes: usize) {
    let data = "x".repeat(bytes);
    for nth in 0..count {
        let body = format!(r#"{{"resource":"r{nth}","ttl":60,"user_data":"{data}"}}"#);
        let claim = format!(
            "POST /v1/claims/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let told = rest(open(address, claim.as_bytes()).await).await;
        assert!(told.starts_with("HTTP/1.1 201"), "{told}");
    }
}

/// Everything the server says until it hangs up.
async fn rest(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    // A reset is an end, too.
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

/// Sends a byte now and then, for ever; returns what the server says until it hangs up.
async fn trickle(stream: TcpStream) -> String {
    let (mut read, mut write) = stream.into_split();
    let trickling = tokio::spawn(async move {
        while write.write_all(b"x").await.is_ok() {
            tokio::time::sleep(SOON / 10).await;
        }
    });
    let mut text = Vec::new();
    let _ = read.read_to_end(&mut text).await;
    trickling.abort();
    String::from_utf8_lossy(&text).into_owned()
}

const LIVEZ: &[u8] = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
const BODY: &[u8] =
    b"POST /v1/claims/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{\"resource\":\"";

#[tokio::test]
async fn silent_connections_are_let_go() {
    with(Config { idle_for: SOON, ..patient() }, async |address| {
        assert_eq!(rest(open(address, b"").await).await, "");
        assert!(rest(open(address, LIVEZ).await).await.starts_with("HTTP/1.1 200"));
    })
    .await;
}

#[tokio::test]
async fn slow_heads_are_let_go() {
    with(Config { head_for: SOON, ..patient() }, async |address| {
        assert_eq!(rest(open(address, &LIVEZ[..10]).await).await, "");
        assert_eq!(trickle(open(address, &LIVEZ[..10]).await).await, "");
        // Also if it is not the first head of the connection.
        let second = [LIVEZ, &LIVEZ[..10]].concat();
        let mut stream = open(address, LIVEZ).await;
        let _ = stream.read(&mut [0; 1024]).await.unwrap();
        stream.write_all(&second[LIVEZ.len()..]).await.unwrap();
        assert_eq!(trickle(stream).await, "");
    })
    .await;
}

#[tokio::test]
async fn slow_bodies_are_told_so_and_let_go() {
    with(Config { body_for: SOON, ..patient() }, async |address| {
        for told in
            [rest(open(address, BODY).await).await, trickle(open(address, BODY).await).await]
        {
            assert!(told.starts_with("HTTP/1.1 503"), "{told}");
            assert!(told.contains("retry-after: "), "{told}");
        }
    })
    .await;
}

/// Neither an idle connection nor one that waits for its answer is a slow one.
#[tokio::test]
async fn who_is_not_slow_is_not_let_go() {
    let config = Config { head_for: SOON, body_for: SOON, write_for: SOON, ..patient() };
    with(config, async |address| {
        let mut stream = open(address, LIVEZ).await;
        let mut buffer = [0; 1024];
        assert!(stream.read(&mut buffer).await.unwrap() > 0);
        tokio::time::sleep(SOON * 3).await;
        let claim = |more: &str| {
            let body = r#"{"resource":"a","ttl":60}"#;
            format!(
                "POST /v1/claims/{more} HTTP/1.1\r\nHost: localhost\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        for (more, status) in [("", "201"), ("?wait=0.4", "202")] {
            stream.write_all(claim(more).as_bytes()).await.unwrap();
            let length = stream.read(&mut buffer).await.unwrap();
            let told = String::from_utf8_lossy(&buffer[..length]);
            assert!(told.starts_with(&format!("HTTP/1.1 {status}")), "{told:?}");
        }
    })
    .await;
}

/// Asks for far more than a socket holds, and takes nothing of it.
#[tokio::test]
async fn clients_that_never_read_are_let_go() {
    with(Config { write_for: SOON, ..patient() }, async |address| {
        claim_with_data(address, 300, 60_000).await;
        let list = b"GET /v1/claims/?limit=250 HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let mut deaf = open(address, list).await;
        // Writing fails when the other side is gone; nothing was read until then.
        while deaf.write_all(b"x").await.is_ok() {
            tokio::time::sleep(SOON / 10).await;
        }
    })
    .await;
}

/// Follows what happens, and takes nothing of it: many events with long names come to more than a
/// socket holds.
#[tokio::test]
async fn event_streams_that_are_never_read_are_let_go() {
    with(Config { write_for: SOON, ..patient() }, async |address| {
        let mut deaf = open(address, b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        let names: Vec<String> =
            (0..16).map(|nth| format!("\"{nth}{}\"", "n".repeat(1000))).collect();
        let body = format!(r#"{{"resources":[{}],"ttl":60}}"#, names.join(","));
        let claim = format!(
            "POST /v1/claims/ HTTP/1.1\r\nHost: localhost\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut line = open(address, b"").await;
        let mut buffer = vec![0; 1 << 20];
        // Until writing fails, because the other side is gone.
        while deaf.write_all(b"x").await.is_ok() {
            line.write_all(claim.as_bytes()).await.unwrap();
            assert!(line.read(&mut buffer).await.unwrap() > 0);
        }
    })
    .await;
}

/// What is in a list is bounded in bytes, too: a thousand claims with all the data they may have would
/// be 64 MB an answer.
#[tokio::test]
async fn lists_that_are_too_large_are_refused_with_a_smaller_limit() {
    with(patient(), async |address| {
        claim_with_data(address, 300, 65_000).await;
        let list = async |limit: &str| {
            let head = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            let list = format!("GET /v1/claims/?limit={limit} {head}");
            rest(open(address, list.as_bytes()).await).await
        };
        let told = list("1000").await;
        assert!(told.starts_with("HTTP/1.1 400"), "{}", &told[..200]);
        let limit = told.split("limit=").nth(1).unwrap();
        let limit = limit.split(|c: char| !c.is_ascii_digit()).next().unwrap();
        let told = list(limit).await;
        assert!(told.starts_with("HTTP/1.1 200"), "limit={limit}: {}", &told[..200]);
    })
    .await;
}

#[tokio::test]
async fn head_beyond_its_bound_is_refused() {
    with(patient(), async |address| {
        let head =
            format!("GET /livez HTTP/1.1\r\nHost: localhost\r\nx: {}\r\n", "x".repeat(20_000));
        let mut stream = TcpStream::connect(address).await.unwrap();
        // It may be refused before it is sent to its end.
        let _ = stream.write_all(head.as_bytes()).await;
        let told = rest(stream).await;
        assert!(told.is_empty() || told.starts_with("HTTP/1.1 431"), "{told}");
        let mut other = open(address, LIVEZ).await;
        other.read_exact(&mut [0; 12]).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn connections_beyond_the_bound_are_turned_away_and_a_seat_is_given_again() {
    with(Config { connections_max: 2, ..patient() }, async |address| {
        let mut seated = Vec::new();
        for _ in 0..2 {
            let mut stream = open(address, LIVEZ).await;
            stream.read_exact(&mut [0; 12]).await.unwrap();
            seated.push(stream);
        }
        let mut third = TcpStream::connect(address).await.unwrap();
        let _ = third.write_all(LIVEZ).await;
        assert_eq!(rest(third).await, "", "there was no seat left");
        drop(seated);
        loop {
            let mut next = TcpStream::connect(address).await.unwrap();
            let _ = next.write_all(LIVEZ).await;
            match next.read(&mut [0; 12]).await {
                Ok(12) => break,
                // Its seat is given back when the server has seen that somebody left.
                _ => tokio::time::sleep(SOON / 10).await,
            }
        }
    })
    .await;
}

/// Lists of some megabytes, of which nobody reads a byte unless it is said.
#[tokio::test]
async fn lists_that_nobody_reads_take_bounded_memory_together() {
    const CLAIMS: usize = 220;
    let three_lists = 3 * CLAIMS * 62_000;
    with(Config { unread_bytes_max: three_lists, ..patient() }, async |address| {
        claim_with_data(address, CLAIMS, 60_000).await;
        let list =
            |claims| format!("GET /v1/claims/?limit={claims} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let ask = async |list: String| {
            // The system keeps little of it: what is not read is the server's to keep.
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_recv_buffer_size(16 << 10).unwrap();
            let mut stream = socket.connect(address).await.unwrap();
            stream.write_all(list.as_bytes()).await.unwrap();
            let head = head(&mut stream).await;
            (stream, head)
        };
        let (one, told) = ask(list(CLAIMS)).await;
        assert!(told.starts_with("HTTP/1.1 200"), "{told}");
        // This one asks for two, and reads the first of them: the other still counts.
        let (mut two, told) = ask(list(CLAIMS).repeat(2)).await;
        let length = told.split("content-length: ").nth(1).unwrap().lines().next().unwrap();
        two.read_exact(&mut vec![0; length.parse().unwrap()]).await.unwrap();
        assert!(head(&mut two).await.starts_with("HTTP/1.1 200"));
        let three = loop {
            // What was read is given back a moment later.
            let (three, told) = ask(list(CLAIMS)).await;
            if told.starts_with("HTTP/1.1 200") {
                break three;
            }
        };
        let (_, told) = ask(list(CLAIMS)).await;
        assert!(told.starts_with("HTTP/1.1 503") && told.contains("retry-after: 1"), "{told}");
        // Whoever needs little is served as always.
        assert!(ask(list(0)).await.1.starts_with("HTTP/1.1 200"));
        drop((one, two, three));
        while ask(list(CLAIMS)).await.1.starts_with("HTTP/1.1 503") {}
    })
    .await;
}

/// The head of the next answer on a connection.
async fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}
