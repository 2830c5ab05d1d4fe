//! The queue of operations, and the workers that come for it.

use serde_json::json;

use super::house::{House, TOKEN, request};

const ARCHIVE: &str =
    r#"{"operation":"ARCHIVE","datasetId":2,"data":"1/2 (F/I/V/D)","owner":"ids","reason":"tidy"}"#;
const WRITE: &str = r#"{"operation":"WRITE","datasetId":2,"data":"1/2 (F/I/V/D)"}"#;
const RESTORE: &str = r#"{"operation":"RESTORE","datasetId":2}"#;

#[tokio::test]
async fn operation_waits_for_its_lock_and_is_done_once() {
    let house = House::new().await;
    let told = house.request(ARCHIVE).await;
    assert_eq!(told, json!({ "request": "ARCHIVE_REQUESTED", "maybeOffline": true }));
    let reader = house.lock(r#"{"datasetIds":[2],"call":"getData"}"#).await.is(201).json();
    assert!(house.work().await.is_empty());
    let status = house.status().await;
    assert_eq!(status["opsQueue"][0]["data"], "1/2 (F/I/V/D)");
    assert_eq!(status["opsQueue"][0]["request"], "ARCHIVE_REQUESTED");
    assert_eq!(status["opsQueue"][0]["owner"], "ids");
    house.release(&reader).await.is(204);

    let jobs = house.work().await;
    assert_eq!(jobs.len(), 1);
    assert_eq!(
        (&jobs[0]["operation"], &jobs[0]["type"], &jobs[0]["datasetId"]),
        (&json!("ARCHIVE"), &json!("EXCLUSIVE"), &json!(2))
    );
    assert!(house.work().await.is_empty(), "once");
    house.lock(r#"{"datasetIds":[2],"call":"getData"}"#).await.is(503);
    let status = house.status().await;
    assert_eq!(status["locks"][0]["owner"], "tape-1");
    assert_eq!(status["locks"][0]["reason"], "background archive");
    assert_eq!(status["opsQueue"][0]["request"], "ARCHIVE_REQUESTED", "while it is done");
    house.finish(&jobs[0], "[]").await.is(204);
    house.finish(&jobs[0], "[]").await.is(404);
    let status = house.status().await;
    assert_eq!((&status["opsQueue"], &status["lockCount"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn writer_runs_beside_readers_and_the_archiver_after_it() {
    let house = House::new().await;
    house.request(WRITE).await;
    assert_eq!(house.request(ARCHIVE).await["request"], "WRITE_THEN_ARCHIVE_REQUESTED");
    let reader = house.lock(r#"{"datasetIds":[2],"call":"getData"}"#).await.is(201).json();
    let writer = house.work().await;
    assert_eq!((&writer[0]["operation"], &writer[0]["type"]), (&json!("WRITE"), &json!("SHARED")));
    assert_eq!(house.status().await["opsQueue"][0]["request"], "ARCHIVE_REQUESTED");
    house.release(&reader).await.is(204);
    assert!(house.work().await.is_empty(), "one after the other");
    house.finish(&writer[0], "[]").await.is(204);
    let archiver = house.work().await;
    assert_eq!(archiver[0]["operation"], "ARCHIVE");
    house.finish(&archiver[0], "[]").await.is(204);
    assert_eq!(house.status().await["opsQueue"], json!([]));
}

#[tokio::test]
async fn failed_write_forbids_archiving_and_failed_restore_is_told() {
    let house = House::new().await;
    house.request(WRITE).await;
    house.request(ARCHIVE).await;
    let writer = house.work().await;
    house.finish(&writer[0], r#"[{"id":2,"reason":"the tape is full"}]"#).await.is(204);
    assert!(house.work().await.is_empty(), "what was not written is not archived");
    let status = house.status().await;
    assert_eq!((&status["opsQueue"], &status["failures"]), (&json!([]), &json!([])));
    let failed = status["failed"].as_array().unwrap();
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert_eq!(failed[0]["reason"], "the tape is full");

    house.request(RESTORE).await;
    let restorer = house.work().await;
    house.finish(&restorer[0], r#"[{"id":2,"reason":"corrupt"}]"#).await.is(204);
    assert_eq!(house.status().await["failures"], json!([2]));
    let again = r#"{"operation":"RESTORE","datasetId":2,"prepare":true}"#;
    house.request(again).await;
    assert_eq!(house.status().await["failures"], json!([]));
}

#[tokio::test]
async fn files_of_one_dataset_share_a_lock_and_kinds_wait_for_each_other() {
    let house = House::new().await;
    for (file, operation) in [(1, "RESTORE"), (2, "WRITE"), (3, "RESTORE"), (4, "DELETE")] {
        let body = format!(
            r#"{{"operation":"{operation}","datasetId":2,"datafileId":{file},"data":"at/{file}"}}"#
        );
        house.request(&body).await;
    }
    // Two of them cancel each other.
    let delete = r#"{"operation":"DELETE","datasetId":2,"datafileId":2}"#;
    assert_eq!(house.request(delete).await["request"], json!(null));
    let jobs = house.work().await;
    assert_eq!(jobs.len(), 1);
    let items: Vec<_> = jobs[0]["items"].as_array().unwrap().iter().map(|i| &i["data"]).collect();
    assert_eq!(items, ["at/1", "at/3"]);
    house.finish(&jobs[0], r#"[{"id":3,"reason":"lost"}]"#).await.is(204);
    assert_eq!(house.status().await["failures"], json!([3]));
    let jobs = house.work().await;
    assert_eq!(jobs[0]["operation"], "DELETE");
    house.finish(&jobs[0], "[]").await.is(204);
    assert_eq!(house.status().await["opsQueue"], json!([]));
}

#[tokio::test]
async fn worker_that_loses_its_lock_is_replaced() {
    let house = House::new().await;
    house.request(RESTORE).await;
    let lost = house.work().await.remove(0);
    let id = lost["lock"].as_str().unwrap().split('.').next().unwrap();
    let mut revoke = request("PATCH", &format!("/v1/claims/{id}/"), br#"{"status":"revoked"}"#);
    let token = format!("Bearer {TOKEN}").parse().unwrap();
    revoke.headers_mut().insert("authorization", token);
    house.send(revoke).await.is(204);
    let next = house.work().await;
    assert_eq!(next[0]["operation"], "RESTORE", "what was not finished is done again");
    house.finish(&lost, "[]").await.is(404);
    assert_eq!(house.status().await["opsQueue"][0]["request"], "RESTORE_REQUESTED");
    house.finish(&next[0], "[]").await.is(204);
    assert_eq!(house.status().await["opsQueue"], json!([]));
}

#[tokio::test]
async fn worker_is_given_what_it_can_do_and_no_more() {
    let house = House::new().await;
    for dataset in 1..=5 {
        house.request(&format!(r#"{{"operation":"RESTORE","datasetId":{dataset}}}"#)).await;
    }
    house.request(r#"{"operation":"WRITE","datasetId":9}"#).await;
    let take = async |body: &str| {
        let told = house.ask("POST", "/ids/work", body).await.is(200).json();
        told["jobs"].as_array().unwrap().len()
    };
    assert_eq!(take(r#"{"owner":"w","operations":["ARCHIVE"]}"#).await, 0);
    assert_eq!(take(r#"{"owner":"w","operations":["WRITE","ARCHIVE"],"max":3}"#).await, 1);
    assert_eq!(take(r#"{"owner":"w"}"#).await, 1);
    assert_eq!(take(r#"{"owner":"w","max":3}"#).await, 3);
    assert_eq!(take(r#"{"owner":"w","max":64}"#).await, 1);
}

#[tokio::test]
async fn what_others_put_beside_the_records_harms_nothing() {
    let house = House::new().await;
    house.post(r#"{"resource":"operation/2","ttl":60,"shared":true}"#).await.is(201);
    let rubbish = r#"{"resource":"operation/2","ttl":60,"shared":true,"user_data":[{"queued":7}]}"#;
    house.post(rubbish).await.is(201);
    house.post(r#"{"resource":"operation/two","ttl":60,"user_data":{}}"#).await.is(201);
    assert_eq!(house.status().await["opsQueue"], json!([]));
    assert_eq!(house.request(ARCHIVE).await["request"], "ARCHIVE_REQUESTED");
    assert_eq!(house.status().await["opsQueue"].as_array().unwrap().len(), 1);
    let jobs = house.work().await;
    house.finish(&jobs[0], "[]").await.is(204);
    // Somebody who has the name alone is in the way, and is named.
    house.post(r#"{"resource":"operation/3","ttl":60}"#).await.is(201);
    let body = r#"{"operation":"ARCHIVE","datasetId":3}"#;
    let told = house.ask("POST", "/ids/operations", body).await.is(503).json();
    assert!(told["message"].as_str().unwrap().contains("tenure why operation/3"), "{told}");
    let queue = house.get("/v1/resources/operation/3/").await.json();
    assert_eq!(queue["waiting"], 0);
}
