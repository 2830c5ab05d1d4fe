//! `GET /v1/claims/<id>/`: look at one claim. With a key, it has to be the right one.

use claims::wire::{Handle, Problem, write_claim};
use claims::{ClaimId, Refusal};
use hyper::StatusCode;

use super::{CLAIM_BYTES, view};
use crate::answer::{Answer, json};
use crate::keys::hash_of;
use crate::server::{Asked, unavailable};

pub(crate) async fn show(asked: &Asked<'_>, piece: &str) -> Result<Answer, Problem> {
    let Handle { claim, key } = Handle::parse(piece).ok_or_else(not_found)?;
    let standing = asked.server.store.standing(claim).await.map_err(unavailable)?;
    let known = standing.filter(|standing| {
        key.map(hash_of)
            .is_none_or(|key| standing.claim.key == key || standing.claim.keepers().contains(&key))
    });
    let standing = known.ok_or_else(|| Problem::refused(&Refusal::Unknown { claim }))?;
    let mut body = String::with_capacity(CLAIM_BYTES);
    write_claim(&mut body, &view(asked, &standing, key));
    Ok(json(StatusCode::OK, body))
}

/// What is not even an id.
pub(super) fn not_found() -> Problem {
    Problem::refused(&Refusal::Unknown { claim: ClaimId(0) })
}
