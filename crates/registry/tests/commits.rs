//! What committing costs is counted: commits, the answers that each let go, and syncs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use claims::{Command, KeyHash, Limit, Name, Registration, Resources, Rules, Ttl};
use registry::embedded::{Durability, Options, open};
use registry::{Commits, Store};

fn register(nth: u8) -> Command {
    let resources = Resources::try_from(vec![Name::new(&nth.to_string()).unwrap()]).unwrap();
    let ttl = Ttl::from_secs_f64(60.0).unwrap();
    let key = KeyHash([nth; 16]);
    Command::Register(Registration { key, resources, limit: Limit::EXCLUSIVE, ttl, data: None })
}

/// Ten claims, one after the other.
async fn commits_of(store: impl Store) -> Commits {
    for nth in 0..10 {
        store.submit(register(nth)).await.unwrap().unwrap();
        // Looking is no commit.
        store.vitals().await.unwrap();
    }
    store.vitals().await.unwrap().commits
}

#[tokio::test]
async fn every_commit_of_the_embedded_store_is_counted_and_its_sync_timed() {
    let directory = tempfile::tempdir().unwrap();
    let commits = commits_of(open(directory.path(), Options::default()).unwrap()).await;
    assert_eq!((commits.answers.count(), commits.answers.sum()), (10, 10));
    assert_eq!(commits.sync.count(), 10);
    assert!(commits.sync.sum() > 0, "a sync takes time");
}

#[tokio::test]
async fn stores_that_do_not_sync_time_no_sync() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options { durability: Durability::None, ..Options::default() };
    let lax = commits_of(open(directory.path(), options).unwrap()).await;
    let memory = commits_of(registry::memory(Rules::default())).await;
    for commits in [lax, memory] {
        assert_eq!((commits.answers.count(), commits.sync.count()), (10, 0));
    }
}

#[tokio::test]
async fn every_answer_left_with_some_commit() {
    let store = registry::memory(Rules::default());
    // However many of them leave together.
    let pending: Vec<_> = (0..200).map(|nth| store.submit(register(nth))).collect();
    for answer in pending {
        answer.await.unwrap().unwrap();
    }
    let commits = store.vitals().await.unwrap().commits;
    assert_eq!(commits.answers.sum(), 200);
}
