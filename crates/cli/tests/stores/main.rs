//! Claims in a database, used by real processes: servers that share it, and programs without a server.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod alone;
#[path = "../../../registry/tests/etcd/cluster.rs"]
#[allow(dead_code, reason = "the tests of the store do more with it")]
mod cluster;
mod etcd;
mod house;
mod postgres;
#[path = "../../../update-if/tests/servers/mod.rs"]
mod servers;
mod together;
mod verified;
