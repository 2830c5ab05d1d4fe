//! The latest events that this process knows of.

use std::collections::VecDeque;

use claims::Stamp;
use claims::observed::told;

use super::drawer::Happened;
use crate::store::{EventPage, Kept};

/// How many events can be read back. Whoever is further behind is told that it missed some.
const KEPT_MAX: usize = 16 * 1024;

/// A bounded window on the end of the history. Positions may have gaps: they only rise.
#[derive(Default)]
pub(crate) struct Chronicle {
    kept: VecDeque<Kept>,
    /// Everything from here on is kept.
    first: u64,
    next: u64,
}

impl Chronicle {
    /// Begins at `position`, or begins again there because something was missed.
    pub(crate) fn begin(&mut self, position: u64, missed: bool) {
        if missed {
            self.kept.clear();
        }
        if self.kept.is_empty() {
            self.first = position;
        }
        self.next = self.next.max(position);
    }

    /// What happened in a swap that became known at `now`. At `position`, or right after the last.
    pub(crate) fn push(&mut self, happened: &Happened, now: Stamp, position: Option<u64>) {
        let mut position = position.unwrap_or(self.next).max(self.next);
        let stamp = Stamp { at: now.at, wall: happened.wall };
        for event in &happened.events {
            if self.kept.len() == KEPT_MAX
                && let Some(oldest) = self.kept.pop_front()
            {
                self.first = oldest.position + 1;
            }
            let event = told(event.clone(), happened.at, now.at);
            self.kept.push_back(Kept { position, stamp, event });
            position += 1;
        }
        self.next = position;
    }

    /// Something was swapped that will never be known here.
    pub(crate) fn leave_a_gap(&mut self, swaps: u64) {
        self.next += swaps;
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn page(&self, position: u64, count: usize) -> EventPage {
        let from = self.kept.partition_point(|kept| kept.position < position);
        let events: Vec<Kept> = self.kept.range(from..).take(count).cloned().collect();
        let whole = from + events.len() == self.kept.len();
        let next = match events.last() {
            Some(last) if !whole => last.position + 1,
            _ => self.next.max(position),
        };
        // Positions have gaps, so this is the most it can be.
        EventPage { events, skipped: self.first.saturating_sub(position), next }
    }
}
