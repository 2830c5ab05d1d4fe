//! **After healing, everyone is served.** When faults stop, whoever still waits gets its turn, whoever
//! holds gives it back, whoever is gone is cleared away; within a bound nobody holds and nobody waits.

use claims::{Phase, Span, State};

use super::{Checked, Violation};
use crate::client::Client;

/// `passed` since healing, and still not at rest: is it too long?
pub(crate) fn check_rest(
    passed: Span,
    bound: Span,
    clients: &[Client],
    state: Option<&State>,
) -> Checked {
    if passed <= bound {
        return Ok(());
    }
    let busy = clients.iter().filter(|client| !client.is_idle());
    let busy: Vec<String> = busy.map(|client| client.id.0.to_string()).collect();
    let Some(state) = state else {
        return violated("the server is not back".to_owned());
    };
    let live = state.claims_after(None).filter(|claim| !matches!(claim.phase, Phase::Ended(_)));
    let live: Vec<String> = live.map(|claim| format!("{} {}", claim.id, claim.status())).collect();
    violated(format!(
        "{:.0} s after healing, clients [{}] are not served and claims [{}] are live",
        passed.as_micros() as f64 / 1e6,
        busy.join(", "),
        live.join(", "),
    ))
}

fn violated(what: String) -> Checked {
    Err(Violation::of("after healing everyone is served", what))
}
