//! Accidents, as opposed to refusals.

use std::io;

use thiserror::Error;

/// Why a store could not be used at all. A store that is only slow or away for a while is not a
/// fault: the locks wait for it as long as is safe.
#[derive(Debug, Error)]
pub enum Fault {
    /// The address makes no sense.
    #[error("{0}")]
    Address(String),
    /// A name that the store cannot have.
    #[error("{name:?} cannot be the name of a lock here: {why}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The object store said no.
    #[error("the store refused: {0}")]
    Objects(#[from] object_store::Error),
    /// The file system said no.
    #[error("{what}: {source}")]
    Files {
        /// What was tried.
        what: String,
        /// What came of it.
        source: io::Error,
    },
    /// The reservation service did not answer, or not in a way that can be understood.
    #[error("the reservation service did not answer: {0}")]
    Service(String),
    /// The reservation service said no.
    #[error("the reservation service refused {call}: {why} (code {code})")]
    Refused {
        /// What it was asked.
        call: &'static str,
        /// Its words.
        why: String,
        /// Its code.
        code: String,
    },
    /// The store cannot do what is asked for.
    #[error("{0}")]
    Unable(&'static str),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}

impl Fault {
    pub(crate) fn files(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Files { what, source }
    }

    /// Whether it will be the same next time: then there is no point in trying again.
    pub(crate) fn is_lasting(&self) -> bool {
        match self {
            Self::Address(_)
            | Self::Name { .. }
            | Self::Unable(_)
            | Self::Refused { .. }
            | Self::Random(_) => true,
            Self::Objects(error) => matches!(
                error,
                object_store::Error::PermissionDenied { .. }
                    | object_store::Error::Unauthenticated { .. }
                    | object_store::Error::InvalidPath { .. }
                    | object_store::Error::NotSupported { .. }
                    | object_store::Error::NotImplemented { .. }
                    | object_store::Error::UnknownConfigurationKey { .. }
            ),
            Self::Files { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::PermissionDenied
                    | io::ErrorKind::ReadOnlyFilesystem
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::IsADirectory
            ),
            Self::Service(_) => false,
        }
    }
}

/// As many random letters as hold this many random bytes.
pub(crate) fn random_name(bytes: usize) -> Result<String, getrandom::Error> {
    let mut raw = vec![0; bytes];
    getrandom::fill(&mut raw)?;
    Ok(raw.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A seed for dice.
pub(crate) fn random_seed() -> Result<u64, getrandom::Error> {
    getrandom::u64()
}
