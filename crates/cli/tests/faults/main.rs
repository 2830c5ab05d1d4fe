//! The real server, and everything that can happen to one: kills, stops, slow disks, wrong clocks,
//! restart storms, and clients that are slow on purpose.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "../rig/mod.rs"]
mod rig;

mod calls;
mod clocks;
mod crowd;
mod kills;
mod limits;
mod load;
mod stalls;
mod storms;
mod uncached;
