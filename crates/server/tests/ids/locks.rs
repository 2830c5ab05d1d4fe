//! Taking and releasing locks.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use super::house::{House, waits};

#[tokio::test]
async fn refused_lock_is_503_in_the_words_of_a_data_service() {
    let house = House::new().await;
    let reader = r#"{"datasetIds":[1,2],"call":"getData","owner":"ids-1","reason":"download"}"#;
    let first = house.lock(reader).await.is(201).json();
    let second = house.lock(reader).await.is(201).json();
    assert_eq!((&first["type"], &first["datasetIds"]), (&json!("SHARED"), &json!([1, 2])));
    let told = house.lock(r#"{"datasetIds":[3,2],"type":"EXCLUSIVE"}"#).await.is(503);
    // The body that clients know comes first; the rest is for people.
    let known = r#"{"code":"DataNotOnlineException","message":"Data is busy","#;
    assert!(told.text.starts_with(known), "{}", told.text);
    let told = told.json();
    assert_eq!(
        (&told["datasetId"], &told["type"], &told["count"]),
        (&json!(2), &json!("SHARED"), &json!(2))
    );
    // All or nothing.
    let status = house.status().await;
    assert_eq!(status["lockCount"], 2);
    assert_eq!(status["locks"][1]["id"], 2);
    assert_eq!(status["locks"][1]["count"], 2);
    assert_eq!(status["locks"][1]["owner"], "ids-1");
    assert_eq!(status["locks"][1]["reason"], "download");

    house.release(&first).await.is(204);
    house.release(&first).await.is(204);
    assert_eq!(house.status().await["locks"][0]["count"], 1);
    house.release(&second).await.is(204);
    assert_eq!(house.status().await["lockCount"], 0);
    let writer = house.lock(r#"{"datasetIds":[2,3],"call":"delete"}"#).await.is(201).json();
    assert_eq!(writer["type"], "EXCLUSIVE");
    house.lock(reader).await.is(503);
}

#[tokio::test]
async fn nothing_one_twice_and_more_than_a_claim_covers() {
    let house = House::new().await;
    let nothing = house.lock(r#"{"datasetIds":[],"type":"EXCLUSIVE"}"#).await.is(201).json();
    assert_eq!(nothing["lock"], Value::Null);
    let twice = house.lock(r#"{"datasetIds":[1,1],"type":"SHARED"}"#).await.is(201).json();
    assert_eq!(house.status().await["locks"][0]["count"], 2);
    house.release(&twice).await.is(204);
    house.lock(r#"{"datasetIds":[1,1],"type":"EXCLUSIVE"}"#).await.is(503);
    let own_way = r#"{"datasetIds":[1,1],"type":"EXCLUSIVE"}"#;
    house.ask("POST", "/ids/locks?wait=60", own_way).await.is(503);
    assert_eq!(house.status().await["lockCount"], 0);

    let many: Vec<u64> = (0..256).collect();
    let body = format!(r#"{{"datasetIds":{many:?},"type":"EXCLUSIVE"}}"#);
    let last = house.lock(r#"{"datasetIds":[255],"type":"SHARED"}"#).await.is(201).json();
    let refused = house.lock(&body).await.is(503).json();
    assert_eq!(refused["datasetId"], 255);
    assert_eq!(house.status().await["lockCount"], 1, "all or nothing");
    house.release(&last).await.is(204);
    let all = house.lock(&body).await.is(201).json();
    assert_eq!(house.status().await["lockCount"], 256);
    let path = format!("/ids/locks/{}", all["lock"].as_str().unwrap());
    house.ask("PATCH", &path, r#"{"ttl":600}"#).await.is(204);
    house.release(&all).await.is(204);
    assert_eq!(house.status().await["lockCount"], 0);
}

#[tokio::test]
async fn who_waits_gets_it_in_turn_and_who_hangs_up_is_not_in_the_way() {
    let house = House::new().await;
    let reader = house.lock(r#"{"datasetIds":[1],"type":"SHARED"}"#).await.is(201).json();
    let write = r#"{"datasetIds":[1],"type":"EXCLUSIVE"}"#;
    {
        let mut gone = pin!(house.ask("POST", "/ids/locks?wait=60", write));
        assert!(waits(&mut gone).await);
        // Readers who come later do not overtake.
        let told = house.lock(r#"{"datasetIds":[1],"type":"SHARED"}"#).await.is(503).json();
        assert_eq!(told["count"], 1);
    }
    // Hung up: its claim is taken out of the queue.
    let by = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while house.lock(r#"{"datasetIds":[1],"type":"SHARED"}"#).await.status != 201 {
        assert!(std::time::Instant::now() < by, "still in the way");
        tokio::task::yield_now().await;
    }
    let status = house.status().await;
    assert_eq!(
        (&status["locks"][0]["count"], &status["locks"][0]["waiting"]),
        (&json!(2), &json!(0))
    );
    // The one above was never released: revoke it as an administrator would.
    let holders = house.get("/v1/resources/dataset/1/").await.is(200).json();
    let other = holders["holders"][1]["id"].as_u64().unwrap();
    let mine = reader["lock"].as_str().unwrap().split('.').next().unwrap().parse::<u64>().unwrap();
    let other = if other == mine { holders["holders"][0]["id"].as_u64().unwrap() } else { other };
    let mut revoke =
        super::house::request("PATCH", &format!("/v1/claims/{other}/"), br#"{"status":"revoked"}"#);
    let token = format!("Bearer {}", super::house::TOKEN).parse().unwrap();
    revoke.headers_mut().insert("authorization", token);
    house.send(revoke).await.is(204);

    let mut waiter = pin!(house.ask("POST", "/ids/locks?wait=60", write));
    assert!(waits(&mut waiter).await);
    house.release(&reader).await.is(204);
    let writer = waiter.await.is(201).json();
    assert_eq!(house.status().await["locks"][0]["type"], "EXCLUSIVE");
    house.release(&writer).await.is(204);
    assert_eq!(house.status().await["lockCount"], 0);
}

#[tokio::test]
async fn time_that_is_over_leaves_nothing() {
    let house = House::new().await;
    let reader = house.lock(r#"{"datasetIds":[1],"type":"SHARED"}"#).await.is(201).json();
    let write = r#"{"datasetIds":[0,1],"type":"EXCLUSIVE"}"#;
    house.ask("POST", "/ids/locks?wait=0.02", write).await.is(503);
    let status = house.status().await;
    assert_eq!((&status["lockCount"], &status["locks"][0]["waiting"]), (&json!(1), &json!(0)));
    house.release(&reader).await.is(204);
    house.lock(write).await.is(201);
}

/// Counts readers, or is minus one for a writer.
#[derive(Default)]
struct Detector([AtomicI64; 4]);

#[tokio::test]
async fn contenders_never_overlap() {
    let (house, detector) = (House::new().await, Arc::new(Detector::default()));
    let tasks: Vec<_> = (0..12_u64)
        .map(|nth| {
            let (house, detector) = (house.clone(), detector.clone());
            tokio::spawn(async move {
                for round in 0..40_u64 {
                    let set = [(nth + round) % 4, (nth * 3 + round + 1) % 4];
                    let set = if set[0] == set[1] { &set[..1] } else { &set[..] };
                    let shared = (nth + round) % 3 > 0;
                    let kind = if shared { "SHARED" } else { "EXCLUSIVE" };
                    let body = format!(r#"{{"datasetIds":{set:?},"type":"{kind}"}}"#);
                    let path = if round % 2 == 0 { "/ids/locks?wait=60" } else { "/ids/locks" };
                    let told = house.ask("POST", path, &body).await;
                    if told.status == 503 {
                        continue;
                    }
                    let lock = told.is(201).json();
                    for &dataset in set {
                        let inside = &detector.0[dataset as usize];
                        match shared {
                            true => assert!(inside.fetch_add(1, Ordering::SeqCst) >= 0),
                            false => assert_eq!(inside.swap(-1, Ordering::SeqCst), 0),
                        }
                    }
                    tokio::task::yield_now().await;
                    for &dataset in set {
                        let inside = &detector.0[dataset as usize];
                        match shared {
                            true => assert!(inside.fetch_sub(1, Ordering::SeqCst) > 0),
                            false => assert_eq!(inside.swap(0, Ordering::SeqCst), -1),
                        }
                    }
                    house.release(&lock).await.is(204);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(house.status().await["lockCount"], 0);
}

#[tokio::test]
async fn locks_are_claims_like_any_other() {
    let house = House::new().await;
    // Somebody who knows nothing of datasets.
    house.post(r#"{"resource":"dataset/7","ttl":60}"#).await.is(201);
    house.lock(r#"{"datasetIds":[7],"type":"SHARED"}"#).await.is(503);
    house.post(r#"{"resource":"dataset/8","ttl":60,"limit":2}"#).await.is(201);
    house.lock(r#"{"datasetIds":[8],"type":"SHARED"}"#).await.is(201);
    house.lock(r#"{"datasetIds":[8],"type":"SHARED"}"#).await.is(503);
    house.post(r#"{"resource":"dataset/07","ttl":60}"#).await.is(201);
    house.post(r#"{"resource":"dataset/x","ttl":60,"user_data":[1]}"#).await.is(201);
    let status = house.status().await;
    let shown: Vec<_> = status["locks"].as_array().unwrap().iter().collect();
    assert_eq!(shown.len(), 2, "only names of datasets are locks on datasets");
    assert_eq!((&shown[0]["id"], &shown[0]["type"]), (&json!(7), &json!("EXCLUSIVE")));
    assert_eq!((&shown[1]["count"], &shown[1]["type"]), (&json!(2), &json!("SHARED")));
    assert_eq!(shown[0]["owner"], Value::Null);
}
