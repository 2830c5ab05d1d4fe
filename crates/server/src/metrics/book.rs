//! What the committed events add up to.

use std::collections::{BTreeMap, HashMap};

use claims::{Claim, ClaimId, Event, Status, Timestamp};
use registry::{EventPage, Histogram};

use super::page::Page;

/// Times are counted in microseconds and shown in seconds.
pub(super) const MICROS: f64 = 1e6;

/// From a millisecond to two hours.
const SPANS: [u64; 14] = [
    1_000,
    5_000,
    10_000,
    50_000,
    100_000,
    500_000,
    1_000_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    300_000_000,
    1_800_000_000,
    7_200_000_000,
];

/// When a live claim began to wait, and to hold.
struct Life {
    created: Timestamp,
    active: Option<Timestamp>,
}

pub(super) struct Book {
    lives: HashMap<ClaimId, Life>,
    registered: u64,
    acquired: u64,
    renewed: u64,
    passed_over: u64,
    skipped: u64,
    ended: BTreeMap<&'static str, u64>,
    wait: Histogram<{ SPANS.len() }>,
    hold: Histogram<{ SPANS.len() }>,
}

impl Default for Book {
    fn default() -> Self {
        Self {
            lives: HashMap::new(),
            registered: 0,
            acquired: 0,
            renewed: 0,
            passed_over: 0,
            skipped: 0,
            ended: BTreeMap::new(),
            wait: Histogram::new(&SPANS),
            hold: Histogram::new(&SPANS),
        }
    }
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
                    self.wait.observe(at.since(life.created).as_micros());
                }
            }
            Event::Ended { claim, ending } => {
                *self.ended.entry(Status::from(*ending).as_str()).or_default() += 1;
                let life = self.lives.remove(claim);
                if let Some(active) = life.and_then(|life| life.active) {
                    self.hold.observe(at.since(active).as_micros());
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

    pub(super) fn write(&self, page: &mut Page, now: Timestamp) {
        page.counter("tenure_registered_total", "Claims registered.", self.registered);
        page.counter("tenure_acquired_total", "Claims that became active.", self.acquired);
        page.counter("tenure_renewals_total", "Leases renewed.", self.renewed);
        page.counter("tenure_passed_over_total", "Waiters that did not come.", self.passed_over);
        let ended = ["released", "expired", "aborted", "revoked", "withdrawn"]
            .map(|status| (status, self.ended.get(status).copied().unwrap_or(0)));
        let name = ("counter", "tenure_ended_total", "status");
        page.by_label(name, "Claims that ended, by how.", ended);
        let waiting = self.lives.values().filter(|life| life.active.is_none());
        let oldest = waiting.map(|life| now.since(life.created)).max().unwrap_or_default();
        let oldest = oldest.as_micros() as f64 / MICROS;
        let help = "How long the oldest waiter has waited.";
        page.gauge("tenure_oldest_waiter_seconds", help, oldest);
        let help = "From registration to activation.";
        page.histogram("tenure_wait_seconds", help, &self.wait, MICROS);
        page.histogram("tenure_hold_seconds", "From activation to the end.", &self.hold, MICROS);
        let help = "Events that came too fast to be counted here.";
        page.counter("tenure_metrics_skipped_total", help, self.skipped);
    }
}
