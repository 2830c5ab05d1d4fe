//! `GET /v1/claims/<id>/`: look at one claim. With a key, it has to be the right one.

use claims::wire::{Handle, Problem, View, write_claim};
use claims::{ClaimId, Refusal, Verb};
use hyper::StatusCode;

use super::CLAIM_BYTES;
use crate::answer::{Answer, json};
use crate::asked::{Asked, opens};
use crate::keys::hash_of;
use crate::server::unavailable;

pub(crate) async fn show(asked: &Asked<'_>, piece: &str) -> Result<Answer, Problem> {
    let Handle { claim, key } = Handle::parse(piece).ok_or_else(not_found)?;
    let store = &asked.server.store;
    // Asked together, so that they are answered together.
    let (standing, vitals) = (store.standing(claim), store.vitals());
    let standing = standing.await.map_err(unavailable)?;
    let now = vitals.await.map_err(unavailable)?.now;
    asked.server.timeline.set(now);
    let known = standing.filter(|standing| match key {
        Some(key) => opens(&standing.claim, hash_of(key)),
        None => asked.may_read(&standing.claim),
    });
    let standing = known.ok_or_else(|| asked.unknown(Verb::Read, claim))?;
    // Whoever has the key may look if it may claim, too.
    if !asked.may_read(&standing.claim) {
        asked.demand(Verb::Claim, standing.claim.resources.as_slice())?;
    }
    let (claim, place) = (&standing.claim, standing.place.as_ref());
    let mut body = String::with_capacity(CLAIM_BYTES);
    write_claim(&mut body, &View { claim, place, base: asked.base_for(key), key, now });
    Ok(json(StatusCode::OK, body))
}

/// What is not even an id.
pub(super) fn not_found() -> Problem {
    Problem::refused(&Refusal::Unknown { claim: ClaimId(0) })
}
