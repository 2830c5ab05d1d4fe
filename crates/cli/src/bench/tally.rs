//! What one client counted, and how the counts of many add up.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};

use super::window::Window;

pub(super) struct Tally {
    pub(super) ops: u64,
    pub(super) errors: u64,
    first_error: Option<String>,
    pub(super) latency: Latency,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self { ops: 0, errors: 0, first_error: None, latency: Latency::new() }
    }

    pub(super) fn error(&mut self, error: &anyhow::Error) {
        self.errors += 1;
        self.first_error.get_or_insert_with(|| format!("{error:#}"));
    }

    pub(super) fn add(&mut self, other: Self) {
        self.ops += other.ops;
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
        self.latency.add(&other.latency);
    }

    /// The fields that every result has.
    pub(super) fn report(&self, clients: usize, window: &Window) -> Map<String, Value> {
        let secs = window.measured().as_secs_f64();
        let mut line = Map::new();
        line.insert("clients".into(), json!(clients));
        line.insert("secs".into(), json!(round(secs, 2)));
        line.insert("ops".into(), json!(self.ops));
        line.insert("ops_s".into(), json!(round(self.ops as f64 / secs, 1)));
        self.latency.report(&mut line, "");
        line.insert("errors".into(), json!(self.errors));
        if let Some(error) = &self.first_error {
            line.insert("first_error".into(), json!(error));
        }
        line
    }
}

/// How long things took.
pub(super) struct Latency(Histogram<u64>);

impl Latency {
    pub(super) fn new() -> Self {
        // Nanoseconds, up to ten minutes, to three digits.
        Self(Histogram::new_with_bounds(1, 600_000_000_000, 3).expect("these bounds are right"))
    }

    pub(super) fn record(&mut self, took: Duration) {
        self.0.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    /// Adds `p50_us`, `p99_us` and `max_us`, if anything was measured.
    pub(super) fn report(&self, line: &mut Map<String, Value>, prefix: &str) {
        if self.0.is_empty() {
            return;
        }
        let quantile = |q| self.0.value_at_quantile(q);
        for (name, nanos) in
            [("p50", quantile(0.5)), ("p99", quantile(0.99)), ("max", self.0.max())]
        {
            line.insert(format!("{prefix}{name}_us"), json!(round(nanos as f64 / 1e3, 1)));
        }
    }
}

pub(super) fn round(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}
