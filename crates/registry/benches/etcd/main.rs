//! Claims in etcd beside etcd's own locks, on the same cluster of three, in turns.
//!
//! `cargo bench -p registry --bench etcd`
#![allow(clippy::print_stdout, reason = "a bench speaks to people")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on says where")]

#[path = "../../tests/etcd/cluster.rs"]
#[allow(dead_code, reason = "the tests do more with it")]
mod cluster;
#[path = "../../tests/etcd/peer.rs"]
#[allow(dead_code, reason = "the tests do more with it")]
mod peer;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use claims::{Command, Farewell, KeyHash, Limit, Name, Owner, Registration, Resources, Rules, Ttl};
use peer::{Nothing, Peer};
use prost::Message;
use registry::Store;

#[derive(Clone, PartialEq, Message)]
struct LeaseGrant {
    #[prost(int64, tag = "1")]
    ttl: i64,
}

#[derive(Clone, PartialEq, Message)]
struct LeaseGranted {
    #[prost(int64, tag = "2")]
    id: i64,
}

#[derive(Clone, PartialEq, Message)]
struct LeaseRevoke {
    #[prost(int64, tag = "1")]
    id: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Lock {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int64, tag = "2")]
    lease: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Locked {
    #[prost(string, tag = "2")]
    key: String,
}

const WINDOW: Duration = Duration::from_secs(3);
const ROUNDS: usize = 4;

fn main() {
    let cluster = cluster::Cluster::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("claim and release, each worker on a name of its own; three members on this machine");
    println!("| workers | etcd's lock, cycles/s | Tenure, cycles/s | ratio |");
    println!("|---|---|---|---|");
    for workers in [1, 8, 32] {
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        // In turns, and each begins every other time: what else the machine does hits both.
        for round in 0..ROUNDS {
            let lock = || runtime.block_on(lock_cycles(&cluster, workers));
            let claim = || runtime.block_on(claim_cycles(&cluster, workers));
            if round % 2 == 0 {
                theirs.push(lock());
                ours.push(claim());
            } else {
                ours.push(claim());
                theirs.push(lock());
            }
        }
        let (theirs, ours) = (median(theirs), median(ours));
        println!("| {workers} | {theirs:.0} | {ours:.0} | {:.2} |", ours / theirs);
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    (figures[middle] + figures[figures.len() - 1 - middle]) / 2.0
}

/// Counts cycles of all workers in a window.
async fn measure<W: Future<Output = ()> + Send + 'static>(
    workers: usize,
    work: impl Fn(usize, Arc<AtomicU64>, Instant) -> W,
) -> f64 {
    let cycles = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let tasks: Vec<_> =
        (0..workers).map(|nth| tokio::spawn(work(nth, cycles.clone(), begun + WINDOW))).collect();
    for task in tasks {
        task.await.unwrap();
    }
    cycles.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64()
}

async fn lock_cycles(cluster: &cluster::Cluster, workers: usize) -> f64 {
    let etcd = Peer::of(&cluster.endpoints());
    measure(workers, |nth, cycles, end| {
        let etcd = etcd.clone();
        async move {
            // One lease a worker, as its sessions have.
            let grant = LeaseGrant { ttl: 60 };
            let lease: LeaseGranted = etcd.call("/etcdserverpb.Lease/LeaseGrant", grant).await;
            while Instant::now() < end {
                let lock = Lock { name: format!("lock/{nth}"), lease: lease.id };
                let held: Locked = etcd.call("/v3lockpb.Lock/Lock", lock).await;
                etcd.tell("/v3lockpb.Lock/Unlock", &held.key, "").await;
                cycles.fetch_add(1, Ordering::Relaxed);
            }
            let revoke = LeaseRevoke { id: lease.id };
            etcd.call::<_, Nothing>("/etcdserverpb.Lease/LeaseRevoke", revoke).await;
        }
    })
    .await
}

async fn claim_cycles(cluster: &cluster::Cluster, workers: usize) -> f64 {
    let store: Arc<dyn Store> =
        Arc::from(registry::etcd::open(&cluster.url("bench"), Rules::default()).await.unwrap());
    measure(workers, |nth, cycles, end| {
        let store = store.clone();
        async move {
            while Instant::now() < end {
                let mut key = [0; 16];
                getrandom::fill(&mut key).unwrap();
                let key = KeyHash(key);
                let registration = Registration {
                    key,
                    resources: Resources::one(Name::new(&format!("bench/{nth}")).unwrap()),
                    limit: Limit::EXCLUSIVE,
                    ttl: Ttl::from_secs_f64(60.0).unwrap(),
                    data: None,
                };
                let granted = store.submit(Command::Register(registration)).await.unwrap().unwrap();
                assert!(granted.place.is_none(), "nobody else wants it");
                let owner = Owner { claim: granted.claim.id, key };
                store.submit(Command::End(owner, Farewell::Release)).await.unwrap().unwrap();
                cycles.fetch_add(1, Ordering::Relaxed);
            }
        }
    })
    .await
}
