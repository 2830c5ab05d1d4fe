//! Batches that wait for company.
//!
//! **Problem.** A sync takes as long for one event as for many, and holds up whatever comes while it runs. Where
//! turns are quick, most of what happens between two releases is somebody joining the queue: a sync of
//! its own for that makes the next release wait behind it.
//!
//! **Idea.** Who joins a queue is in no hurry to hear of it. A batch of only such is kept open for a
//! moment, and shares the sync of what comes next.

use std::time::Duration;

use claims::{Claim, ClaimId, Span, Standing};

use super::books::Books;
use super::writer::{LATE_MAX, Writer, ends_a_wait};
use crate::embedded::Reading;
use crate::error::StoreError;
use crate::store::Answer;

/// What was granted so lately may well be given back in a moment: in quick turns it is.
const FRESH_MAX: Span = Span::from_millis(2);

impl<B: Books> Writer<B> {
    /// How long a batch of this moment can still be added to.
    pub(super) fn left(&self, reading: Reading) -> Duration {
        let over = reading.boot.as_micros() + LATE_MAX.as_micros();
        let left = over.saturating_sub(self.clocks.read().boot.as_micros());
        Duration::from_micros(left).min(self.pause())
    }

    /// Whether something happened, and nobody is in a hurry to be told of it. Whoever joins a queue and
    /// waits hears nothing before its turn, so nobody waits for that to be durable: it shares the sync
    /// of what comes next, most likely the release it waits for, instead of making that wait behind a
    /// sync of its own. The same for who is to be told that it has to wait, where turns are quick.
    pub(super) fn nobody_hurries(&self) -> bool {
        let pending = self.books.pending();
        let is_heard = |event| ends_a_wait(event).is_some_and(|claim| self.waits.has(claim));
        self.answers.iter().all(|(_, answer)| self.is_behind_a_fresh_holder(answer))
            && self.looks.is_empty()
            && self.taken.is_empty()
            && !self.closing
            && !self.books.wants_commit()
            && !pending.is_empty()
            && !pending.iter().any(is_heard)
    }

    fn is_behind_a_fresh_holder(&self, answer: &Result<Answer, StoreError>) -> bool {
        let Ok(Ok(Standing { place: Some(place), now, .. })) = answer else { return false };
        let is_fresh = |holder: &ClaimId| {
            let activation = self.books.state().claim(*holder).and_then(Claim::activation);
            activation.is_some_and(|activation| now.since(activation.since.at) < FRESH_MAX)
        };
        self.syncs && place.holders.iter().any(is_fresh)
    }
}
