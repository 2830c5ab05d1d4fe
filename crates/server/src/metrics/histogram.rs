//! A histogram of times, in seconds, from a millisecond to hours.

use std::fmt::Write;

use claims::Span;

/// Upper bounds, in microseconds, with their names.
const BUCKETS: [(u64, &str); 14] = [
    (1_000, "0.001"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (500_000, "0.5"),
    (1_000_000, "1.0"),
    (5_000_000, "5.0"),
    (10_000_000, "10.0"),
    (30_000_000, "30.0"),
    (60_000_000, "60.0"),
    (300_000_000, "300.0"),
    (1_800_000_000, "1800.0"),
    (7_200_000_000, "7200.0"),
];

#[derive(Default)]
pub(super) struct Histogram {
    counts: [u64; BUCKETS.len()],
    count: u64,
    micros: u64,
}

impl Histogram {
    pub(super) fn observe(&mut self, span: Span) {
        let micros = span.as_micros();
        if let Some(bucket) = BUCKETS.iter().position(|(bound, _)| micros <= *bound) {
            self.counts[bucket] += 1;
        }
        self.count += 1;
        self.micros = self.micros.saturating_add(micros);
    }

    pub(super) fn write(&self, out: &mut String, name: &str) {
        let mut below = 0;
        for ((_, bound), count) in BUCKETS.iter().zip(self.counts) {
            below += count;
            let _ = writeln!(out, "{name}_bucket{{le=\"{bound}\"}} {below}");
        }
        let _ = writeln!(out, "{name}_bucket{{le=\"+Inf\"}} {}", self.count);
        let _ = writeln!(out, "{name}_sum {}", self.micros as f64 / 1e6);
        let _ = writeln!(out, "{name}_count {}", self.count);
    }
}
