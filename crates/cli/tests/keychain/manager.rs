//! The library with a keychain: the same claims, held by another process.

use std::process::Command;
use std::time::Duration;

use serde_json::json;
use tenure::keychain::Keychain;
use tenure::{ClaimError, Lease, LockManager, Loss, blocking};

use crate::world::{Server, TENURE, signal, wait_until};

fn manager(url: &str, ttl: Duration) -> blocking::LockManager {
    let keychain = Keychain::new().program(TENURE);
    LockManager::at(url).ttl(ttl).keychain(keychain).connect().unwrap().into()
}

/// The keychain of a server's client: the only process that was told its address that way.
fn keychain_of(url: &str) -> Option<u64> {
    let wanted = format!("keychain --server {url}");
    let listed = Command::new("ps").args(["-e", "-o", "pid=,stat=,args="]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let line = listed.lines().find(|line| line.contains(&wanted) && !line.contains(" Z"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[test]
fn manager_with_a_keychain_behaves_as_without() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let manager = manager(&server.url(), Duration::from_secs(60));
    let first = manager.claim("printer").data("{\"a\": 1}").get().unwrap();
    assert!(matches!(first.lease(), Lease::Held(left) if left < Duration::from_secs(60)));
    let error = manager.try_claim("printer").get().unwrap_err();
    assert!(matches!(error, ClaimError::Busy { position: Some(1), .. }), "{error}");
    first.refresh(Duration::from_secs(600)).unwrap();
    assert!(first.valid_for() > Duration::from_secs(300));
    let token = first.keeper().unwrap();
    manager.renew_as_keeper(&token, Duration::from_secs(600)).unwrap();
    let (fence, number) = (first.fence(), json!(first.id()));
    first.release().unwrap();
    assert_eq!(server.status(&number), "released");
    let both = manager.claim_all(["printer", "scanner"]).get().unwrap();
    assert!(both.fence() > fence);
    let number = json!(both.id());
    drop(both);
    server.wait_until(&number, "released");
    let readers = [manager.claim("book").shared().get(), manager.claim("book").shared().get()];
    assert!(readers.iter().all(Result::is_ok));
    let error = manager.claim("").get().unwrap_err();
    assert!(matches!(error, ClaimError::Terms(_)), "{error}");
}

#[test]
fn claim_outlives_its_keychain_because_another_one_adopts_it() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let manager = manager(&server.url(), Duration::from_secs(3600));
    let claim = manager.claim("printer").get().unwrap();
    let (fence, number) = (claim.fence(), claim.id());
    let first = keychain_of(&server.url()).unwrap();
    signal(first, "-KILL");
    wait_until(|| matches!(claim.lease(), Lease::Unknown(_)));
    wait_until(|| matches!(claim.lease(), Lease::Held(_)));
    assert_ne!(keychain_of(&server.url()), Some(first));
    assert_eq!((claim.fence(), claim.id()), (fence, number));
    claim.refresh(None).unwrap();
    claim.release().unwrap();
    assert_eq!(server.status(&json!(number)), "released");
}

#[test]
fn claim_is_lost_at_its_deadline_while_its_keychain_is_stopped() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let manager = manager(&server.url(), Duration::from_secs(3));
    let claim = manager.claim("printer").get().unwrap();
    let number = claim.id();
    let keychain = keychain_of(&server.url()).unwrap();
    signal(keychain, "-STOP");
    let loss = claim.lost();
    assert!(matches!(loss, Loss::Unconfirmed(_)), "{loss}");
    assert_eq!(claim.id(), number, "it still says what it was");
    signal(keychain, "-CONT");
    assert!(claim.check().is_err());
    let again = manager.claim("printer").get().unwrap();
    assert!(again.fence() > claim.fence());
}

#[test]
fn keychain_that_cannot_be_started_is_a_clear_error() {
    let keychain = Keychain::new().program("/nowhere/tenure");
    let error = LockManager::at("http://127.0.0.1:1").keychain(keychain).connect().unwrap_err();
    assert!(error.to_string().contains("/nowhere/tenure"), "{error}");
}
