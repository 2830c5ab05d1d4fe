//! Long random histories, step by step against the reference: the same answers, the same holders,
//! the same queues. Everything may happen in them: claims over several resources, keepers, wrong
//! keys, registrations sent again, revocations, long silences, restarts, new epochs, and sweeps at
//! any moment, of which the reference knows nothing.
//!
//! The seed is fixed, so a run is the same everywhere; `PROPTEST_RNG_SEED` and `PROPTEST_CASES`
//! explore further. A failure is shrunk to a short history.
#![allow(clippy::unwrap_used, reason = "what cannot fail here fails the test if it does")]

mod reference;
mod twins {
    pub(crate) mod act;
    pub(crate) mod parts;
    pub(crate) mod twin;
}

use claims::Rules;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use twins::act::{Act, acts};
use twins::twin::Twin;

const CASES: u32 = 400;
const STEPS: usize = 400;

#[test]
fn engine_and_reference_agree_on_long_histories() {
    if let Some(story) = disagreement(&Rules::default()) {
        panic!("{story}");
    }
}

/// A store that loads only the head of each queue gives the same answers as one that knows everything.
#[test]
fn part_of_the_state_decides_as_the_whole() {
    for depth in [1, 3] {
        let history = prop::collection::vec(acts(), 1..=STEPS);
        let outcome = runner(CASES / 4).run(&history, |history| {
            let mut twin = Twin::in_parts(Rules::default(), depth);
            history.iter().try_for_each(|act| twin.take(act))
        });
        assert!(outcome.is_ok(), "with {depth} in line: {}", outcome.unwrap_err());
    }
}

/// A comparison that has never failed proves nothing: every bug planted in the rules shows.
#[cfg(feature = "planted")]
#[test]
fn bugs_planted_in_the_engine_are_found() {
    use claims::planted::{Bug, Planted};
    for bug in [
        Bug::Barging,
        Bug::LostQueueEntry,
        Bug::EarlyExpiry,
        Bug::NoIdempotency,
        Bug::ReleaseFreesWhoeverHolds,
        Bug::RestartRestoresFirstDeadline,
        Bug::GraceForEver,
        Bug::GhostGrant,
        Bug::FirstResourceOnly,
        Bug::LimitOffByOne,
        Bug::SharedFence,
        Bug::RenewalNotRecorded,
        Bug::TurnKeptForEver,
        Bug::OverdueForEver,
    ] {
        let rules = Rules { planted: Planted::with(bug), ..Rules::default() };
        assert!(disagreement(&rules).is_some(), "{bug:?} was not found");
    }
}

/// The shortest history found on which the two disagree.
fn disagreement(rules: &Rules) -> Option<String> {
    let histories = prop::collection::vec(acts(), 1..=STEPS);
    let failure = runner(CASES).run(&histories, |history| agree(rules, &history)).err()?;
    let TestError::Fail(_, history) = failure else {
        return Some(failure.to_string());
    };
    let history = shortened(rules, history);
    let reason = agree(rules, &history).expect_err("only failing histories are kept");
    Some(format!("{reason}\n{history:#?}"))
}

/// An engine that stops because it is unsure does not agree.
fn agree(rules: &Rules, history: &[Act]) -> Result<(), TestCaseError> {
    let run = || {
        let mut twin = Twin::new(rules.clone());
        history.iter().try_for_each(|act| twin.take(act))
    };
    std::panic::catch_unwind(run).unwrap_or_else(|_| Err(TestCaseError::fail("it panicked")))
}

/// Leaves out every step that is not needed to disagree. Claims are counted from the newest, so one
/// step less often means another that can go as well, which is why it is tried again.
fn shortened(rules: &Rules, mut history: Vec<Act>) -> Vec<Act> {
    loop {
        let before = history.len();
        for nth in (0..before).rev() {
            let mut without = history.clone();
            without.remove(nth);
            if agree(rules, &without).is_err() {
                history = without;
            }
        }
        if history.len() == before {
            return history;
        }
    }
}

fn runner(cases: u32) -> TestRunner {
    let chosen = Config::default();
    let is_chosen = |variable| std::env::var_os(variable).is_some();
    TestRunner::new(Config {
        cases: if is_chosen("PROPTEST_CASES") { chosen.cases } else { cases },
        rng_seed: match chosen.rng_seed {
            RngSeed::Random => RngSeed::Fixed(2014),
            RngSeed::Fixed(seed) => RngSeed::Fixed(seed),
        },
        failure_persistence: None,
        ..chosen
    })
}
