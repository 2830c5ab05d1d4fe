//! Two thousand worlds, and everything holds in each of them.

use sim::{Setup, run};

/// As many as every change must pass. Longer runs are in `docs/proof.md`.
const SEEDS: u64 = 2_000;

/// In several tests only so that they run side by side.
fn everything_holds(part: u64) {
    const PARTS: u64 = 4;
    for seed in (0..SEEDS).filter(|seed| seed % PARTS == part) {
        let outcome = run(seed, &Setup::default());
        if let Some(failure) = outcome.failure {
            panic!(
                "seed {seed}: {}: {}\nthe story: cargo run --release -p sim -- --seed {seed}",
                failure.invariant, failure.what
            );
        }
    }
}

#[test]
fn everything_holds_in_the_first_quarter() {
    everything_holds(0);
}

#[test]
fn everything_holds_in_the_second_quarter() {
    everything_holds(1);
}

#[test]
fn everything_holds_in_the_third_quarter() {
    everything_holds(2);
}

#[test]
fn everything_holds_in_the_last_quarter() {
    everything_holds(3);
}

/// A fault that never happens proves nothing.
#[test]
fn every_kind_of_accident_happens() {
    let mut missing = vec![
        "POWER CUT",
        "KILLED",
        "STOPS itself: syncing the log",
        "STOPS itself: writing the log",
        "crashed while it started",
        "cannot start now",
        "REFUSES to start",
        "bits on the disk flip",
        "the disk is slow",
        "the disk is full",
        "hears: not now",
        "server is stopped for",
        "nothing reaches the server",
        "from the server",
        "the answer to request",
        "clock rates change",
        "clocks on the walls",
        "dies",
        "a new process",
        "walks away",
        "its lease is over",
        "it was told so",
        "must renew before it believes",
        "is called until",
        "is passed over",
        "is in line again",
        "has a keeper",
        "are forgotten",
        "RELEASED",
        "EXPIRED",
        "ABORTED",
        "REVOKED",
        "WITHDRAWN",
    ];
    for seed in 0..500 {
        run(seed, &Setup { keep: 1, ..Setup::default() });
        let story = sim::take_story();
        missing.retain(|kind| !story.iter().any(|line| line.contains(kind)));
    }
    assert!(missing.is_empty(), "never happened: {missing:?}");
}

#[test]
fn the_worlds_are_not_idle() {
    let (mut stops, mut commits) = (0, 0);
    for seed in 0..100 {
        let figures = run(seed, &Setup::default()).figures;
        stops += figures.stops;
        commits += figures.commits;
    }
    assert!(stops > 200, "the server stopped only {stops} times");
    assert!(commits > 10_000, "there were only {commits} commits");
}
