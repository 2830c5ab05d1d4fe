//! A request, as far as all answers need it, and what whoever sent it may do.

use std::sync::Arc;

use claims::wire::{Media, Problem};
use claims::{Claim, ClaimId, Command, KeyHash, Name, Owner, Refusal, Standing, Verb};
use registry::{Pending, StoreError};

use crate::access::Caller;
use crate::audit::{Act, Asking, Denied, Origin};
use crate::server::{Server, unavailable};

/// A request.
pub(crate) struct Asked<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) caller: &'a Caller,
    pub(crate) origin: Origin,
    /// What addresses begin with.
    pub(crate) base: &'a str,
    /// What addresses with a key begin with. Whoever came with a password gets addresses with it:
    /// clients that follow them blindly could not come back otherwise.
    pub(crate) own_base: &'a str,
    pub(crate) query: &'a str,
    pub(crate) headers: &'a hyper::HeaderMap,
    pub(crate) media: Media,
}

impl Asked<'_> {
    /// What an address with this key begins with.
    pub(crate) fn base_for(&self, key: Option<&str>) -> &str {
        if key.is_some() { self.own_base } else { self.base }
    }

    /// Lets the caller go on if it may do this to all of these.
    pub(crate) fn demand(&self, verb: Verb, resources: &[Name]) -> Result<(), Problem> {
        match self.caller.may(verb, resources) {
            true => Ok(()),
            false => Err(self.forbidden(verb, None, resources)),
        }
    }

    /// Lets the caller go on if it may do this to whatever there is.
    pub(crate) fn demand_everything(&self, verb: Verb) -> Result<(), Problem> {
        match self.caller.may_everything(verb) {
            true => Ok(()),
            false => Err(self.forbidden(verb, None, &[])),
        }
    }

    /// Lets the caller go on if there can be something it may do this to.
    pub(crate) fn demand_something(&self, verb: Verb) -> Result<(), Problem> {
        match self.caller.may_something(verb) {
            true => Ok(()),
            false => Err(self.forbidden(verb, None, &[])),
        }
    }

    /// Lets the owner of a claim go on if it may claim what the claim is for.
    pub(crate) async fn demand_own(&self, owner: Owner) -> Result<(), Problem> {
        match self.look_at_own(owner) {
            Some(look) => self.judge_own(owner, look.await),
            None => Ok(()),
        }
    }

    /// The look at the store that it takes to know whether an owner may go on. Only somebody who
    /// may not claim everything needs it: the resources of a claim never change, so it does not
    /// matter that this was before.
    pub(crate) fn look_at_own(&self, owner: Owner) -> Option<Pending<'_, Option<Standing>>> {
        let needed = !self.caller.may_everything(Verb::Claim);
        needed.then(|| self.server.store.standing(owner.claim))
    }

    /// What follows from that look.
    pub(crate) fn judge_own(
        &self,
        owner: Owner,
        look: Result<Option<Standing>, StoreError>,
    ) -> Result<(), Problem> {
        match look.map_err(unavailable)? {
            Some(standing) if opens(&standing.claim, owner.key) => {
                self.demand_of(Verb::Claim, &standing.claim)
            }
            _ => Err(self.unknown(Verb::Claim, owner.claim)),
        }
    }

    /// Lets somebody go on who may revoke this claim; an unknown one and one that is none of the
    /// caller's business are one answer.
    pub(crate) async fn demand_revocation(&self, claim: ClaimId) -> Result<(), Problem> {
        if self.caller.may_everything(Verb::Revoke) {
            return Ok(());
        }
        self.demand_something(Verb::Revoke)?;
        let standing = self.server.store.standing(claim).await.map_err(unavailable)?;
        match standing {
            Some(standing) if self.may_read(&standing.claim) => {
                self.demand_of(Verb::Revoke, &standing.claim)
            }
            Some(standing)
                if self.caller.may(Verb::Revoke, standing.claim.resources.as_slice()) =>
            {
                Ok(())
            }
            _ => Err(self.unknown(Verb::Revoke, claim)),
        }
    }

    fn demand_of(&self, verb: Verb, claim: &Claim) -> Result<(), Problem> {
        let resources = claim.resources.as_slice();
        match self.caller.may(verb, resources) {
            true => Ok(()),
            false => Err(self.forbidden(verb, Some(claim.id), resources)),
        }
    }

    /// Whether the caller may look at a claim.
    pub(crate) fn may_read(&self, claim: &Claim) -> bool {
        self.caller.may(Verb::Read, claim.resources.as_slice())
    }

    /// The answer to somebody who may not do this.
    pub(crate) fn forbidden(
        &self,
        verb: Verb,
        claim: Option<ClaimId>,
        resources: &[Name],
    ) -> Problem {
        let who = self.caller.name().unwrap_or("nobody in particular");
        let what = match resources {
            [] => "everything that this needs".into(),
            [one] => format!("{:?}", one.as_str()),
            several => format!("all of {several:?}"),
        };
        let detail = format!(
            "the token {who} has no grant to {verb} {what}: see `tenure token list` on the server"
        );
        let problem = Problem::new(403, "Not granted", detail).text("verb", verb.as_str());
        self.denied(verb, claim, resources, &problem);
        problem
    }

    /// The answer about a claim that is not there, or that the caller cannot prove to own.
    pub(crate) fn unknown(&self, verb: Verb, claim: ClaimId) -> Problem {
        let problem = Problem::refused(&Refusal::Unknown { claim });
        self.denied(verb, Some(claim), &[], &problem);
        problem
    }

    pub(crate) fn denied(
        &self,
        verb: Verb,
        claim: Option<ClaimId>,
        resources: &[Name],
        problem: &Problem,
    ) {
        self.server.denied(&Denied {
            caller: self.caller.name(),
            origin: self.origin,
            verb: Some(verb),
            claim,
            resources,
            status: problem.status,
            why: problem.title(),
        });
    }

    /// Leaves the caller's name for the audit log, if there is one.
    pub(crate) fn enter(&self, command: &Command) -> Option<Asking<'_>> {
        let audit = self.server.config.audit.as_ref()?;
        Some(audit.enter(Act::of(command), self.caller, self.origin))
    }
}

/// Whether a key is that of the claim or of one of its keepers.
pub(crate) fn opens(claim: &Claim, key: KeyHash) -> bool {
    claim.key == key || claim.keepers().contains(&key)
}
