//! What the embedded store reaches, side by side with what the disk allows.
//!
//! `cargo bench -p registry --bench embedded` prints a table: a bare group-commit log (one thread,
//! preallocated file, one write and one fdatasync for all who wait) and the store, in turns, with
//! the same number of submitters and records of about the same mean size, sync durability in both.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to people")]

mod bare;
mod held;
mod releases;
mod store;
mod wakes;

use std::path::PathBuf;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let quick = args.iter().any(|arg| arg == "--quick");
    let dir = tempfile::tempdir_in(
        std::env::var_os("BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from),
    )
    .expect("a directory for the benchmark");
    if args.iter().any(|arg| arg == "--held") {
        return held::run(dir.path(), if quick { 100_000 } else { 1_000_000 });
    }
    if args.iter().any(|arg| arg == "--releases") {
        return releases::run(dir.path(), if quick { 10_000 } else { 100_000 });
    }
    let (secs, rounds) = if quick { (1.0, 1) } else { (3.0, 5) };
    println!(
        "{:>10} {:>14} {:>14} {:>7} {:>10}",
        "submitters", "bare rec/s", "store dec/s", "ratio", "rec bytes"
    );
    let chosen = args.iter().filter_map(|arg| arg.parse().ok()).collect::<Vec<usize>>();
    let chosen = if chosen.is_empty() { vec![1, 64, 1024] } else { chosen };
    for submitters in chosen {
        let mut rows: Vec<(f64, f64, usize)> = (0..rounds)
            .map(|round| {
                let (decisions, bytes) = store::cycles(
                    &dir.path().join(format!("s{submitters}-{round}")),
                    submitters,
                    secs,
                );
                let bare = bare::records(&dir.path().join("bare"), submitters, bytes, secs);
                (bare, decisions, bytes)
            })
            .collect();
        rows.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
        let (bare, decisions, bytes) = rows[rows.len() / 2];
        println!(
            "{submitters:>10} {bare:>14.0} {decisions:>14.0} {:>7.2} {bytes:>10}",
            decisions / bare
        );
    }
}
