//! A bug of the claimant kept on purpose, in builds that can have one (feature `planted`).

use claims::claimant::Planted;

/// The variable that names it.
#[cfg(feature = "planted")]
const VARIABLE: &str = "TENURE_PLANTED";

/// The bug that every claim of this process has. None in a product build.
#[cfg(feature = "planted")]
pub(crate) fn planted() -> Planted {
    use claims::claimant::Bug;

    let name = std::env::var(VARIABLE).unwrap_or_default();
    let bug = Bug::ALL.iter().find(|bug| format!("{bug:?}") == name);
    bug.copied().map(Planted::with).unwrap_or_default()
}

/// The bug that every claim of this process has. None in a product build.
#[cfg(not(feature = "planted"))]
pub(crate) fn planted() -> Planted {
    Planted::default()
}
