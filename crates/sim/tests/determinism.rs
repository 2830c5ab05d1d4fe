//! One seed is one run. Without that, no failure could be shown to anybody.

use sim::planted::ALL;
use sim::{Setup, run};

#[test]
fn a_seed_run_twice_is_the_same_run() {
    for seed in 0..200 {
        let (first, second) = (run(seed, &Setup::default()), run(seed, &Setup::default()));
        assert_eq!(first.hash, second.hash, "seed {seed} is not the same twice");
        assert_eq!(first.figures.events, second.figures.events);
    }
}

#[test]
fn different_seeds_are_different_runs() {
    let mut hashes: Vec<u64> = (0..200).map(|seed| run(seed, &Setup::default()).hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 200);
}

#[test]
fn telling_the_story_does_not_change_it() {
    let keep = 50;
    for seed in 0..50 {
        let told = run(seed, &Setup { keep, ..Setup::default() });
        assert_eq!(told.hash, run(seed, &Setup::default()).hash);
    }
}

#[test]
fn a_failing_seed_fails_again_with_the_same_story() {
    let planted = ALL.iter().copied().find(|bug| bug.name() == "NoIdempotency");
    let setup = Setup { planted, keep: 30 };
    let fails = |seed: &u64| run(*seed, &setup).failure.is_some();
    let seed = (0..100).find(fails).expect("that bug shows at once");
    let first = run(seed, &setup).failure.expect("it failed before");
    let second = run(seed, &setup).failure.expect("it failed before");
    assert_eq!((first.invariant, &first.what), (second.invariant, &second.what));
    assert_eq!(first.story, second.story);
    assert!(!first.story.is_empty());
}
