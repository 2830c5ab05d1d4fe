//! Locks on a shared directory: real processes, real kills, and the original on the other side.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod actor;
mod contenders;
mod looking;
mod mops;
mod names;
mod two_owners;
