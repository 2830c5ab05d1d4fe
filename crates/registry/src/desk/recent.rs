//! The latest events, for those who follow them.

use std::collections::VecDeque;

use crate::embedded::Batch;
use crate::store::{EventPage, Kept};

/// How many events can be read back. Whoever is further behind is told how many it missed.
const RECENT_MAX: usize = 16 * 1024;

/// A bounded window on the end of the history.
pub(crate) struct Recent {
    events: VecDeque<Kept>,
    /// The position of the next event.
    next: u64,
}

impl Recent {
    pub(crate) fn from(position: u64) -> Self {
        Self {
            events: VecDeque::new(),
            next: position,
        }
    }

    pub(crate) fn push(&mut self, batch: &Batch) {
        for (nth, event) in batch.events.iter().enumerate() {
            if self.events.len() == RECENT_MAX {
                self.events.pop_front();
            }
            let position = batch.position + nth as u64;
            self.events.push_back(Kept {
                position,
                stamp: batch.stamp,
                event: event.clone(),
            });
        }
        self.next = batch.position + batch.events.len() as u64;
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn page(&self, position: u64, count: usize) -> EventPage {
        let first = self.events.front().map_or(self.next, |kept| kept.position);
        let from = position.max(first);
        let events: Vec<Kept> = self
            .events
            .iter()
            .skip(usize::try_from(from - first).unwrap_or(usize::MAX))
            .take(count)
            .cloned()
            .collect();
        let next = events
            .last()
            .map_or(from.min(self.next), |kept| kept.position + 1);
        EventPage {
            events,
            skipped: from.min(self.next).saturating_sub(position),
            next,
        }
    }
}
