//! The claimant: its table row by row, every event in every state, storms, and a lossy link to the
//! real engine.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "claimant/deadline.rs"]
mod deadline;
#[path = "claimant/link.rs"]
mod link;
#[path = "claimant/puppet.rs"]
mod puppet;
#[path = "claimant/rows.rs"]
mod rows;
#[path = "claimant/specification.rs"]
mod specification;
#[path = "claimant/storms.rs"]
mod storms;
#[path = "claimant/waiting.rs"]
mod waiting;
