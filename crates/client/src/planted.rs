//! A bug of the claimant kept on purpose, in builds that can have one (feature `planted`). Without
//! the feature there is nothing here that does anything.

use claims::claimant::Planted;

/// The bug that every claim of this process has.
pub(crate) fn planted() -> Planted {
    #[cfg(feature = "planted")]
    return named::bug().map(Planted::with).unwrap_or_default();
    #[cfg(not(feature = "planted"))]
    Planted::default()
}

/// The deadline that a program is shown, in microseconds. It looks at the clock itself, so a
/// claimant that believes for too long is only seen if this does so, too.
pub(crate) fn shown(deadline: u64) -> u64 {
    #[cfg(feature = "planted")]
    if named::bug() == Some(claims::claimant::Bug::BelievesPastDeadline) {
        return deadline + 3_600_000_000;
    }
    deadline
}

#[cfg(feature = "planted")]
mod named {
    use claims::claimant::Bug;

    /// The variable that names it.
    const VARIABLE: &str = "TENURE_PLANTED";

    pub(super) fn bug() -> Option<Bug> {
        let name = std::env::var(VARIABLE).ok()?;
        Bug::ALL.iter().copied().find(|bug| format!("{bug:?}") == name)
    }
}
