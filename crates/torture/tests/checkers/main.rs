//! The judge itself is judged: what a correct lock does is accepted, whatever is lost on the way,
//! and what is broken on purpose is found, each kind by the checker that should.
#![allow(unreachable_pub, reason = "the modules of a test have no outside")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod broken;
mod brute;
mod chance;
mod lock;
mod long;
mod sound;
mod told;
