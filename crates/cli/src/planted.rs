//! A bug kept on purpose, in builds that can have one: a rig that has never found anything proves
//! nothing. The product is built without it, and knows nothing of the variable.

use claims::claimant::Bug as ClaimantBug;
use claims::planted::Bug as RuleBug;
use registry::embedded::Options;
use registry::planted::Bug as StoreBug;

use crate::exit::Exit;

/// The variable that names the bug.
const VARIABLE: &str = "TENURE_PLANTED";

/// Says loudly that this is not the product. A name that nobody knows ends the process: whoever
/// thinks that there is a bug must not be shown that there is none.
pub(crate) fn warn() -> anyhow::Result<()> {
    let Ok(name) = std::env::var(VARIABLE) else {
        aside!("tenure: THIS BUILD CAN BE BROKEN ON PURPOSE: do not use it");
        return Ok(());
    };
    // A claimant's bug is found by the library itself.
    if rule(&name).is_none() && store(&name).is_none() && claimant(&name).is_none() {
        return Err(Exit::Usage.because(format!("{VARIABLE}: there is no bug {name:?}")));
    }
    aside!("tenure: THIS PROCESS IS BROKEN ON PURPOSE ({name}): nothing that it says is true");
    Ok(())
}

/// Puts the bug where it belongs, if it is one of the rules or of the store.
pub(crate) fn plant(mut options: Options) -> Options {
    let name = std::env::var(VARIABLE).unwrap_or_default();
    if let Some(bug) = rule(&name) {
        options.rules.planted = claims::planted::Planted::with(bug);
    }
    if let Some(bug) = store(&name) {
        options.planted = registry::planted::Planted::with(bug);
    }
    options
}

fn rule(name: &str) -> Option<RuleBug> {
    RuleBug::ALL.iter().copied().find(|bug| format!("{bug:?}") == name)
}

fn store(name: &str) -> Option<StoreBug> {
    StoreBug::ALL.iter().copied().find(|bug| format!("{bug:?}") == name)
}

fn claimant(name: &str) -> Option<ClaimantBug> {
    ClaimantBug::ALL.iter().copied().find(|bug| format!("{bug:?}") == name)
}
