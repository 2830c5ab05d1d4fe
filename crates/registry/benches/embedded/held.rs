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
        let mut slowest = Duration::ZERO;
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
            // The pace of single decisions while snapshots go on.
            let started = Instant::now();
            for nth in 0.. {
                if started.elapsed() > Duration::from_secs(10) {
                    break;
                }
                let at = Instant::now();
                let name = Name::new(&format!("probe/{nth}")).expect("a name");
                store
                    .submit(Command::Register(registration(claims + nth, &name)))
                    .await
                    .expect("served")
                    .expect("free");
                slowest = slowest.max(at.elapsed());
            }
            let vitals = store.vitals().await.expect("the store serves");
            let held = vitals.tally.active as u64;
            println!(
                "held {held}; resident {} bytes a claim; slowest answer {slowest:?}",
                (resident() - before) / held
            );
        });
    }
    let started = Instant::now();
    let store = open(dir, options()).expect("the store again");
    let opened = started.elapsed();
    let held = runtime.block_on(store.vitals()).expect("the store serves").tally.active;
    println!("recovered {held} held claims in {opened:?}; resident {} MB", resident() >> 20);
}

/// Bytes of this process in memory.
pub(crate) fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}
