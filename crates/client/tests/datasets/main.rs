//! Locks on datasets and the queue of operations: in one process, among several, and against other
//! programs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[allow(dead_code, reason = "no test needs all of it")]
#[path = "../house/mod.rs"]
mod house;

mod crowd;
mod files;
mod model;
mod queue;
mod sharing;
mod waiting;

use std::time::{Duration, Instant};

/// Only a hang is that long.
const LONG: Duration = Duration::from_secs(120);

/// Waits until it is true.
fn wait_until(mut is_true: impl FnMut() -> bool) {
    let by = Instant::now() + LONG;
    while !is_true() {
        assert!(Instant::now() < by, "it does not become true");
        std::thread::sleep(Duration::from_millis(5));
    }
}
