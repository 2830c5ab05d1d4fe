//! The keychain with real programs, a real server and real kills.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod elsewhere;
mod failures;
mod manager;
mod protocol;
#[path = "../run/proxy.rs"]
mod proxy;
mod world;
