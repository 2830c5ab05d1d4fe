//! The latest events, for those who follow them.

use std::collections::VecDeque;

use claims::{Event, Stamp};

use crate::embedded::Batch;
use crate::store::{EventPage, Kept};

/// How many events can be read back, give or take a batch. Whoever is further behind is told how
/// many it missed.
const RECENT_MAX: u64 = 16 * 1024;

/// A bounded window on the end of the history. Batches are kept whole: nothing is copied until
/// somebody reads.
pub(crate) struct Recent {
    batches: VecDeque<(u64, Stamp, Box<[Event]>)>,
    /// The position of the next event.
    next: u64,
}

impl Recent {
    pub(crate) fn from(position: u64) -> Self {
        Self { batches: VecDeque::new(), next: position }
    }

    /// Takes the events of a batch over.
    pub(crate) fn push(&mut self, batch: &mut Batch) {
        let events: Box<[Event]> = batch.events.drain(..).collect();
        self.next = batch.position + events.len() as u64;
        self.batches.push_back((batch.position, batch.stamp, events));
        while let Some((first, _, oldest)) = self.batches.front()
            && self.next - (first + oldest.len() as u64) >= RECENT_MAX
        {
            self.batches.pop_front();
        }
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn page(&self, position: u64, count: usize) -> EventPage {
        let first = self.batches.front().map_or(self.next, |(first, ..)| *first);
        let from = position.clamp(first, self.next.max(first));
        let batch =
            self.batches.partition_point(|(first, _, events)| first + events.len() as u64 <= from);
        let events: Vec<Kept> = self
            .batches
            .iter()
            .skip(batch)
            .flat_map(|(first, stamp, events)| {
                (*first..).zip(events).map(|(position, event)| (position, *stamp, event))
            })
            .skip_while(|(position, ..)| *position < from)
            .take(count)
            .map(|(position, stamp, event)| Kept { position, stamp, event: event.clone() })
            .collect();
        let next = events.last().map_or(from, |kept| kept.position + 1);
        EventPage { events, skipped: from.saturating_sub(position), next }
    }
}
