//! What the committed events add up to.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use claims::{Claim, ClaimId, Event, Status, Timestamp};
use registry::EventPage;

use super::head;
use super::histogram::Histogram;

/// When a live claim began to wait, and to hold.
struct Life {
    created: Timestamp,
    active: Option<Timestamp>,
}

#[derive(Default)]
pub(super) struct Book {
    lives: HashMap<ClaimId, Life>,
    registered: u64,
    acquired: u64,
    renewed: u64,
    passed_over: u64,
    skipped: u64,
    ended: BTreeMap<&'static str, u64>,
    wait: Histogram,
    hold: Histogram,
}

impl Book {
    /// A live claim that was there before.
    pub(super) fn found(&mut self, claim: &Claim) {
        let active = claim.activation().map(|activation| activation.since.at);
        self.lives.insert(claim.id, Life { created: claim.created.at, active });
    }

    pub(super) fn read(&mut self, page: &EventPage) {
        self.skipped += page.skipped;
        for kept in &page.events {
            self.count(&kept.event, kept.stamp.at);
        }
    }

    fn count(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::Registered { claim, .. } => {
                self.registered += 1;
                self.lives.insert(*claim, Life { created: at, active: None });
            }
            Event::Activated { claim, .. } => {
                self.acquired += 1;
                if let Some(life) = self.lives.get_mut(claim) {
                    life.active = Some(at);
                    self.wait.observe(at.since(life.created));
                }
            }
            Event::Ended { claim, ending } => {
                *self.ended.entry(Status::from(*ending).as_str()).or_default() += 1;
                let life = self.lives.remove(claim);
                if let Some(active) = life.and_then(|life| life.active) {
                    self.hold.observe(at.since(active));
                }
            }
            Event::Renewed { .. } => self.renewed += 1,
            Event::PassedOver { .. } => self.passed_over += 1,
            Event::Seen { .. }
            | Event::Called { .. }
            | Event::CalledOff { .. }
            | Event::Appointed { .. }
            | Event::Forgotten { .. }
            | Event::Resumed
            | Event::EpochBegan { .. } => {}
        }
    }

    pub(super) fn write(&self, out: &mut String, now: Timestamp) {
        let counters = [
            ("tenure_registered_total", "Claims registered.", self.registered),
            ("tenure_acquired_total", "Claims that became active.", self.acquired),
            ("tenure_renewals_total", "Leases renewed.", self.renewed),
            ("tenure_passed_over_total", "Waiters that did not come.", self.passed_over),
            ("tenure_metrics_skipped_total", "Events not counted here.", self.skipped),
        ];
        for (name, help, count) in counters {
            head(out, name, "counter", help);
            let _ = writeln!(out, "{name} {count}");
        }
        head(out, "tenure_ended_total", "counter", "Claims that ended, by how.");
        for status in ["released", "expired", "aborted", "revoked", "withdrawn"] {
            let count = self.ended.get(status).copied().unwrap_or(0);
            let _ = writeln!(out, "tenure_ended_total{{status=\"{status}\"}} {count}");
        }
        head(out, "tenure_oldest_waiter_seconds", "gauge", "How long the oldest waiter waits.");
        let waiting = self.lives.values().filter(|life| life.active.is_none());
        let oldest = waiting.map(|life| now.since(life.created)).max().unwrap_or_default();
        let _ = writeln!(out, "tenure_oldest_waiter_seconds {}", oldest.as_micros() as f64 / 1e6);
        head(out, "tenure_wait_seconds", "histogram", "From registration to activation.");
        self.wait.write(out, "tenure_wait_seconds");
        head(out, "tenure_hold_seconds", "histogram", "From activation to the end.");
        self.hold.write(out, "tenure_hold_seconds");
    }
}
