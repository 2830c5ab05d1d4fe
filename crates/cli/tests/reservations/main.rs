//! Reservations, as the clients of CloudShell use them: the real server, and where it matters the
//! real client.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod face;
mod house;
mod proxy;
mod python;

mod contenders;
mod logging_on;
mod reserving;
mod rubbish;
mod sending_again;
