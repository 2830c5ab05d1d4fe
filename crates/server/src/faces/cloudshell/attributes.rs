//! Attributes that a service is given after it was added.
//!
//! What a claim says of itself never changes, so they are beside it: a claim on
//! `attributes/<id>/<alias>` that says which service it is about. A new one is there before the old
//! one goes, so that there is always one to read: the newest.

use claims::{
    Claim, ClaimId, Command, Data, Limit, Phase, Registration, Resources, Timestamp, Ttl,
};
use registry::ResourceReport;
use serde::{Deserialize, Serialize};

use super::answer::Told;
use super::call::{Attributes, Call};
use super::guest::Guest;
use super::names::Id;
use super::refusal::No;
use super::reservation::find;
use super::service::Service;
use crate::keys::hash_of;

/// All attributes of a service, from now on.
#[derive(Serialize, Deserialize)]
struct Given {
    /// The claim that is the service.
    of: u64,
    attributes: Attributes,
}

pub(super) async fn set(guest: &Guest<'_>, call: &Call) -> Result<Told, No> {
    let (id, alias) = (Id::of(call)?, call.needed("serviceAlias")?);
    let _one_at_a_time = guest.face.door(&id).lock().await;
    find(guest, &id).await?.runs_until()?;
    let holder = guest.look(&id.service(alias)?).await?.holders.into_iter().next();
    let Some(holder) = holder.filter(|holder| guest.is_held(holder)) else {
        return Err(No::because(format!("There is no service {alias:?} in the reservation")));
    };
    let name = id.attributes(alias)?;
    let before = guest.look(&name).await?;
    let mut attributes = now(&holder, &before);
    attributes.extend(call.attributes("attributeRequests")?);
    let given = Given { of: holder.id.0, attributes };
    let data = serde_json::to_string(&given).expect("texts are JSON");
    let registration = Registration {
        // Nobody needs it: these are replaced by the server alone.
        key: hash_of(&guest.face.server.keys.new_key()),
        resources: Resources::one(name),
        limit: Limit::SHARED,
        ttl: left(guest, &holder)?,
        data: Some(Data::new(&data)?),
    };
    guest.submit(Command::Register(registration)).await??;
    end(guest, before.holders).await?;
    Ok(None)
}

/// The attributes of a service, with what was set later.
pub(super) fn now(service: &Claim, beside: &ResourceReport) -> Attributes {
    let given = |claim: &Claim| -> Option<(ClaimId, Given)> {
        let given: Given = serde_json::from_str(claim.data()?.as_str()).ok()?;
        (given.of == service.id.0).then_some((claim.id, given))
    };
    let newest = beside.holders.iter().filter_map(given).max_by_key(|(id, _)| *id);
    let first = || Service::of(service).map(|service| service.attributes);
    newest.map(|(_, given)| given.attributes).or_else(first).unwrap_or_default()
}

/// The service is gone, or another one.
pub(super) async fn forget(guest: &Guest<'_>, id: &Id, alias: &str) -> Result<(), No> {
    let beside = guest.look(&id.attributes(alias)?).await?;
    end(guest, beside.holders).await
}

async fn end(guest: &Guest<'_>, claims: Vec<Claim>) -> Result<(), No> {
    for claim in claims {
        // Whoever was faster has done the same.
        let _ = guest.submit(Command::Revoke(claim.id)).await?;
    }
    Ok(())
}

/// They last as long as their service.
fn left(guest: &Guest<'_>, service: &Claim) -> Result<Ttl, No> {
    match &service.phase {
        Phase::Active(active) if active.deadline != Timestamp::NEVER => {
            Ok(Ttl::new(active.deadline.since(guest.now))?)
        }
        Phase::Active(_) | Phase::Waiting(_) | Phase::Ended(_) => Ok(Ttl::UNLIMITED),
    }
}
