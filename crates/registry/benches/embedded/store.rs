//! The store: each submitter claims and releases its own resource.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use claims::{Command, Farewell, KeyHash, Limit, Name, Owner, Registration, Resources, Span, Ttl};
use registry::Store;
use registry::embedded::{Options, open};

/// One worker: on two cores, it and the desk's thread each have one.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_time().build().expect("a runtime")
}

pub(crate) fn registration(nth: u64, name: &Name) -> Registration {
    // As well mixed as the hash of a real key.
    let mixed = (nth ^ (nth >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let mut key = [0; 16];
    key[..8].copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes());
    key[8..].copy_from_slice(&nth.to_le_bytes());
    Registration {
        key: KeyHash(key),
        resources: Resources::one(name.clone()),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::new(Span::from_secs(60)).expect("a minute is a ttl"),
        data: None,
    }
}

/// Decisions a second, and the mean size of what a decision leaves in the log.
pub(crate) fn cycles(dir: &Path, submitters: usize, secs: f64) -> (f64, usize) {
    let options = Options { salt: [7; 16], ..Options::default() };
    let store: Arc<dyn Store> = Arc::new(open(dir, options).expect("a store"));
    let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let rate = runtime().block_on(async {
        let tasks: Vec<_> = (0..submitters as u64)
            .map(|submitter| {
                let (store, count, stop) = (store.clone(), count.clone(), stop.clone());
                let name =
                    Name::new(&format!("bench/resource/number/{submitter:09}")).expect("a name");
                tokio::spawn(async move {
                    for nth in 0.. {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let registration = registration(submitter << 40 | nth, &name);
                        let key = registration.key;
                        let standing = store.submit(Command::Register(registration)).await;
                        let claim =
                            standing.expect("the store serves").expect("it is free").claim.id;
                        count.fetch_add(1, Ordering::Relaxed);
                        let release = Command::End(Owner { claim, key }, Farewell::Release);
                        store.submit(release).await.expect("the store serves").expect("it is ours");
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let started = Instant::now();
        tokio::time::sleep(Duration::from_secs_f64(secs)).await;
        let rate = count.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        for task in tasks {
            task.await.expect("a submitter ends");
        }
        rate
    });
    // Registered + Activated is about 90 bytes with a 30-byte name, Ended about 4, the frame's
    // header is shared by the batch.
    let header = 56 / (submitters / 2).max(1);
    (rate, (90 + 4) / 2 + header)
}
