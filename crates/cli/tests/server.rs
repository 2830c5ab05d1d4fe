//! The real server over real sockets: contention, handover, the end, and the command line beside it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod rig;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rig::{Line, RELEASED, Server, TENURE, ask, until};
use rustix::process::Signal;

#[test]
fn contenders_over_sockets_never_overlap_and_take_turns() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let inside = AtomicUsize::new(0);
    let fences = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let body = r#"{"resource":"one","ttl":30,"wait":30}"#;
                    let told = ask(&server.address, "POST", "/v1/claims/", body).unwrap();
                    assert_eq!(told.status, 201, "{told:?}");
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                    fences.lock().unwrap().push(told.body["fence"].as_u64().unwrap());
                    std::thread::sleep(Duration::from_millis(1));
                    inside.fetch_sub(1, Ordering::SeqCst);
                    let told = ask(&server.address, "PATCH", &told.location, RELEASED).unwrap();
                    assert_eq!(told.status, 204);
                }
            });
        }
    });
    let fences = fences.into_inner().unwrap();
    assert_eq!(fences.len(), 80);
    assert!(fences.is_sorted_by(|a, b| a < b), "fences rise from holder to holder");
}

#[test]
fn client_that_hangs_up_while_it_waits_is_passed_by() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let claim = r#"{"resource":"one","ttl":0.2}"#;
    let holder = ask(&server.address, "POST", "/v1/claims/", r#"{"resource":"one","ttl":60}"#);
    let mut gone = TcpStream::connect(&server.address).unwrap();
    let head = format!(
        "POST /v1/claims/?wait=60 HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n",
        server.address
    );
    write!(gone, "{head}Content-Length: {}\r\n\r\n{claim}", claim.len()).unwrap();
    let count = |status: &str| {
        let told = ask(&server.address, "GET", &format!("/v1/claims/?status={status}"), "");
        told.unwrap().body.as_array().unwrap().len()
    };
    until(|| count("waiting") == 1);
    // The server hangs up, too, once it has noticed.
    gone.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(gone.read(&mut [0]).unwrap(), 0);
    // Its turn is kept for it for as long as its ttl, then the next one goes ahead.
    let told = ask(&server.address, "PATCH", &holder.unwrap().location, RELEASED).unwrap();
    assert_eq!(told.status, 204);
    let next = ask(&server.address, "POST", "/v1/claims/?wait=60", claim).unwrap();
    assert_eq!(next.status, 201, "{next:?}");
    assert_eq!(count("waiting"), 1, "nobody was made a holder behind its back");
}

#[test]
fn stopping_server_answers_who_waits_and_ends_well() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path());
    let address = server.address.clone();
    let claim = r#"{"resource":"one","ttl":60}"#;
    ask(&address, "POST", "/v1/claims/", claim).unwrap().is(201);
    let waiting = ask(&address, "POST", "/v1/claims/", claim).unwrap().is(202);
    let mut asks = Line::open(&address).unwrap();
    let wish = r#"{"status":"active","wait":50}"#;
    asks.send("PATCH", &waiting.location, wish, "").unwrap();
    let mut registers = Line::open(&address).unwrap();
    registers.send("POST", "/v1/claims/?wait=50", claim, "").unwrap();
    // Both are seen by the server before it is told to stop: the one that came later is in line.
    until(|| {
        let told = ask(&address, "GET", "/v1/claims/?status=waiting", "").unwrap();
        told.body.as_array().unwrap().len() == 2
    });
    server.signal(Signal::TERM);
    let told = asks.hear().unwrap().is(503);
    assert!(told.header("retry-after").is_some(), "{told:?}");
    // A claim that was made is told to its owner, or nobody could end it.
    let told = registers.hear().unwrap().is(202);
    assert!(told.location.contains('.'), "{told:?}");
    assert!(server.wait().success());
}

#[test]
fn pipelined_and_broken_requests_harm_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let mut silent = Vec::new();
    for nth in 0..300 {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        // Silent, half a head, half a body, and noise.
        let begun: &[u8] = match nth % 4 {
            0 => b"",
            1 => b"POST /v1/claims/ HTTP/1.1\r\nHost: 127",
            2 => {
                b"POST /v1/claims/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{\"res"
            }
            _ => b"\x16\x03\x01\x02\x00",
        };
        let _ = stream.write_all(begun);
        silent.push(stream);
    }
    let one = format!("GET /livez HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    let last = one.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.write_all(format!("{one}{one}{last}").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 3);
    let told = ask(&server.address, "GET", "/v1/claims/", "").unwrap();
    assert_eq!(told.body, serde_json::json!([]));
}

#[test]
fn crowd_of_connections_leaves_the_store_its_files() {
    let directory = tempfile::tempdir().unwrap();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 40; exec \"$0\" \"$@\"", TENURE]);
    let server = Server::start_as(&mut limited, directory.path());
    let crowd: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(300));
    drop(crowd);
    let body = r#"{"resource":"one","ttl":60}"#;
    until(|| {
        let told = ask(&server.address, "POST", "/v1/claims/", body);
        told.is_some_and(|told| matches!(told.status, 201 | 202))
    });
}

#[test]
fn command_line_looks_and_revokes() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let body = r#"{"resource":"a b","ttl":60,"user_data":{"pid":7}}"#;
    ask(&server.address, "POST", "/v1/claims/", body).unwrap();
    ask(&server.address, "POST", "/v1/claims/", body).unwrap();
    let tenure = |arguments: &[&str]| {
        let mut command = Command::new(TENURE);
        command.args(arguments).args(["--at", &format!("http://{}", server.address)]);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), text + &said)
    };
    let (good, text) = tenure(&["why", "a b"]);
    assert!(good && text.contains("Claim 1 holds a b") && text.contains("\"pid\":7"), "{text}");
    assert!(text.contains("1 claim waits for it:"), "{text}");
    let (good, text) = tenure(&["claims", "--status", "waiting"]);
    assert!(good && text.lines().count() == 2 && text.contains("a b"), "{text}");
    let data = directory.path().to_str().unwrap();
    let (good, text) = tenure(&["revoke", "1", "--data", data]);
    assert!(good, "{text}");
    let (good, text) = tenure(&["show", "1"]);
    assert!(good && text.contains("revoked"), "{text}");
    let (good, text) = tenure(&["show", "77"]);
    assert!(!good && text.contains("there is no claim 77"), "{text}");
}
