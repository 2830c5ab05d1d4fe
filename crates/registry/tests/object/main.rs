//! Buckets and directories keep the promises of every store: memory and files here, S3 and Azure as
//! their emulators have them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "../../../makeshift/tests/stores/emulator.rs"]
mod emulator;
mod liar;

use std::process::Command;
use std::sync::Arc;

use claims::Rules;
use registry::conformance::{CASES, Examined};

registry::conformance!(memory, || examined("memory:"));

registry::conformance!(directory, || {
    let directory = tempfile::tempdir().unwrap();
    examined(&format!("file://{}", directory.path().display())).housed_in(directory)
});

fn examined(url: &str) -> Examined {
    let opened = tokio::task::block_in_place(|| {
        tokio::runtime::Handle::current().block_on(registry::object::open(url, Rules::default()))
    });
    Examined::new(Arc::from(opened.unwrap())).one_resource_each().without_clock()
}

/// Runs only as a child of the tests below, which say where in its environment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by the tests of the emulators"]
async fn place_of_the_environment_keeps_all_promises() {
    let url = std::env::var("TENURE_TEST_PLACE").unwrap();
    for (name, case) in CASES {
        eprintln!("{name}");
        case(&examined(&url)).await;
    }
    registry::object::remove(&url).await.unwrap();
    eprintln!("the suite has passed");
}

/// The suite in a process of its own, where the environment says where the store is: as users do it.
fn run_suite(environment: &[(&str, &str)]) {
    let child = "place_of_the_environment_keeps_all_promises";
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", child, "--nocapture"])
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success() && said.contains("the suite has passed"), "{told}\n{said}");
}

#[test]
fn s3_keeps_all_promises() {
    let Some(s3) = emulator::moto() else { return };
    run_suite(&[
        ("TENURE_TEST_PLACE", "s3://tenure-locks/some/prefix"),
        ("AWS_ENDPOINT_URL", &s3.url),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "anybody"),
        ("AWS_SECRET_ACCESS_KEY", "anything"),
    ]);
}

#[test]
fn azure_keeps_all_promises() {
    let Some(azure) = emulator::azurite() else { return };
    run_suite(&[
        ("TENURE_TEST_PLACE", "az://tenure-locks/some/prefix"),
        ("AZURE_STORAGE_USE_EMULATOR", "true"),
        ("AZURITE_BLOB_STORAGE_URL", &azure.url),
    ]);
}

#[tokio::test]
async fn address_that_is_no_store_is_refused_with_what_there_is() {
    for (url, word) in [
        ("ftp://host/x", "s3://"),
        ("file:relative", "file:///"),
        ("memory:?epoch=no", "epoch=N"),
        ("nonsense", "cannot be opened"),
    ] {
        let refused = registry::object::open(url, Rules::default()).await.map(drop);
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(word), "{url}: {error}");
    }
}

/// Rule 8, for a bucket that was restored from a backup.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_epoch_puts_every_fence_above_those_before() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("file://{}", directory.path().display());
    let before = fence(&url, 1).await;
    let after = fence(&format!("{url}?epoch=1"), 2).await;
    assert!(before < 1 << 40 && after > 1 << 40 && after < 1 << 53, "{before} {after}");
    assert!(fence(&url, 3).await > after, "who has not heard of it goes on above, too");
}

async fn fence(url: &str, key: u8) -> u64 {
    let store = registry::object::open(url, Rules::default()).await.unwrap();
    let registration = claims::Registration {
        key: claims::KeyHash([key; 16]),
        resources: claims::Resources::one(claims::Name::new("r").unwrap()),
        limit: claims::Limit::SHARED,
        ttl: claims::Ttl::from_secs_f64(600.0).unwrap(),
        data: None,
    };
    let granted = store.submit(claims::Command::Register(registration)).await.unwrap().unwrap();
    granted.claim.activation().unwrap().fence.0
}

/// What is damaged is not believed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_record_stops_whoever_needs_it_and_nobody_else() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("file://{}", directory.path().display());
    fence(&url, 1).await;
    let files = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
    let is_record = |path: &std::path::PathBuf| path.file_name().unwrap().len() == 5;
    let record = files.into_iter().find(is_record).unwrap();
    let mut bytes = std::fs::read(&record).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&record, bytes).unwrap();
    let store = registry::object::open(&url, Rules::default()).await.unwrap();
    let look = |name: &str| store.resource(claims::Name::new(name).unwrap(), 0);
    let error = look("r").await.unwrap_err();
    assert!(matches!(error, registry::StoreError::Corrupt(_)), "{error}");
    look("another").await.unwrap();
}
