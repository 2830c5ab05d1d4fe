//! **One claim per key.** However often a registration arrives, it is one claim (rule 10); and
//! however often a client asks for one thing, it has one place in the queue.

use std::collections::BTreeMap;

use claims::{ClaimId, Event, KeyHash, Phase, State};

use super::{Checked, Moment, Violation};

#[derive(Debug, Default)]
pub(super) struct OneClaim {
    by_key: BTreeMap<[u8; 16], ClaimId>,
    wishes: BTreeMap<[u8; 16], u64>,
    by_wish: BTreeMap<u64, ClaimId>,
}

impl OneClaim {
    pub(super) fn asked(&mut self, wishes: &[(KeyHash, u64)]) {
        for (key, wish) in wishes {
            self.wishes.insert(key.0, *wish);
        }
    }

    pub(super) fn check(&mut self, moment: &Moment<'_>) -> Checked {
        let Event::Registered { claim, registration } = moment.event else {
            return Ok(());
        };
        let key = registration.key.0;
        if let Some(first) = self.by_key.insert(key, *claim)
            && moment.mirror.claim(first).is_some()
        {
            return violated(format!("claims {first} and {claim} have one key"));
        }
        let Some(&wish) = self.wishes.get(&key) else {
            return violated(format!("claim {claim} was registered, but nobody asked for it"));
        };
        match self.by_wish.insert(wish, *claim) {
            Some(first) if is_live(moment.mirror, first) => {
                violated(format!("claims {first} and {claim} are for one wish"))
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn recovered(&mut self, state: &State) -> Checked {
        for claim in state.claims_after(None) {
            match self.by_key.insert(claim.key.0, claim.id) {
                Some(other) if other != claim.id && state.claim(other).is_some() => {
                    return violated(format!("claims {other} and {} have one key", claim.id));
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }
}

fn is_live(mirror: &State, claim: ClaimId) -> bool {
    let phase = mirror.claim(claim).map(|claim| &claim.phase);
    matches!(phase, Some(Phase::Waiting(_) | Phase::Active(_)))
}

fn violated(what: String) -> Checked {
    Err(Violation::of("one claim per key", what))
}
