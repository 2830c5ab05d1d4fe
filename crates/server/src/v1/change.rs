//! `PATCH /v1/claims/<id>.<key>/`: activate, renew, end, or appoint a keeper.

use claims::wire::{Change, Fields, Handle, Problem, WishedStatus, write_claim};
use claims::{ClaimId, Command, Farewell, Owner, Refusal, Standing, Verb};
use hyper::StatusCode;

use super::show::not_found;
use super::{CLAIM_BYTES, patience, submit, view};
use crate::access::Caller;
use crate::answer::{Answer, json, no_content};
use crate::asked::Asked;
use crate::gate;
use crate::keys::hash_of;
use crate::server::unavailable;

pub(crate) async fn change(asked: &Asked<'_>, piece: &str, body: &[u8]) -> Result<Answer, Problem> {
    let handle = Handle::parse(piece).ok_or_else(not_found)?;
    let fields = Fields::parse(asked.media, body, asked.query)?;
    let change = Change::parse(&fields)?;
    let claim = handle.claim;
    let Some(key) = handle.key else {
        return revoke_by_number(asked, claim, &change).await;
    };
    let owner = Owner { claim, key: hash_of(key) };
    asked.demand_something(Verb::Claim)?;
    asked.demand_own(owner).await?;
    let command = match change {
        Change::Ttl(ttl) => Command::Renew(owner, Some(ttl)),
        Change::Keeper(keeper) => Command::Appoint(owner, hash_of(&keeper)),
        Change::Status(WishedStatus::Active) => {
            let patience = patience(asked, &fields)?;
            let standing = submit(asked, Command::Activate(owner), patience).await?;
            return Ok(shown(asked, &standing, key));
        }
        Change::Status(WishedStatus::Released) => {
            return end(asked, owner, Farewell::Release).await;
        }
        Change::Status(WishedStatus::Aborted) => return end(asked, owner, Farewell::Abort).await,
        Change::Status(WishedStatus::Withdrawn) => {
            return end(asked, owner, Farewell::Withdraw).await;
        }
        Change::Status(WishedStatus::Revoked) => return revoke_as_owner(asked, owner).await,
    };
    let standing = submit(asked, command, None).await?;
    Ok(shown(asked, &standing, key))
}

fn shown(asked: &Asked<'_>, standing: &Standing, key: &str) -> Answer {
    let mut body = String::with_capacity(CLAIM_BYTES);
    write_claim(&mut body, &view(asked, standing, Some(key)));
    json(StatusCode::OK, body)
}

async fn end(asked: &Asked<'_>, owner: Owner, farewell: Farewell) -> Result<Answer, Problem> {
    submit(asked, Command::End(owner, farewell), None).await?;
    Ok(no_content())
}

/// The original lets anybody revoke. Here it is the owner, who could end the claim anyway, or the
/// administrator. A key is never changed, so it can be looked at before.
async fn revoke_as_owner(asked: &Asked<'_>, owner: Owner) -> Result<Answer, Problem> {
    let claim = owner.claim;
    let standing = asked.server.store.standing(claim).await.map_err(unavailable)?;
    let refusal = match standing {
        Some(standing) if standing.claim.key == owner.key => return revoke(asked, claim).await,
        Some(standing) if standing.claim.keepers().contains(&owner.key) => {
            Refusal::KeeperMayOnlyRenew { claim }
        }
        _ => Refusal::Unknown { claim },
    };
    Err(Problem::refused(&refusal))
}

/// Without a key nothing can be changed, but by somebody who may revoke.
async fn revoke_by_number(
    asked: &Asked<'_>,
    claim: ClaimId,
    change: &Change,
) -> Result<Answer, Problem> {
    let admin = Asked { caller: &Caller::Administrator, ..*asked };
    let asked = match asked.caller {
        Caller::Anybody if is_admin(asked)? => &admin,
        Caller::Anybody | Caller::Administrator | Caller::Token(_) | Caller::User(_) => asked,
    };
    match (change, asked.caller) {
        (Change::Status(WishedStatus::Revoked), Caller::Administrator | Caller::Token(_)) => {
            asked.demand_revocation(claim).await?;
            let by = asked.caller.name();
            tracing::info!(%claim, by, "revoked");
            revoke(asked, claim).await
        }
        _ => Err(asked.unknown(Verb::Claim, claim)),
    }
}

/// While tokens are off, a token is only looked at where somebody must be the administrator.
fn is_admin(asked: &Asked<'_>) -> Result<bool, Problem> {
    gate::is_admin(&asked.server.config, asked.headers)
        .inspect_err(|problem| asked.denied(Verb::Revoke, None, &[], problem))
}

async fn revoke(asked: &Asked<'_>, claim: ClaimId) -> Result<Answer, Problem> {
    submit(asked, Command::Revoke(claim), None).await?;
    Ok(no_content())
}
