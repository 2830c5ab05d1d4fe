//! What a decision costs etcd: counted by etcd itself.

use claims::{Command as Ask, Farewell};

use super::arena::{claim, open};
use super::cluster::Cluster;

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
