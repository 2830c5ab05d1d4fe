//! Faces: protocols of others, spoken so that their clients need no change.

pub(crate) mod cloudshell;
pub(crate) mod ids;
