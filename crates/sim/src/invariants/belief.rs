//! **Belief exclusion.** At every instant of true time the clients that believe they hold a resource
//! are a legal set (rule 1), whatever clocks, network and disk did.
//!
//! Sets of believers only grow when somebody begins to believe or believes for longer, so those are
//! the instants to look at. A revocation takes a claim away from a client that cannot know yet; that
//! is what it is for, and such a belief does not count.

use std::collections::BTreeSet;

use claims::{ClaimId, Ending, Event, State, Status, Timestamp};

use super::legal::is_legal;
use super::{Checked, Violation};
use crate::client::Client;

#[derive(Debug, Default)]
pub(super) struct Belief {
    revoked: BTreeSet<ClaimId>,
}

impl Belief {
    pub(super) fn note(&mut self, event: &Event) {
        if let Event::Ended { claim, ending: Ending::Revoked } = event {
            self.revoked.insert(*claim);
        }
    }

    /// A revocation may have been in a batch that nobody heard of.
    pub(super) fn recovered(&mut self, state: &State) {
        let revoked = state.claims_after(None);
        let revoked = revoked.filter(|claim| claim.status() == Status::Revoked);
        self.revoked.extend(revoked.map(|claim| claim.id));
    }

    /// Looks at everything that client `nth` believes to hold.
    pub(super) fn check(&self, now: Timestamp, clients: &[Client], nth: usize) -> Checked {
        let Some((mine, _)) = clients[nth].belief(now) else {
            return Ok(());
        };
        for &resource in &mine.resources {
            let believers = || {
                clients.iter().filter_map(|client| {
                    let (wish, claim) = client.belief(now)?;
                    let counts = wish.resources.contains(&resource);
                    (counts && !self.revoked.contains(&claim))
                        .then_some((client.id, wish.registration.limit))
                })
            };
            if !is_legal(believers().map(|(_, limit)| limit)) {
                let who: Vec<String> = believers().map(|(id, _)| id.0.to_string()).collect();
                return Err(Violation::of(
                    "belief exclusion",
                    format!("clients {} believe they hold r{resource}", who.join(" and ")),
                ));
            }
        }
        Ok(())
    }
}
