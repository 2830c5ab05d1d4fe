//! What was answered survives the end of the server.

use std::sync::Arc;

use registry::Store;
use registry::embedded::{Options, open};
use serde_json::{Value, json};
use server::Config;

use super::house::House;

async fn house(data: &std::path::Path) -> House {
    let store: Arc<dyn Store> = Arc::new(open(data, Options::default()).unwrap());
    House::over(store, Config::default()).await
}

/// Without what depends on the moment.
fn timeless(mut status: Value) -> Value {
    for list in ["opsQueue", "locks", "failed"] {
        for line in status[list].as_array_mut().unwrap() {
            line.as_object_mut().unwrap().remove("since");
            line.as_object_mut().unwrap().remove("holders");
        }
    }
    status
}

#[tokio::test]
async fn locks_requests_work_and_failures_survive_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let first = house(data.path()).await;
    let reader = first.lock(r#"{"datasetIds":[1],"call":"getData"}"#).await.is(201).json();
    first.request(r#"{"operation":"ARCHIVE","datasetId":1}"#).await;
    first.request(r#"{"operation":"WRITE","datasetId":2}"#).await;
    first.request(r#"{"operation":"RESTORE","datasetId":3}"#).await;
    let jobs = first.work().await;
    assert_eq!(jobs.len(), 2);
    let of = |operation: &str| jobs.iter().find(|job| job["operation"] == operation).unwrap();
    first.finish(of("RESTORE"), r#"[{"id":3,"reason":"corrupt"}]"#).await.is(204);
    let before = timeless(first.status().await);
    drop(first);

    let second = house(data.path()).await;
    assert_eq!(timeless(second.status().await), before);
    // The worker goes on under its lock, and the archiver still waits for the reader.
    assert!(second.work().await.is_empty());
    second.finish(of("WRITE"), "[]").await.is(204);
    second.release(&reader).await.is(204);
    let jobs = second.work().await;
    assert_eq!((jobs.len(), &jobs[0]["operation"]), (1, &json!("ARCHIVE")));
    second.finish(&jobs[0], "[]").await.is(204);
    let status = second.status().await;
    assert_eq!((&status["opsQueue"], &status["failures"]), (&json!([]), &json!([3])));
}
