//! Open waits: claimants that are there to be granted their turn.

use std::collections::{BTreeSet, HashMap};

use claims::{ClaimId, Owner, Span};
use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::store::Answer;

/// Where an answer goes.
pub(super) type Reply = oneshot::Sender<Result<Answer, StoreError>>;

/// Names one wait, from before its claim is known.
pub(super) type Ticket = u64;

/// One claimant that waits.
pub(super) struct Wait {
    pub(super) ticket: Ticket,
    pub(super) owner: Owner,
    pub(super) reply: Reply,
    /// Whether it registered (and is told where it stands) or asked to be active (and is refused).
    pub(super) registered: bool,
    /// When its patience is over, by the machine's clock.
    pub(super) until: Span,
}

/// All open waits, at most one a claim.
#[derive(Default)]
pub(super) struct Waits {
    by_claim: HashMap<ClaimId, Wait>,
    by_ticket: HashMap<Ticket, ClaimId>,
    by_end: BTreeSet<(Span, Ticket)>,
}

impl Waits {
    /// Adds a wait. The one that was open for the same claim, if any, is given back: its claimant
    /// has come again, probably over a new connection.
    pub(super) fn insert(&mut self, wait: Wait) -> Option<Wait> {
        let before = self.remove(wait.owner.claim);
        self.by_ticket.insert(wait.ticket, wait.owner.claim);
        self.by_end.insert((wait.until, wait.ticket));
        self.by_claim.insert(wait.owner.claim, wait);
        before
    }

    /// The wait of a claim is over.
    pub(super) fn remove(&mut self, claim: ClaimId) -> Option<Wait> {
        let wait = self.by_claim.remove(&claim)?;
        self.by_ticket.remove(&wait.ticket);
        self.by_end.remove(&(wait.until, wait.ticket));
        Some(wait)
    }

    /// Whether somebody waits for this claim.
    pub(super) fn has(&self, claim: ClaimId) -> bool {
        self.by_claim.contains_key(&claim)
    }

    /// The claimant with this ticket has gone.
    pub(super) fn remove_ticket(&mut self, ticket: Ticket) -> Option<Wait> {
        let claim = *self.by_ticket.get(&ticket)?;
        self.remove(claim)
    }

    /// A wait whose patience is over.
    pub(super) fn next_over(&mut self, now: Span) -> Option<Wait> {
        let &(until, ticket) = self.by_end.first()?;
        if until > now {
            return None;
        }
        self.remove_ticket(ticket)
    }

    /// When the next patience is over.
    pub(super) fn next_end(&self) -> Option<Span> {
        self.by_end.first().map(|&(until, _)| until)
    }
}
