//! The targets, one file each.

mod addresses;
mod bodies;
mod calls;
mod configuration;
mod connection;
mod headers;
mod keychain;
mod lease;
mod log;
mod paths;
mod queries;
mod records;
pub(crate) mod reservations;
mod session;
mod snapshot;
mod statements;
mod stream;
mod tokens;
mod wire;

use crate::Target;

/// All of them.
pub const ALL: [Target; 19] = [
    Target::new("addresses", addresses::run),
    Target::new("bodies", bodies::run),
    Target::new("calls", calls::run),
    Target::new("configuration", configuration::run),
    Target::new("connection", connection::run),
    Target::new("headers", headers::run),
    Target::new("keychain", keychain::run),
    Target::new("lease", lease::run),
    Target::new("log", log::run),
    Target::new("paths", paths::run),
    Target::new("queries", queries::run),
    Target::new("records", records::run),
    Target::new("reservations", reservations::run),
    Target::new("session", session::run),
    Target::new("snapshot", snapshot::run),
    Target::new("statements", statements::run),
    Target::new("stream", stream::run),
    Target::new("tokens", tokens::run),
    Target::new("wire", wire::run),
];
