//! Telling what was decided: to the waiters of this process, and to other processes.

use std::time::Duration;

use claims::{ClaimId, Event};
use update_if::Backend;

use super::Desk;
use super::decide::Decided;
use super::load::Loaded;

/// How many claims' resources are remembered.
const KNOWN_MAX: usize = 100_000;

impl<DB: Backend> Desk<DB> {
    /// It is kept: whoever waits for it is told.
    pub(super) fn decided(&self, decided: &Decided, took: Duration) {
        if let Some(Ok(standing)) = &decided.answer {
            let mut known = self.known.lock().expect("a lookup does not panic");
            if known.len() >= KNOWN_MAX {
                known.clear();
            }
            match &standing.claim.phase {
                claims::Phase::Ended(_) => drop(known.remove(&standing.claim.id)),
                claims::Phase::Waiting(_) | claims::Phase::Active(_) => {
                    known.insert(standing.claim.id, standing.claim.resources.clone());
                }
            }
        }
        if decided.events.is_empty() {
            return;
        }
        let mut commits = self.commits.lock().expect("counting does not panic");
        commits.kept(usize::from(decided.answer.is_some()));
        commits.synced(claims::Span::from_micros(took.as_micros() as u64));
        drop(commits);
        self.written.send_modify(|count| *count += 1);
        for claim in decided.events.iter().filter_map(concerns_a_waiter) {
            self.waits.wake(claim);
        }
    }
}

/// A claim whose claimant may be waiting for this event.
fn concerns_a_waiter(event: &Event) -> Option<ClaimId> {
    match event {
        Event::Called { claim, .. }
        | Event::Ended { claim, .. }
        | Event::Activated { claim, .. } => Some(*claim),
        Event::Registered { .. }
        | Event::Seen { .. }
        | Event::CalledOff { .. }
        | Event::PassedOver { .. }
        | Event::Renewed { .. }
        | Event::Appointed { .. }
        | Event::Forgotten { .. }
        | Event::Resumed
        | Event::EpochBegan { .. } => None,
    }
}

/// What other processes are told: whose turn it is, and who may wait no longer. Notices make commits
/// wait for each other, so nobody is told what nobody waits for.
pub(super) fn called(events: &[Event], loaded: &Loaded) -> Option<String> {
    let waited = |claim: &ClaimId| {
        let before = loaded.claims.get(claim);
        before.is_some_and(|record| matches!(record.claim.phase, claims::Phase::Waiting(_)))
    };
    let told = events.iter().filter(|event| !matches!(event, Event::Activated { .. }));
    let ids: Vec<String> = told
        .filter_map(concerns_a_waiter)
        .filter(waited)
        .map(|claim| claim.0.to_string())
        .collect();
    let text = ids.join(" ");
    // A notice has at most 8000 bytes; those who are left out look by themselves, a little later.
    (!text.is_empty()).then(|| text.chars().take(7_900).collect())
}
