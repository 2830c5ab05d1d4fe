//! Every history of three claims over two resources, not a sample of them.
//!
//! Each claim wants `{a}`, `{b}` or `{a, b}`, and lets in 1, 2 or any number. From the empty state
//! every sequence of [`DEPTH`] steps is taken, by branching from a copy of the state: a claim with any
//! wish registers; a waiter asks, opens a wait, leaves it, withdraws; a holder renews, releases; time
//! passes beyond a lease or beyond every kept turn; the store restarts. After each step the rules are
//! checked from the outside, with plain loops over the claims and no look at how the engine finds its
//! answers, and the state must be what a snapshot of the one before and the events after it give.
//!
//! The number of histories is asserted, so that none can be lost unnoticed.
#![allow(clippy::unwrap_used, reason = "what cannot fail here fails the test if it does")]

mod histories {
    pub(crate) mod cast;
    pub(crate) mod step;

    pub(crate) mod moment;

    pub(crate) mod change;
    pub(crate) mod likeness;
}

use std::collections::HashMap;

use claims::Rules;
use histories::change;
use histories::likeness::Likeness;
use histories::step::{Scene, Step};

/// How many steps a history has. One more takes six times as long.
const DEPTH: usize = 7;

/// How many histories of that length there are.
const HISTORIES: u64 = 23_674_851;

#[test]
fn every_short_history_keeps_the_rules() {
    let start = Scene::empty(Rules::default());
    assert_eq!(explore(&start, DEPTH, &mut HashMap::new()), HISTORIES);
}

/// Takes every step from here, and every step from there; gives the number of ways to the end.
/// Histories that meet have the same future, which is `known` after the first of them.
fn explore(scene: &Scene, depth: usize, known: &mut HashMap<(usize, Likeness), u64>) -> u64 {
    if depth == 0 {
        return 1;
    }
    let likeness = (depth, Likeness::of(scene));
    if let Some(&histories) = known.get(&likeness) {
        return histories;
    }
    let mut histories = 0;
    for step in Step::all().filter(|&step| scene.has(step)) {
        let mut after = scene.clone();
        after.take(step);
        change::check(scene, &mut after);
        histories += explore(&after, depth - 1, known);
    }
    known.insert(likeness, histories);
    histories
}

/// A check that has never failed proves nothing: each of these bugs is found within a few steps.
#[cfg(feature = "planted")]
#[test]
fn bugs_planted_in_the_engine_are_found() {
    use claims::planted::{Bug, Planted};
    for bug in [
        Bug::Barging,
        Bug::EarlyExpiry,
        Bug::FirstResourceOnly,
        Bug::GhostGrant,
        Bug::GraceForEver,
        Bug::LimitOffByOne,
        Bug::LostQueueEntry,
        Bug::OverdueForEver,
        Bug::RenewalNotRecorded,
        Bug::RestartRestoresFirstDeadline,
        Bug::SharedFence,
        Bug::TurnKeptForEver,
    ] {
        let start = Scene::empty(Rules { planted: Planted::with(bug), ..Rules::default() });
        let explored = std::panic::catch_unwind(|| {
            for depth in 1..=6 {
                explore(&start, depth, &mut HashMap::new());
            }
        });
        assert!(explored.is_err(), "{bug:?} was not found");
    }
}
