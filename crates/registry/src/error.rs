//! Accidents, named by what to do next.

/// Why a store could not do its work. Not a refusal: the rules have not said no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Somebody else changed it first: load again.
    #[error("the record changed in between: load it and decide again")]
    Conflict,
    /// Not now: try again later. Nothing was changed.
    #[error("{0}")]
    Unavailable(String),
    /// The answer was lost on the way: it may have happened, or not. Asking again with the same key finds
    /// out (rule 10).
    #[error("{0}")]
    Unknown(String),
    /// What is stored is damaged: stop, and let a person look.
    #[error("{0}")]
    Corrupt(String),
}
