//! What the embedded store promises beyond the conformance suite: about its disk.
#![allow(unreachable_pub, reason = "the modules of a test have no outside")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "embedded/twin.rs"]
mod twin;

#[path = "embedded/backup.rs"]
mod backup;
#[path = "embedded/damage.rs"]
mod damage;
#[path = "embedded/order.rs"]
mod order;
#[path = "embedded/restart.rs"]
mod restart;
#[path = "embedded/snapshots.rs"]
mod snapshots;
#[path = "embedded/space.rs"]
mod space;
#[path = "embedded/waking.rs"]
mod waking;

/// The benchmark does the same with a hundred times as many.
#[path = "../benches/embedded/wakes.rs"]
mod wakes;
