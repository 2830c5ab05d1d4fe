//! Memory per held claim, the pauses of a snapshot, and recovery.

use std::path::Path;
use std::time::{Duration, Instant};

use claims::{Command, Name};
use registry::Store;
use registry::embedded::{Options, open};

use super::store::{registration, runtime};

pub(crate) fn run(dir: &Path, claims: u64) {
    let options = || Options { salt: [7; 16], snapshot_after: 16 << 20, ..Options::default() };
    let before = resident();
    let runtime = runtime();
    {
        let store = open(dir, options()).expect("a store");
        runtime.block_on(async {
            for from in (0..claims).step_by(1000) {
                let batch: Vec<_> = (from..from + 1000)
                    .map(|nth| {
                        let name = Name::new(&format!("held/resource/with/name/{nth:08}"))
                            .expect("a name");
                        store.submit(Command::Register(registration(nth, &name)))
                    })
                    .collect();
                for answer in batch {
                    answer.await.expect("the store serves").expect("it is free");
                }
            }
            let started = Instant::now();
            let ten_seconds = || started.elapsed() < Duration::from_secs(10);
            let slowest = slowest_answer(&store, claims, ten_seconds).await;
            let held = held(&store).await;
            println!(
                "held {held}; resident {} bytes a claim; slowest answer {slowest:?}",
                (resident() - before) / held
            );
            // As the server does when it has grown.
            let gathering = std::thread::spawn(gather::now);
            let slowest =
                slowest_answer(&store, 2 * claims, || !gathering.is_finished()).await;
            let gathered = gathering.join().expect("it ends").expect("Linux tells");
            println!(
                "{} MB gathered into huge pages ({} MB not), the slowest 2 MB in {:?}; slowest answer meanwhile {slowest:?}; resident {} bytes a claim",
                gathered.huge >> 20,
                gathered.refused >> 20,
                gathered.slowest,
                (resident() - before) / self::held(&store).await
            );
        });
    }
    let started = Instant::now();
    let store = open(dir, options()).expect("the store again");
    let opened = started.elapsed();
    let held = runtime.block_on(held(&store));
    println!("recovered {held} held claims in {opened:?}; resident {} MB", resident() >> 20);
}

/// The slowest of single decisions, one after the other, while snapshots go on.
async fn slowest_answer(store: &impl Store, from: u64, go_on: impl Fn() -> bool) -> Duration {
    let mut slowest = Duration::ZERO;
    for nth in from.. {
        if !go_on() {
            break;
        }
        let at = Instant::now();
        let name = Name::new(&format!("probe/{nth}")).expect("a name");
        let answer = store.submit(Command::Register(registration(nth, &name))).await;
        answer.expect("served").expect("free");
        slowest = slowest.max(at.elapsed());
    }
    slowest
}

async fn held(store: &impl Store) -> u64 {
    store.vitals().await.expect("the store serves").tally.active as u64
}

/// Bytes of this process in memory.
pub(crate) fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}
