//! Runs a scenario in many schedules.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner};

use crate::model::time;
use crate::planted;

/// The same schedules each time, so that a failure can be looked at again.
const SEED: u64 = 0x7e4e;
/// How many times, at most, a thread is overtaken against its priority.
const DEPTH: usize = 3;

/// How many schedules each scenario is run in.
fn schedules() -> usize {
    let said = std::env::var("TENURE_SCHEDULES").ok();
    said.map_or(2_000, |said| said.parse().expect("TENURE_SCHEDULES is a number"))
}

/// Whatever the order of steps, the scenario holds.
pub(crate) fn always(scenario: fn()) {
    let (half, begun) = (schedules().div_ceil(2), std::time::Instant::now());
    // Half of them with every thread as likely as any other, half with threads that starve others.
    run(RandomScheduler::new_from_seed(SEED, half), scenario);
    run(PctScheduler::new_from_seed(SEED, DEPTH, half), scenario);
    let name = std::thread::current().name().unwrap_or("it").to_owned();
    eprintln!("{name}: {} schedules in {:.1?}", 2 * half, begun.elapsed());
}

/// With a bug awake, the scenario fails in these words: it would be seen.
pub(crate) fn catches(bug: &'static str, words: &str, scenario: fn()) {
    let half = schedules().div_ceil(2);
    let failed = planted::with(bug, || {
        catch_unwind(AssertUnwindSafe(|| {
            run(RandomScheduler::new_from_seed(SEED, half), scenario);
            run(PctScheduler::new_from_seed(SEED, DEPTH, half), scenario);
        }))
    });
    let Err(panic) = failed else { panic!("{bug:?} was not caught in {} schedules", 2 * half) };
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?");
    assert!(said.contains(words), "{bug:?} was caught by {said:?}");
}

fn run(scheduler: impl Scheduler + 'static, scenario: fn()) {
    let mut config = Config::new();
    config.stack_size = 256 << 10;
    config.silence_warnings = true;
    config.failure_persistence = match planted::is("") {
        true => FailurePersistence::Print,
        false => FailurePersistence::None,
    };
    Runner::new(scheduler, config).run(move || {
        time::begin();
        scenario();
    });
}
