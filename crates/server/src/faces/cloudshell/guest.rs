//! Somebody who is logged on, and asks.

use std::sync::Arc;

use claims::wire::{Handle, Problem};
use claims::{Claim, ClaimId, Command, Name, Owner, Phase, Refusal, Standing, Timestamp};
use registry::{Filter, Page, ResourceReport};

use super::refusal::No;
use super::resend::Over;
use super::session::{self, Session};
use super::{Face, Visit};
use crate::access::Caller;
use crate::audit::Origin;
use crate::keys::hash_of;

/// Long lists are read in pieces of this size.
const PIECE: usize = 1_000;

/// Somebody who is logged on.
pub(super) struct Guest<'a> {
    pub(super) face: &'a Face,
    /// The claim that is the session.
    pub(super) session: ClaimId,
    /// The secret of the session: what only its client can show.
    pub(super) key: &'a str,
    pub(super) user: Arc<str>,
    pub(super) machine: &'a str,
    /// The connection of the request, and its number on it.
    pub(super) over: &'a Over,
    /// The moment of the request, on the store's timeline.
    pub(super) now: Timestamp,
    caller: Caller,
    origin: Origin,
}

impl<'a> Guest<'a> {
    /// Finds out who asks, by the token that is shown.
    pub(super) async fn admit(
        face: &'a Face,
        visit: &'a Visit,
        token: &'a str,
    ) -> Result<Self, No> {
        let Some(Handle { claim, key: Some(key) }) = Handle::parse(token) else {
            return Err(denied(face, visit));
        };
        let standing = face.server.store.standing(claim).await?;
        // Hashed whether the session is there or not: an unknown one takes as long as a wrong key.
        let hash = hash_of(key);
        let Some(Standing { claim: found, now, .. }) = standing else {
            return Err(denied(face, visit));
        };
        let (true, Some(Session { user, .. })) = (found.key == hash, session::of(face, &found))
        else {
            return Err(denied(face, visit));
        };
        let user: Arc<str> = user.into();
        let caller = Caller::User(user.clone());
        let (machine, over, origin) = (visit.machine.as_str(), &visit.over, visit.origin);
        let guest = Self { face, session: claim, key, user, machine, over, now, caller, origin };
        if session::is_ageing(&found, now) {
            let renew = Command::Renew(Owner { claim, key: hash }, None);
            if guest.submit(renew).await?.is_err() {
                return Err(denied(face, visit));
            }
        }
        Ok(guest)
    }

    pub(super) async fn submit(&self, command: Command) -> Result<Result<Standing, Refusal>, No> {
        self.face.submit(&self.caller, self.origin, command).await
    }

    /// Who holds a resource at this moment, and who waits for it.
    pub(super) async fn look(&self, name: &Name) -> Result<ResourceReport, No> {
        Ok(self.face.server.store.resource(name.clone(), 1).await?)
    }

    /// Whether a claim holds, and its time is not over.
    pub(super) fn is_held(&self, claim: &Claim) -> bool {
        matches!(&claim.phase, Phase::Active(active) if active.deadline > self.now)
    }

    /// What is held of all that begins with a prefix, at most `max` of it.
    pub(super) async fn under(&self, prefix: &Name, max: usize) -> Result<Vec<ResourceReport>, No> {
        let (mut found, mut after) = (Vec::new(), prefix.clone());
        loop {
            let page = self.face.server.store.resources(Page::after(after, PIECE)).await?;
            let last = page.last().map(|report| report.name.clone());
            let below = |name: &Name| name.as_str().starts_with(prefix.as_str());
            found.extend(page.into_iter().filter(|report| below(&report.name)));
            match last {
                Some(last) if below(&last) && found.len() < max => after = last,
                _ => break,
            }
        }
        found.truncate(max);
        Ok(found)
    }

    /// The last claim on a resource that is over, and is what we look for.
    pub(super) async fn last_ended(
        &self,
        name: &Name,
        is: impl Fn(&Claim) -> bool,
    ) -> Result<Option<Claim>, No> {
        let (mut last, mut after) = (None, None);
        loop {
            let filter = Filter { resource: Some(name.clone()), ..Filter::default() };
            let page = Page { after, skip: 0, count: PIECE };
            let claims = self.face.server.store.claims(filter, page).await?;
            let Some(next) = claims.last().map(|claim| claim.id) else { return Ok(last) };
            after = Some(next);
            let ended = |claim: &Claim| matches!(claim.phase, Phase::Ended(_)) && is(claim);
            last = claims.into_iter().rfind(ended).or(last);
        }
    }
}

fn denied(face: &Face, visit: &Visit) -> No {
    let problem = Problem::new(401, "Not a session", "");
    // A first call without a token is how clients find out that they have to log on.
    if !visit.token.is_empty() {
        face.denied(visit.origin, None, &problem);
    }
    No::not_logged_on()
}
