//! What a decision costs etcd: counted by etcd itself.

use std::time::{Duration, Instant};

use claims::{
    Command as Ask, Data, Farewell, KeyHash, Limit, Name, Registration, Resources, Rules, Span, Ttl,
};
use prost::Message;
use registry::{Filter, Page};

use super::arena::{claim, open};
use super::cluster::{self, Cluster, PATIENCE};
use super::peer::Peer;

/// How many keys are in a range?
#[derive(Clone, PartialEq, Message)]
struct Count {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    range_end: String,
    #[prost(bool, tag = "9")]
    count_only: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Counted {
    #[prost(int64, tag = "4")]
    count: i64,
}

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
    let etcd = Peer::of(&cluster.endpoints());
    let keys = async |kind: &str| {
        let (key, range_end) = (format!("idle/{kind}/"), format!("idle/{kind}0"));
        let count = Count { key, range_end, count_only: true };
        etcd.call::<_, Counted>("/etcdserverpb.KV/Range", count).await.count
    };
    let start = Instant::now();
    while keys("r").await + keys("c").await > 0 {
        assert!(start.elapsed() < PATIENCE, "it is forgotten");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (_, after) = claim(&*other, "job/1", 60.0).await;
    assert!(after > fence, "{after} comes after {fence}");
}

/// A record may have a mebibyte, a hundred are read at a time, and that is more than clients of its kind
/// take in one answer if nothing is said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_of_many_megabytes_are_read_together() {
    let url = cluster::shared().url("large");
    let store = open(&url).await;
    for nth in 0..90 {
        let registration = Registration {
            key: KeyHash([nth; 16]),
            resources: Resources::one(Name::new(&format!("r{nth}")).unwrap()),
            limit: Limit::EXCLUSIVE,
            ttl: Ttl::from_secs_f64(600.0).unwrap(),
            data: Some(Data::new(&"x".repeat(60 * 1024)).unwrap()),
        };
        store.submit(Ask::Register(registration)).await.unwrap().unwrap();
    }
    // One that remembers nothing.
    let other = open(&url).await;
    let claims = other.claims(Filter::default(), Page::first(1_000)).await.unwrap();
    assert_eq!(claims.len(), 90);
}
