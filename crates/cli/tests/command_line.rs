//! The command line, as scripts and people use it: the real binary against real servers.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "command_line/house.rs"]
mod house;
#[path = "rig/signals.rs"]
mod signals;

#[path = "command_line/benching.rs"]
mod benching;
#[path = "command_line/configuring.rs"]
mod configuring;
#[path = "command_line/encrypted.rs"]
mod encrypted;
#[path = "command_line/ending.rs"]
mod ending;
#[path = "command_line/looking.rs"]
mod looking;
#[path = "command_line/watching.rs"]
mod watching;
