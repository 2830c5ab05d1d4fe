//! The library with a keychain while the rest of the world fails: the server, the network, the program.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tenure::keychain::Keychain;
use tenure::{Lease, LockManager, Loss, blocking};

use crate::proxy::Proxy;
use crate::world::{Process, Server, TENURE, signal};

fn manager(url: &str, ttl: u64) -> blocking::LockManager {
    let keychain = Keychain::new().program(TENURE);
    let ttl = Duration::from_secs(ttl);
    LockManager::at(url).ttl(ttl).keychain(keychain).connect().unwrap().into()
}

#[test]
fn claims_and_waits_outlive_a_server_that_is_killed_and_restarted() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start(data.path());
    let (holders, waiters) = (manager(&server.url(), 60), manager(&server.url(), 60));
    let held = holders.claim("printer").get().unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let waiting = waiters.claim("printer").on_wait(move |place| {
        let _ = tell.send(place);
    });
    let waiting = std::thread::spawn(move || waiting.get().unwrap());
    assert_eq!(told.recv().unwrap(), Some(1));
    server.process.kill();
    let address = server.address.clone();
    drop(server);
    let server = Server::start_at(&address, data.path());
    held.refresh(None).unwrap();
    assert_eq!(server.status(&json!(held.id())), "active");
    let fence = held.fence();
    held.release().unwrap();
    assert!(waiting.join().unwrap().fence() > fence);
}

#[test]
fn network_cut_for_longer_than_the_ttl_loses_the_claim_and_a_shorter_one_does_not() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let proxy = Proxy::to(&server.address);
    let manager = manager(&proxy.url(), 60);
    let long = manager.claim("long").get().unwrap();
    let short = manager.claim("short").ttl(Duration::from_secs(4)).get().unwrap();
    proxy.cut();
    assert!(matches!(short.lost(), Loss::Unconfirmed(_)));
    proxy.mend();
    // The other one's lease was longer than the cut.
    long.refresh(None).unwrap();
    assert!(matches!(long.lease(), Lease::Held(_)));
    long.release().unwrap();
}

/// One of the tests below, run again as a program of its own. `TENURE_TEST_URL` tells it so.
fn program(test: &str, url: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env("TENURE_TEST_URL", url);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// The next line that is meant for us.
fn heard(child: &mut BufReader<impl std::io::Read>) -> Value {
    let mut line = String::new();
    loop {
        line.clear();
        assert!(child.read_line(&mut line).unwrap() > 0, "the program ended");
        // The harness writes the name of the test before the first line.
        if let Some(at) = line.find("told ") {
            return serde_json::from_str(&line[at + 5..]).unwrap();
        }
    }
}

#[allow(clippy::print_stdout, reason = "the other process reads it")]
fn tell(what: &Value) {
    println!("told {what}");
    std::io::stdout().flush().unwrap();
}

/// Run by the test after it: holds a claim until its input ends, and says what became of it.
#[test]
fn holder_that_may_not_be_silent() {
    let Ok(url) = std::env::var("TENURE_TEST_URL") else { return };
    let keychain = Keychain::new().program(TENURE).max_silence(Duration::from_secs(2));
    let manager = LockManager::at(&url).keychain(keychain).connect().unwrap();
    let claim = blocking::LockManager::from(manager).claim("printer").get().unwrap();
    tell(&json!(claim.id()));
    tell(&json!(claim.lost().to_string()));
}

#[test]
fn program_that_is_stopped_gives_its_claims_up_if_silence_is_bounded() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let mut child: Child =
        program("elsewhere::holder_that_may_not_be_silent", &server.url()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let child = Process(child);
    let number = heard(&mut output);
    assert_eq!(server.status(&number), "active");
    signal(child.0.id().into(), "-STOP");
    server.wait_until(&number, "aborted");
    signal(child.0.id().into(), "-CONT");
    let loss = heard(&mut output);
    assert!(loss.as_str().unwrap().contains("claim"), "{loss}");
}

/// Run by the test after it: finds its keychain in the environment, and shows a token.
#[test]
fn holder_with_a_token() {
    let Ok(url) = std::env::var("TENURE_TEST_URL") else { return };
    let token = std::env::var("TENURE_TEST_TOKEN").unwrap();
    let manager = LockManager::at(&url).token(&token).keychain(Keychain::new()).connect().unwrap();
    let claim = blocking::LockManager::from(manager).claim("ci/printer").get().unwrap();
    tell(&json!(claim.fence()));
    claim.release().unwrap();
}

#[test]
fn keychain_is_found_in_the_environment_and_is_given_the_token_there() {
    let data = tempfile::tempdir().unwrap();
    let made = Command::new(TENURE)
        .args(["token", "create", "ci", "--grant", "claim:ci/", "--data"])
        .arg(data.path())
        .output()
        .unwrap();
    let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let server = Server::start_with("127.0.0.1:0", data.path(), &["--require-tokens"]);
    let mut child = program("elsewhere::holder_with_a_token", &server.url())
        .env("TENURE_TEST_TOKEN", &token)
        .env("TENURE_BIN", TENURE)
        .env_remove("PATH")
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    assert!(heard(&mut output).as_u64().is_some());
    std::io::copy(&mut output, &mut std::io::sink()).unwrap();
    assert!(child.wait().unwrap().success());
}
