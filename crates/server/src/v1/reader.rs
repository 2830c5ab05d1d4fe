//! Which events somebody may read: those about claims whose resources they all may.

use std::collections::HashMap;

use claims::{ClaimId, Event, Verb};
use registry::{EventPage, Store, StoreError};

use crate::access::Caller;

/// How many claims are remembered. Beyond it all are looked up again, when they are met again.
const REMEMBERED_MAX: usize = 4_096;

/// Somebody who reads events. Only those who may not read everything cost more than that.
pub(super) struct Reader {
    pub(super) caller: Caller,
    /// Only the registration says what a claim is for; this is what was decided then.
    decided: HashMap<ClaimId, bool>,
}

impl Reader {
    pub(super) fn new(caller: Caller) -> Self {
        Self { caller, decided: HashMap::new() }
    }

    /// Takes out what the reader may not see. What is about no claim is about all of them.
    pub(super) async fn keep_readable(
        &mut self,
        store: &dyn Store,
        page: &mut EventPage,
    ) -> Result<(), StoreError> {
        if self.caller.may_everything(Verb::Read) {
            return Ok(());
        }
        let mut kept = Vec::new();
        for event in page.events.drain(..) {
            if self.may_read(store, &event.event).await? {
                kept.push(event);
            }
        }
        page.events = kept;
        Ok(())
    }

    async fn may_read(&mut self, store: &dyn Store, event: &Event) -> Result<bool, StoreError> {
        let Some(claim) = event.claim() else { return Ok(false) };
        if let Event::Registered { registration, .. } = event {
            let may = self.caller.may(Verb::Read, registration.resources.as_slice());
            return Ok(self.decide(claim, may));
        }
        if let Some(may) = self.decided.get(&claim) {
            return Ok(*may);
        }
        let standing = store.standing(claim).await?;
        let may = standing.is_some_and(|standing| {
            self.caller.may(Verb::Read, standing.claim.resources.as_slice())
        });
        Ok(self.decide(claim, may))
    }

    fn decide(&mut self, claim: ClaimId, may: bool) -> bool {
        if self.decided.len() >= REMEMBERED_MAX {
            self.decided.clear();
        }
        self.decided.insert(claim, may);
        may
    }
}
