//! What a decision reads does not grow with the queue or the history; and a full disk leaves nothing behind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::collections::BTreeSet;

use claims::{
    ClaimId, Command, Data, Farewell, KeyHash, Limit, Name, Owner, Registration, Resources, Rules,
    Ttl,
};
use sqlx::{AssertSqlSafe, Row as _, Sqlite};

use super::SqlStore;
use super::load::{Subject, Wanted};
use crate::store::Store;

fn wish(nth: u64) -> Registration {
    let mut key = [7; 16];
    key[..8].copy_from_slice(&nth.to_le_bytes());
    Registration {
        key: KeyHash(key),
        resources: Resources::one(Name::new("r").unwrap()),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::from_secs_f64(600.0).unwrap(),
        data: None,
    }
}

async fn register(store: &SqlStore<Sqlite>, nth: u64) -> ClaimId {
    store.submit(Command::Register(wish(nth))).await.unwrap().unwrap().claim.id
}

fn wanted(claim: ClaimId) -> Wanted {
    let names = BTreeSet::from([Name::new("r").unwrap()]);
    Wanted { subject: Subject::Id(claim), names, depth: 2, place: true, number: false }
}

#[tokio::test]
async fn decision_loads_the_same_however_long_the_queue_and_the_history_are() {
    let directory = tempfile::tempdir().unwrap();
    let store = super::sqlite(directory.path().join("db"), Rules::default()).await.unwrap();
    for nth in 0..50 {
        let claim = register(&store, nth).await;
        let owner = Owner { claim, key: wish(nth).key };
        store.submit(Command::End(owner, Farewell::Release)).await.unwrap().unwrap();
    }
    let mut last = ClaimId(0);
    for nth in 1_000..1_200 {
        last = register(&store, nth).await;
    }
    let mut connection = store.desk.pool.acquire().await.unwrap();
    let loaded = store.desk.load(&mut connection, &wanted(last)).await.unwrap();
    // The holder, the first two in line, and the one that is asked about.
    assert_eq!(loaded.claims.len(), 4);
}

#[tokio::test]
async fn decision_searches_by_index_and_scans_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = super::sqlite(directory.path().join("db"), Rules::default()).await.unwrap();
    let claim = register(&store, 1).await;
    let question = store.desk.question(&wanted(claim)).into_sql();
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", question.text));
    let mut connection = store.desk.pool.acquire().await.unwrap();
    let plan = sqlx::query(explain).fetch_all(&mut *connection).await.unwrap();
    let steps: Vec<String> = plan.iter().map(|row| row.get(3)).collect();
    // The row about the store is the only one of its table, and the head of the queue is read to its end.
    let scans = steps.iter().filter(|step| {
        step.starts_with("SCAN") && !step.contains("tenure_store") && !step.contains("head")
    });
    assert_eq!(scans.count(), 0, "{steps:#?}");
    let searches = steps.iter().filter(|step| step.starts_with("SEARCH")).count();
    assert!(searches >= 6, "{steps:#?}");
}

/// Every connection that the pool has may make the file so many pages long.
async fn let_grow(store: &SqlStore<Sqlite>, pages: u32) {
    let mut all = Vec::new();
    while all.len() < store.desk.pool.options().get_max_connections() as usize {
        let mut connection = store.desk.pool.acquire().await.unwrap();
        let pragma = AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
        sqlx::query(pragma).execute(&mut *connection).await.unwrap();
        all.push(connection);
    }
}

#[tokio::test]
async fn full_disk_leaves_no_connection_that_cannot_be_used() {
    let directory = tempfile::tempdir().unwrap();
    let store = super::sqlite(directory.path().join("db"), Rules::default()).await.unwrap();
    register(&store, 0).await;
    let text = format!("\"{}\"", "x".repeat(60_000));
    let large = |nth| Registration { data: Some(Data::new(text.as_str()).unwrap()), ..wish(nth) };
    for nth in 1..=8 {
        // No page more than there is.
        let_grow(&store, 1).await;
        let full = store.submit(Command::Register(large(nth))).await;
        assert!(full.is_err(), "the disk is full: {full:?}");
    }
    let_grow(&store, 1 << 30).await;
    for nth in 1..=8 {
        store.submit(Command::Register(large(nth))).await.unwrap().unwrap();
    }
}
