//! Why a lost lock is harmless, end to end: a real server, a real claim, a holder that is stopped in the middle of its
//! work, and a row that refuses its late write.
//!
//! The holder is a process of its own (this very program, run as `writer`), because only a process can be stopped. So
//! this test has a `main` instead of the usual harness.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use update_if::{Loaded, Resource, Update};

#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "reports")]
struct Report {
    #[resource(key)]
    id: String,
    text: String,
    fence: Option<i64>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match &arguments[1..] {
        [role, server, database] if role == "writer" => runtime.block_on(writer(server, database)),
        _ => runtime.block_on(late_write_of_a_stopped_holder_is_refused()),
    }
}

async fn late_write_of_a_stopped_holder_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (server, address) = serve(&directory.path().join("claims"));
    let database = directory.path().join("reports.db");
    let pool = open(&database, true).await;
    sqlx::query("CREATE TABLE reports (id TEXT PRIMARY KEY, text TEXT NOT NULL, fence BIGINT)")
        .execute(&pool)
        .await
        .unwrap();
    sqlx::query("INSERT INTO reports (id, text) VALUES ('r1', '')").execute(&pool).await.unwrap();

    // The first holder claims, writes, and is stopped: a long pause, a suspended machine.
    let mut first = Stopped::start(&address, &database);
    let its_fence: u64 = first.told("holding ").parse().unwrap();
    first.signal("-STOP");

    // Its lease ends, and the next one holds. It was told a greater fence.
    let fence = claim(&address, 60).expect("the lease of a stopped holder ends");
    assert!(fence > its_fence);
    assert!(write("second", fence).run(&pool).await.unwrap().happened());

    // The first one wakes up, believes that it still holds, and writes.
    first.signal("-CONT");
    first.say("go on");
    let answer = first.told("answer ");
    assert_eq!(
        answer,
        format!(
            "report r1 cannot be written: fence {its_fence} is older than {fence}, which it has already seen"
        )
    );
    let report = Loaded::<Report>::of(&Report::update("r1"), &pool).await.unwrap().unwrap();
    assert_eq!((report.text.as_str(), report.fence), ("second", Some(fence.try_into().unwrap())));

    // Without the fence it would have landed.
    let unfenced = Report::update("r1").set(Report::TEXT.to("first, late"));
    assert!(unfenced.run(&pool).await.unwrap().happened());

    drop(server);
    println!("test late_write_of_a_stopped_holder_is_refused ... ok");
}

/// The holder: claims, writes, waits to be told to go on, and writes again.
async fn writer(server: &str, database: &str) {
    let pool = open(Path::new(database), false).await;
    let fence = claim(server, 1).expect("nobody else holds it");
    assert!(write("first", fence).run(&pool).await.unwrap().happened());
    println!("holding {fence}");
    std::io::stdin().lock().read_line(&mut String::new()).unwrap();
    let late = write("first, late", fence);
    let answer = late.run(&pool).await.unwrap();
    assert!(!answer.happened(), "the late write has landed");
    let why = late.explain(&pool).await.unwrap();
    assert!(why.is_stale_fence());
    println!("answer {}", why.sentence("be written"));
}

/// The write that both do, each under the fence of its own claim.
fn write(text: &'static str, fence: u64) -> Update {
    Report::update("r1").set(Report::TEXT.to(text)).fenced_by(Report::FENCE, fence)
}

async fn open(database: &Path, create: bool) -> SqlitePool {
    let options = SqliteConnectOptions::new().filename(database).create_if_missing(create);
    SqlitePool::connect_with(options.busy_timeout(Duration::from_secs(60))).await.unwrap()
}

/// Claims the report for so many seconds, waiting for its turn, and gives the fence. Plain HTTP: any language can.
fn claim(server: &str, ttl: u32) -> Option<u64> {
    let body = format!(r#"{{"resource":"report r1","ttl":{ttl},"wait":60}}"#);
    let mut stream = TcpStream::connect(server).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(120))).ok()?;
    let request = format!(
        "POST /v1/claims/ HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 201"), "{answer}");
    let body: serde_json::Value = serde_json::from_str(body).ok()?;
    body["fence"].as_u64()
}

/// A server that does not outlive the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(data: &Path) -> (Server, String) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_tenure"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(data)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let (_, rest) = line.split_once("http://").unwrap_or_else(|| panic!("{line:?}"));
    let address = rest.split('/').next().unwrap().to_owned();
    (Server(server), address)
}

/// A writer that can be stopped, and does not outlive the test.
struct Stopped {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Stopped {
    fn start(server: &str, database: &Path) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["writer", server])
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    fn say(&mut self, line: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn told(&mut self, what: &str) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let rest = line.strip_prefix(what).unwrap_or_else(|| panic!("{line:?} instead of {what}"));
        rest.trim_end().to_owned()
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
