//! **Nothing is left behind.** When a claimant says that it has come to its end, whatever the end was,
//! its claim neither waits nor holds: it gave it back, or knows that somebody else ended it.
//!
//! A message that lingered in the network may make another claim afterwards; nobody can know of that
//! one yet, and it has a greater number.

use claims::{Phase, State};

use super::{Checked, Violation};
use crate::client::Settled;

pub(crate) fn check_left_behind(settled: &Settled, state: &State) -> Checked {
    let mut own = state.claims_after(None).filter(|claim| claim.key == settled.key);
    let left = own.find(|claim| {
        let live = !matches!(claim.phase, Phase::Ended(_));
        live && settled.claim.is_none_or(|known| claim.id <= known)
    });
    match left {
        None => Ok(()),
        Some(claim) => Err(Violation::of(
            "nothing is left behind",
            format!(
                "client {} is done, and claim {} is {}",
                settled.client.0,
                claim.id,
                claim.status()
            ),
        )),
    }
}
