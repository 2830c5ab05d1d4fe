//! `POST /v1/claims/`: make a claim. 201 if it holds now, 202 if it waits.

use claims::wire::{Fields, NewClaim, Problem, write_claim};
use claims::{Command, Registration, Status, Verb};
use hyper::StatusCode;

use super::{CLAIM_BYTES, patience, submit, view};
use crate::answer::{Answer, json, located};
use crate::asked::Asked;
use crate::keys::hash_of;

pub(crate) async fn register(asked: &Asked<'_>, body: &[u8]) -> Result<Answer, Problem> {
    let fields = Fields::parse(asked.media, body, asked.query)?;
    let NewClaim { key, resources, limit, ttl, data } = NewClaim::parse(&fields)?;
    let patience = patience(asked, &fields)?;
    drop(fields);
    asked.demand(Verb::Claim, resources.as_slice())?;
    let key = key.unwrap_or_else(|| asked.server.keys.new_key());
    let registration = Registration { key: hash_of(&key), resources, limit, ttl, data };
    let standing = submit(asked, Command::Register(registration), patience).await?;
    let status = match standing.claim.status() {
        Status::Active => StatusCode::CREATED,
        Status::Waiting => StatusCode::ACCEPTED,
        // Sent again under a key whose claim is over by now.
        Status::Released
        | Status::Expired
        | Status::Aborted
        | Status::Revoked
        | Status::Withdrawn => StatusCode::OK,
    };
    let view = view(asked, &standing, Some(&key));
    let mut url = String::with_capacity(96);
    view.write_url(&mut url);
    let mut body = String::with_capacity(CLAIM_BYTES);
    write_claim(&mut body, &view);
    Ok(located(json(status, body), url))
}
