//! Conditional updates on real databases: SQLite, PostgreSQL, MariaDB and MySQL.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![allow(clippy::print_stdout, reason = "the guide's examples speak to people")]

mod answers;
mod cinder;
mod databases;
mod groups;
mod guide;
mod injection;
mod killed;
mod objects;
mod original;
mod plan;
mod race;
mod random;
#[path = "../servers/mod.rs"]
mod servers;
mod uses;
