//! `tenure run` and `tenure once`: the real binary, a real server, real trees of processes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod house;
#[path = "../rig/signals.rs"]
mod signals;

mod codes;
mod contention;
mod elsewhere;
mod loss;
mod once;
mod passing;
mod proxy;
mod tree;
