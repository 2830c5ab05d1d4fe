//! Programs that use the library against the real server: many of them, and a server that is killed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tenure::blocking::LockManager;
use tenure::{ClaimError, RefreshError};

const TENURE: &str = env!("CARGO_BIN_EXE_tenure");

/// A server that does not outlive its test.
struct Server(Child);

impl Server {
    /// Starts one at this address, or any; returns where it is.
    fn start(data: &Path, address: &str) -> (Self, String) {
        let mut process = Command::new(TENURE)
            .args(["serve", "--listen", address, "--data"])
            .arg(data)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (_, rest) = line.split_once("http://").unwrap_or_else(|| panic!("{line:?}"));
        (Self(process), rest.split('/').next().unwrap().to_owned())
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What each of the many programs does: this test run again as a process of its own, with the address
/// of the server and a directory for the detectors. Without them it has nothing to do.
#[test]
fn contender() {
    let Ok(order) = std::env::var("TENURE_TEST_CONTENDER") else { return };
    let (url, directory) = order.split_once(' ').unwrap();
    let manager = LockManager::connect(url).unwrap();
    for round in 0..ROUNDS {
        let resource = format!("r{}", (std::process::id() + round) % RESOURCES);
        let claim = manager.claim(&resource).ttl(Duration::from_secs(120)).get().unwrap();
        let inside = Path::new(directory).join(&resource);
        // Two inside at once, and the second finds the first one's mark.
        OpenOptions::new().write(true).create_new(true).open(&inside).expect("alone inside");
        let mut log =
            OpenOptions::new().append(true).create(true).open(inside.with_extension("log"));
        writeln!(log.as_mut().unwrap(), "{}", claim.fence().unwrap()).unwrap();
        fs::remove_file(&inside).unwrap();
        claim.release().unwrap();
    }
}

const PROGRAMS: u32 = 200;
const ROUNDS: u32 = 3;
const RESOURCES: u32 = 5;

#[test]
fn two_hundred_programs_never_overlap_on_five_resources() {
    let (data, detectors) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_server, address) = Server::start(data.path(), "127.0.0.1:0");
    let order = format!("http://{address} {}", detectors.path().display());
    let programs: Vec<Child> = (0..PROGRAMS)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "contender", "--nocapture"])
                .env("TENURE_TEST_CONTENDER", &order)
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for program in programs {
        let output = program.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let mut entries = 0;
    for resource in 0..RESOURCES {
        let log = detectors.path().join(format!("r{resource}.log"));
        let fences = fs::read_to_string(log).unwrap();
        let fences: Vec<u64> = fences.lines().map(|line| line.parse().unwrap()).collect();
        assert!(fences.is_sorted_by(|a, b| a < b), "fences rise: {fences:?}");
        entries += fences.len();
    }
    assert_eq!(entries, (PROGRAMS * ROUNDS) as usize);
}

#[test]
fn killed_server_that_is_started_again_has_lost_no_claim_and_granted_none_twice() {
    let data = tempfile::tempdir().unwrap();
    let (server, address) = Server::start(data.path(), "127.0.0.1:0");
    let manager = LockManager::connect(&format!("http://{address}")).unwrap();
    let holder = manager.claim("ledger").ttl(Duration::from_secs(120)).get().unwrap();
    let (id, fence) = (holder.id(), holder.fence());
    let next = std::thread::spawn({
        let manager = manager.clone();
        move || manager.claim("ledger").get()
    });
    let mut server = Some(server);
    for _ in 0..3 {
        server.take().unwrap().kill();
        let error = holder.refresh(None).unwrap_err();
        assert!(matches!(error, RefreshError::Unknown(_)), "{error}");
        holder.check().unwrap();
        server = Some(Server::start(data.path(), &address).0);
        while holder.refresh(None).is_err() {
            holder.check().unwrap();
        }
        assert_eq!((holder.id(), holder.fence()), (id, fence));
        assert!(!next.is_finished(), "nobody holds twice");
        assert!(matches!(manager.try_claim("ledger").get(), Err(ClaimError::Busy { .. })));
    }
    holder.release().unwrap();
    let next = next.join().unwrap().unwrap();
    assert!(next.fence() > fence);
}

#[test]
fn nobody_at_the_address_is_told_with_the_address() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let manager = LockManager::connect(&format!("http://{free}")).unwrap();
    let error = manager.claim("a").timeout(Duration::from_millis(50)).get().unwrap_err();
    assert!(error.to_string().contains(&free.to_string()), "{error}");
}
