//! `GET /v1/claims/<id>/`: look at one claim. With a key, it has to be the right one.

use claims::wire::{Handle, Problem, write_claim};
use claims::{ClaimId, Refusal, Verb};
use hyper::StatusCode;

use super::{CLAIM_BYTES, view};
use crate::answer::{Answer, json};
use crate::asked::{Asked, opens};
use crate::keys::hash_of;
use crate::server::unavailable;

pub(crate) async fn show(asked: &Asked<'_>, piece: &str) -> Result<Answer, Problem> {
    let Handle { claim, key } = Handle::parse(piece).ok_or_else(not_found)?;
    let standing = asked.server.store.standing(claim).await.map_err(unavailable)?;
    // Hashed whether the claim is there or not: an unknown id takes as long as a wrong key.
    let hash = key.map(hash_of);
    let known = standing.filter(|standing| match hash {
        Some(hash) => opens(&standing.claim, hash),
        None => asked.may_read(&standing.claim),
    });
    let standing = known.ok_or_else(|| asked.unknown(Verb::Read, claim))?;
    // Whoever has the key may look if it may claim, too.
    if !asked.may_read(&standing.claim) {
        asked.demand(Verb::Claim, standing.claim.resources.as_slice())?;
    }
    let mut body = String::with_capacity(CLAIM_BYTES);
    write_claim(&mut body, &view(asked, &standing, key));
    Ok(json(StatusCode::OK, body))
}

/// What is not even an id.
pub(super) fn not_found() -> Problem {
    Problem::refused(&Refusal::Unknown { claim: ClaimId(0) })
}
