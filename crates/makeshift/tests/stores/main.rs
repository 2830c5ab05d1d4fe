//! All locks on all stores of objects: memory here, S3 and Azure as their emulators have them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod emulator;
mod fenced;
mod last_writer;
mod names;

use std::process::Command;

use makeshift::Place;

/// Everything, on one store.
async fn suite(place: Place) {
    last_writer::one_holder_at_a_time(&place).await;
    last_writer::result_or_lease_whichever_comes_first(&place).await;
    last_writer::remote_keeps_and_stale_holder_is_told(&place).await;
    last_writer::leases_are_listed(&place).await;
    names::store_honours_conditions(&place).await;
    names::racers_have_one_winner_each_time_with_a_greater_fence(&place).await;
    names::dead_holder_is_followed_and_cannot_come_back(&place).await;
    fenced::older_fence_is_refused(&place).await;
    fenced::racing_writers_leave_the_highest_fence(&place).await;
    eprintln!("the suite has passed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_keeps_all_promises() {
    suite(Place::open("memory:///").unwrap()).await;
}

/// Files as another library keeps them: it can create, and cannot swap.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn store_without_conditional_puts_keeps_leases_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let files = object_store::local::LocalFileSystem::new_with_prefix(directory.path()).unwrap();
    let place = Place::of(std::sync::Arc::new(files), object_store::path::Path::default());
    last_writer::one_holder_at_a_time(&place).await;
    last_writer::remote_keeps_and_stale_holder_is_told(&place).await;
    let error = makeshift::unique_create::Objects::new(place).unwrap().prove().await.unwrap_err();
    assert!(error.to_string().contains("conditions"), "{error}");
}

/// Runs only as a child of the tests below, which say where in its environment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by the tests of the emulators"]
async fn place_of_the_environment_keeps_all_promises() {
    suite(Place::open(&std::env::var("TENURE_TEST_PLACE").unwrap()).unwrap()).await;
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
