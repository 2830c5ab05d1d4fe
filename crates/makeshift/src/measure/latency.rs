//! Measuring a store, and drawing from what was measured.

use std::time::Instant;

use claims::Span;
use claims::contest::Dice;
use object_store::ObjectStoreExt;

use crate::fault::random_name;
use crate::last_writer::measured_put;
use crate::{Fault, Place};

/// How long reads and writes took, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latencies {
    /// Of reads.
    pub reads: Vec<Span>,
    /// Of writes.
    pub writes: Vec<Span>,
}

impl Latencies {
    /// Of a network where half of the requests take less than `median`, and one in a hundred more
    /// than `rare`: what is used where nothing was measured.
    pub fn of_a_network(median: Span, rare: Span) -> Self {
        // The quantiles of a log-normal distribution.
        let ratio = rare.as_micros() as f64 / median.as_micros().max(1) as f64;
        let sigma = ratio.ln() / 2.326;
        let quantiles = (0..1000).map(|nth| {
            let micros = (sigma * normal_quantile((f64::from(nth) + 0.5) / 1000.0)).exp();
            Span::from_micros((median.as_micros() as f64 * micros) as u64)
        });
        let spans: Vec<Span> = quantiles.collect();
        Self { reads: spans.clone(), writes: spans }
    }

    /// The latency that this many in a thousand do not exceed, of reads and writes together.
    pub fn quantile(&self, of_a_thousand: usize) -> Span {
        let pick = |all: &[Span]| {
            all.get((all.len() * of_a_thousand / 1000).min(all.len().max(1) - 1)).copied()
        };
        let (read, write) = (pick(&self.reads), pick(&self.writes));
        read.unwrap_or_default().max(write.unwrap_or_default())
    }

    pub(super) fn draw(&self, write: bool, dice: &mut Dice) -> Span {
        let from = if write { &self.writes } else { &self.reads };
        from.get(dice.below(from.len() as u64) as usize).copied().unwrap_or_default()
    }
}

/// Reads and writes an object of its own so many times.
pub async fn latencies(place: &Place, rounds: usize) -> Result<Latencies, Fault> {
    let path = place.object(&format!("tenure-measure-{}", random_name(8)?))?;
    let mut measured = Latencies::default();
    let text = vec![b' '; 400];
    // The first ones make connections, which a lock does as well, but not each time.
    for nth in 0..rounds + 2 {
        let started = Instant::now();
        measured_put(place, &path, text.clone()).await?;
        let wrote = started.elapsed();
        let started = Instant::now();
        place.objects.get(&path).await?.bytes().await?;
        if nth >= 2 {
            measured.writes.push(crate::clock::span(wrote));
            measured.reads.push(crate::clock::span(started.elapsed()));
        }
    }
    place.objects.delete(&path).await?;
    measured.reads.sort_unstable();
    measured.writes.sort_unstable();
    Ok(measured)
}

/// The quantile of the normal distribution, to three digits (Abramowitz and Stegun, 26.2.23).
fn normal_quantile(p: f64) -> f64 {
    let tail = |q: f64| {
        let t = (-2.0 * q.ln()).sqrt();
        let above = 2.515_517 + 0.802_853 * t + 0.010_328 * t * t;
        let below = 1.0 + 1.432_788 * t + 0.189_269 * t * t + 0.001_308 * t * t * t;
        t - above / below
    };
    if p < 0.5 { -tail(p) } else { tail(1.0 - p) }
}
