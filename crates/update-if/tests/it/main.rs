//! Conditional updates on real databases: SQLite, PostgreSQL, MariaDB and MySQL.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod cinder;
mod databases;
mod original;
mod uses;
