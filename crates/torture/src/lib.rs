//! Tries to break the whole system, and judges what came out of it.
//!
//! Worker processes write down what they asked for and what they were told, a witness writes down
//! what happened to the protected thing, and the checkers read this [history] afterwards. Nothing
//! here trusts the server.
#![forbid(unsafe_code)]

pub mod check;
pub mod history;
