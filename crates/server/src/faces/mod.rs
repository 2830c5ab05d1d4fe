//! Protocols that the server speaks beside its own.

pub(crate) mod ids;
