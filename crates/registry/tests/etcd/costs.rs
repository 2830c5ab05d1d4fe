//! What a decision costs etcd: counted by etcd itself.

use std::time::{Duration, Instant};

use claims::{Command as Ask, Farewell, Rules, Span};
use etcd_client::{Client, GetOptions};

use super::arena::{claim, open};
use super::cluster::{self, Cluster, PATIENCE};

/// One transaction claims, one releases, and nothing is read before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn undisturbed_claim_and_release_are_two_transactions() {
    let cluster = Cluster::of(1, "");
    let store = open(&cluster.url("costs")).await;
    let requests = |method| {
        let line = format!("grpc_server_handled_total{{grpc_code=\"OK\",grpc_method=\"{method}\"");
        let page = cluster.page(0, "/metrics").unwrap();
        let counts = page.lines().filter(|it| it.starts_with(&line));
        counts.map(|it| it.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum::<f64>() as u64
    };
    let before = (requests("Txn"), requests("Range"), requests("Put"));
    let cycles = 50;
    for nth in 0..cycles {
        // New names and names that were used before.
        let (owner, _) = claim(&*store, &format!("r{}", nth % 10), 60.0).await;
        store.submit(Ask::End(owner, Farewell::Release)).await.unwrap().unwrap();
    }
    let after = (requests("Txn"), requests("Range"), requests("Put"));
    assert_eq!(after.1, before.1, "nothing is read");
    assert_eq!((after.0 - before.0, after.2 - before.2), (2 * cycles, 0));
}

/// Rules 8 and 12. Names that nobody uses any more leave nothing, and their fences still rise.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_resource_leaves_nothing_in_etcd_and_its_fences_rise_all_the_same() {
    let cluster = cluster::shared();
    let rules = Rules { retain: Span::from_millis(200), ..Rules::default() };
    let url = cluster.url("idle");
    let store = registry::etcd::open(&url, rules).await.unwrap();
    // A process that knows of the resource from before it went.
    let other = open(&url).await;
    let (owner, before) = claim(&*other, "job/1", 60.0).await;
    other.submit(Ask::End(owner, Farewell::Release)).await.unwrap().unwrap();
    let (owner, fence) = claim(&*store, "job/1", 60.0).await;
    assert!(fence > before);
    store.submit(Ask::End(owner, Farewell::Release)).await.unwrap().unwrap();
    let client = Client::connect(cluster.endpoints(), None).await.unwrap();
    let keys = async |kind: &str| {
        let options = GetOptions::new().with_prefix().with_count_only();
        let found = client.kv_client().get(format!("idle/{kind}/"), Some(options)).await;
        found.unwrap().count()
    };
    let start = Instant::now();
    while keys("r").await + keys("c").await > 0 {
        assert!(start.elapsed() < PATIENCE, "it is forgotten");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (_, after) = claim(&*other, "job/1", 60.0).await;
    assert!(after > fence, "{after} comes after {fence}");
}
