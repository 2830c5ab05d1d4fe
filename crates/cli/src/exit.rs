//! How the program ends: every exit code, what it means, and what carries it there.
//!
//! The numbers are those of `sysexits.h`, so that scripts and supervisors can tell "try again later"
//! (69) from "somebody has to look" (65, 74, 78).

use std::fmt;
use std::io;

use registry::StoreError;

/// Why a command did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The answer is no.
    Refused = 1,
    /// The command line is wrong.
    Usage = 64,
    /// Stored data is damaged.
    BadData = 65,
    /// Nobody serves.
    Unavailable = 69,
    /// Reading or writing failed.
    Io = 74,
    /// A token is missing, wrong, or not enough.
    Denied = 77,
    /// The configuration is wrong.
    Config = 78,
}

impl Exit {
    /// All of them, with the words for people. `tenure --help` and docs/command-line.md say the same.
    pub(crate) const ALL: [(Self, &'static str); 7] = [
        (Self::Refused, "the answer is no: not found, refused, or a bench that found a fault"),
        (Self::Usage, "the command line cannot be understood"),
        (Self::BadData, "stored data is damaged: look before you go on"),
        (
            Self::Unavailable,
            "no server there, it cannot serve now, or something is in use: try later",
        ),
        (Self::Io, "reading or writing failed: a full or failing disk"),
        (Self::Denied, "permission denied: a token or a file's mode is wrong"),
        (Self::Config, "the configuration is wrong, or not safe"),
    ];

    /// The error that ends the program this way.
    pub(crate) fn because(self, said: impl Into<String>) -> anyhow::Error {
        Failure { exit: self, said: said.into(), source: None }.into()
    }

    /// The way that an error ends the program.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        error.chain().find_map(Self::of_cause).unwrap_or(Self::Refused)
    }

    fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Self> {
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            return Some(failure.exit);
        }
        if let Some(error) = cause.downcast_ref::<StoreError>() {
            return Some(match error {
                StoreError::Corrupt(_) => Self::BadData,
                StoreError::Conflict | StoreError::Unavailable(_) | StoreError::Unknown(_) => {
                    Self::Unavailable
                }
            });
        }
        let error = cause.downcast_ref::<io::Error>()?;
        Some(if error.kind() == io::ErrorKind::PermissionDenied { Self::Denied } else { Self::Io })
    }
}

/// The part of `--help` about exit codes.
pub(crate) fn help() -> String {
    let mut text = String::from("Exit codes:\n   0  done");
    for (exit, meaning) in Exit::ALL {
        text += &format!("\n{:>4}  {meaning}", exit as u8);
    }
    text
}

/// An error that knows how the program ends.
#[derive(Debug)]
struct Failure {
    exit: Exit,
    said: String,
    source: Option<anyhow::Error>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(AsRef::as_ref)
    }
}

/// Says what failed, and how the program ends for it.
pub(crate) trait OrExit<T> {
    fn or_exit(self, exit: Exit, said: impl FnOnce() -> String) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrExit<T> for Result<T, E> {
    fn or_exit(self, exit: Exit, said: impl FnOnce() -> String) -> anyhow::Result<T> {
        self.map_err(|error| Failure { exit, said: said(), source: Some(error.into()) }.into())
    }
}
