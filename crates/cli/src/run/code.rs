//! How `run` and `once` end, besides with the exit code of what they ran.

use crate::exit::Exit;

/// The claim was lost, and what ran under it was stopped.
pub(crate) const LOST: u8 = 121;
/// The command line makes no sense.
pub(crate) const USAGE: u8 = Exit::Usage as u8;
/// The server cannot be asked, or refuses.
pub(crate) const UNAVAILABLE: u8 = Exit::Unavailable as u8;
/// This system does not let us do our work.
pub(crate) const SYSTEM: u8 = 71;
/// The command is there, but cannot be run. As shells say it.
pub(crate) const NOT_RUN: u8 = 126;
/// There is no such command. As shells say it.
pub(crate) const NOT_FOUND: u8 = 127;

/// Ended by a signal. As shells say it.
pub(crate) fn of_signal(number: i32) -> u8 {
    u8::try_from(number).unwrap_or(127).saturating_add(128)
}

/// Why it ends before, or other than, the command.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) code: u8,
    /// For people. None if everything is said by the code.
    pub(crate) said: Option<String>,
}

impl Stop {
    pub(crate) fn because(code: u8, said: impl Into<String>) -> Self {
        Self { code, said: Some(said.into()) }
    }

    pub(crate) fn system(what: &str, error: impl std::fmt::Display) -> Self {
        Self::because(SYSTEM, format!("{what}: {error}"))
    }
}
