//! The limit: append, one fdatasync for all who wait, wake them. No rules, no state, no checksums.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

const PREALLOCATED: usize = 32 << 20;

/// Records a second that `submitters` tasks get through, each waiting for its own.
pub(crate) fn records(path: &Path, submitters: usize, bytes: usize, secs: f64) -> f64 {
    let mut file = File::create(path).expect("a file for the log");
    file.write_all(&vec![0; PREALLOCATED]).expect("room for the log");
    file.sync_all().expect("sync");
    let (queue, incoming) = mpsc::channel::<(Vec<u8>, oneshot::Sender<()>)>();
    let writer = std::thread::spawn(move || {
        let (mut batch, mut waiters, mut offset) = (Vec::new(), Vec::new(), 0);
        while let Ok((record, waiter)) = incoming.recv() {
            batch.extend_from_slice(&record);
            waiters.push(waiter);
            while let Ok((record, waiter)) = incoming.try_recv() {
                batch.extend_from_slice(&record);
                waiters.push(waiter);
            }
            if offset + batch.len() > PREALLOCATED {
                offset = 0;
            }
            file.write_all_at(&batch, offset as u64).expect("append");
            file.sync_data().expect("fdatasync");
            offset += batch.len();
            batch.clear();
            for waiter in waiters.drain(..) {
                let _ = waiter.send(());
            }
        }
    });
    let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let rate = super::store::runtime().block_on(async {
        let tasks: Vec<_> = (0..submitters)
            .map(|_| {
                let (queue, count, stop) = (queue.clone(), count.clone(), stop.clone());
                tokio::spawn(async move {
                    while !stop.load(Ordering::Relaxed) {
                        let (waiter, done) = oneshot::channel();
                        queue.send((vec![1; bytes], waiter)).expect("the writer runs");
                        done.await.expect("the writer runs");
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
    drop(queue);
    writer.join().expect("the writer ends");
    rate
}
