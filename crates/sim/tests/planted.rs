//! Every bug that is planted on purpose is caught. A simulator that has never found anything proves
//! nothing; these are the things it must find, one at a time, for ever.
//!
//! The table in `docs/proof.md` comes from
//! `cargo test -p sim --test planted -- --ignored --nocapture table`.
#![allow(clippy::print_stdout, reason = "the table is made to be read")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use sim::planted::{ALL, Planted};
use sim::{Setup, run};

/// A bug must be caught within this many seeds.
const SEEDS: u64 = 2_000;

/// What gave the bug away with this seed, if anything did. A store that stops itself counts: it is
/// unsure, and says so.
fn caught(bug: Planted, seed: u64) -> Option<&'static str> {
    let setup = Setup { planted: Some(bug), keep: 0 };
    match catch_unwind(AssertUnwindSafe(|| run(seed, &setup))) {
        Ok(outcome) => outcome.failure.map(|failure| failure.invariant),
        Err(_) => Some("the store stopped itself"),
    }
}

/// One test for each part of the system, so that they run side by side.
fn every_bug_is_caught(part: &str) {
    let bugs = ALL.iter().filter(|bug| bug.part() == part);
    for &bug in bugs {
        let first = (0..SEEDS).find(|&seed| caught(bug, seed).is_some());
        assert!(first.is_some(), "{} is not caught by {SEEDS} seeds", bug.name());
    }
}

#[test]
fn every_bug_of_the_rules_is_caught() {
    every_bug_is_caught("rules");
}

#[test]
fn every_bug_of_the_store_is_caught() {
    every_bug_is_caught("store");
}

#[test]
fn every_bug_of_the_clients_is_caught() {
    every_bug_is_caught("client");
}

#[test]
fn there_are_at_least_fifteen() {
    assert!(ALL.len() >= 15);
    for bug in ALL.iter() {
        assert_eq!(Planted::named(&bug.name()), Some(*bug), "names are unique");
    }
}

#[test]
#[ignore = "takes minutes: makes the table for docs/proof.md"]
fn table() {
    std::panic::set_hook(Box::new(|_| {}));
    println!("| part | bug | seeds failing of {SEEDS} | first | given away by |");
    println!("|---|---|---|---|---|");
    for &bug in ALL.iter() {
        let caught = (0..SEEDS).filter_map(|seed| Some((seed, caught(bug, seed)?)));
        let caught: Vec<_> = caught.collect();
        let first = caught.first().map_or("-".to_owned(), |(seed, _)| seed.to_string());
        let mut by: Vec<&str> = caught.iter().map(|(_, by)| *by).collect();
        by.sort_unstable();
        let mut most: Vec<(usize, &str)> = Vec::new();
        for group in by.chunk_by(|a, b| a == b) {
            most.push((group.len(), group[0]));
        }
        most.sort_unstable_by(|a, b| b.cmp(a));
        let by: Vec<String> = most.iter().take(2).map(|(n, by)| format!("{by} ({n})")).collect();
        let (part, name, count) = (bug.part(), bug.name(), caught.len());
        println!("| {part} | {name} | {count} | {first} | {} |", by.join(", "));
    }
}
