//! The latest events, for those who follow them.

use std::collections::VecDeque;

use claims::{Event, Stamp};

use crate::embedded::Batch;
use crate::store::{EventPage, Kept};

/// How many events can be read back. Whoever is further behind is told how many it missed.
const RECENT_MAX: usize = 16 * 1024;

/// A bounded window on the end of the history. Nothing is copied until somebody reads, and the
/// memory is used again: every decision comes by here.
#[derive(Clone)]
pub(crate) struct Recent {
    events: VecDeque<Event>,
    /// When the events of each batch happened, with the position of its first.
    batches: VecDeque<(u64, Stamp)>,
    /// The position of the next event.
    next: u64,
}

impl Recent {
    pub(crate) fn from(position: u64) -> Self {
        Self { events: VecDeque::new(), batches: VecDeque::new(), next: position }
    }

    /// Takes the events of a batch over.
    pub(crate) fn push(&mut self, batch: &mut Batch) {
        self.batches.push_back((batch.position, batch.stamp));
        self.next = batch.position + batch.events.len() as u64;
        for event in batch.events.drain(..) {
            if self.events.len() == RECENT_MAX {
                self.events.pop_front();
            }
            self.events.push_back(event);
        }
        let first = self.first();
        while self.batches.get(1).is_some_and(|&(second, _)| second <= first) {
            self.batches.pop_front();
        }
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The position of the oldest event there is.
    fn first(&self) -> u64 {
        self.next - self.events.len() as u64
    }

    pub(crate) fn page(&self, position: u64, count: usize) -> EventPage {
        let from = position.clamp(self.first(), self.next);
        let skip = usize::try_from(from - self.first()).expect("no more than there are events");
        let kept = (from..).zip(self.events.iter().skip(skip)).take(count);
        let events: Vec<Kept> = kept
            .map(|(position, event)| Kept {
                position,
                stamp: self.stamp(position),
                event: event.clone(),
            })
            .collect();
        let next = from + events.len() as u64;
        EventPage { events, skipped: from.saturating_sub(position), next }
    }

    fn stamp(&self, position: u64) -> Stamp {
        let after = self.batches.partition_point(|&(first, _)| first <= position);
        self.batches[after - 1].1
    }
}
