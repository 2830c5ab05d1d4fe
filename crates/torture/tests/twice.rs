//! A worker that speaks by hand sends each registration twice. A server that forgets keys is found
//! out by that, and one that does not is not blamed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

/// A program that does not outlive its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn tenure() -> PathBuf {
    let tenure = Path::new(env!("CARGO_BIN_EXE_torture")).with_file_name("tenure");
    assert!(tenure.exists(), "these tests torture {}: cargo build -p cli", tenure.display());
    tenure
}

/// The real server, and its address.
fn serve(data: &Path) -> (Running, SocketAddr) {
    let mut serve = Command::new(tenure());
    serve.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
    serve.env("TENURE_CONFIG", "/dev/null").stdout(Stdio::piped());
    let mut server = Running(serve.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let (_, address) = line.split_once("http://").unwrap();
    (server, address.split('/').next().unwrap().parse().unwrap())
}

/// What to do with the key of a registration on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Kept,
    /// Each request gets another one: to the server, whoever asks again is somebody else.
    Forgotten,
}

/// How often each key was sent.
type Sent = Arc<Mutex<BTreeMap<String, u32>>>;

/// A way to the server that can forget keys.
fn way_to(server: SocketAddr, keys: Keys) -> (SocketAddr, Sent) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, sent) = (listener.local_addr().unwrap(), Sent::default());
    let noted = sent.clone();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(upstream) = TcpStream::connect(server) else { return };
            let (mut answers, mut back) =
                (upstream.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || io::copy(&mut answers, &mut back));
            let noted = noted.clone();
            // It ends with either side.
            std::thread::spawn(move || pass_on(client, upstream, keys, &noted));
        }
    });
    (address, sent)
}

fn pass_on(client: TcpStream, mut server: TcpStream, keys: Keys, sent: &Sent) -> io::Result<()> {
    let mut client = BufReader::new(client);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if client.read_line(&mut head)? == 0 {
                return server.shutdown(std::net::Shutdown::Write);
            }
        }
        let length = head.split_once("Content-Length: ").unwrap().1;
        let mut body = vec![0; length.split("\r\n").next().unwrap().parse().unwrap()];
        client.read_exact(&mut body)?;
        let mut body = String::from_utf8(body).unwrap();
        if let Some((_, rest)) = body.split_once(r#""key":""#) {
            let key = rest.split('"').next().unwrap().to_owned();
            let mut sent = sent.lock().unwrap();
            *sent.entry(key.clone()).or_default() += 1;
            if keys == Keys::Forgotten {
                let nth: u32 = sent.values().sum();
                let other = format!("{}{nth:06}", &key[..key.len() - 6]);
                body = body.replace(&key, &other);
            }
        }
        server.write_all(format!("{head}{body}").as_bytes())?;
    }
}

/// A worker of a run, alone.
fn worker(server: SocketAddr, history: &Path) -> (Running, ChildStdin, ChildStdout, ChildStderr) {
    let mut worker = Command::new(env!("CARGO_BIN_EXE_torture"));
    worker.args(["worker", "--client", "1", "--manner", "by-hand", "--seed", "1"]);
    worker.args(["--resources", "1", "--ttl-ms", "1000", "--holds", "mixed", "--history"]);
    worker.arg(history).arg("--tenure").arg(tenure());
    // Nobody is there: it cannot tell whether what it did was done.
    worker.args(["--server", &server.to_string(), "--witness", "127.0.0.1:1"]);
    worker.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = worker.spawn().unwrap();
    let (input, said) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let complaints = child.stderr.take().unwrap();
    (Running(child), input, said, complaints)
}

#[test]
fn server_that_makes_one_claim_of_two_requests_is_not_blamed() {
    let directory = tempfile::tempdir().unwrap();
    let (_server, address) = serve(&directory.path().join("data"));
    let (way, sent) = way_to(address, Keys::Kept);
    let (mut worker, input, said, mut complaints) = worker(way, directory.path());
    let grants = BufReader::new(said).lines().take(12).map_while(Result::ok).count();
    drop(input);
    assert!(worker.0.wait().unwrap().success());
    let mut complaint = String::new();
    complaints.read_to_string(&mut complaint).unwrap();
    assert_eq!((grants, complaint.as_str()), (12, ""));
    let sent = sent.lock().unwrap();
    assert!(sent.len() >= 12 && sent.values().all(|&times| times >= 2), "{sent:?}");
}

#[test]
fn server_that_makes_two_claims_of_one_registration_is_found_out() {
    let directory = tempfile::tempdir().unwrap();
    let (_server, address) = serve(&directory.path().join("data"));
    let (way, _) = way_to(address, Keys::Forgotten);
    let (_worker, _input, _said, complaints) = worker(way, directory.path());
    let complaint = BufReader::new(complaints).lines().map_while(Result::ok).next();
    let complaint = complaint.unwrap();
    assert!(
        complaint.starts_with("FOUND:") && complaint.contains("made two claims"),
        "{complaint}"
    );
}
