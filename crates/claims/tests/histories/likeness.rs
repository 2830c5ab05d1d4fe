//! When two histories have met.

use claims::{Claim, Phase, Record, Turn};

use super::cast::CLAIMS;
use super::step::Scene;

/// All that the future of a scene depends on, and nothing about the way to it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Likeness {
    now: u64,
    present: [bool; CLAIMS],
    fences: [u64; 3],
    claims: [[u64; 7]; CLAIMS],
}

impl Likeness {
    pub(crate) fn of(scene: &Scene) -> Self {
        let mut claims = [[0; 7]; CLAIMS];
        for (record, words) in scene.state.records_after(None).zip(&mut claims) {
            *words = in_words(record);
        }
        let [a, b] = scene.fences;
        Self {
            now: scene.now.as_micros(),
            present: scene.present,
            fences: [a.0, b.0, scene.state.counters().next_fence.0],
            claims,
        }
    }
}

/// Every field of a live claim. What is over has no future: how and when it ended does not matter.
fn in_words(Record { claim, seen }: Record<&Claim>) -> [u64; 7] {
    let names =
        claim.resources.as_slice().iter().map(|name| u64::from(name.as_str().as_bytes()[0]));
    let terms = names.sum::<u64>() << 32 | u64::from(claim.limit.count().unwrap_or(0));
    let created = claim.created.at.as_micros();
    match &claim.phase {
        Phase::Waiting(turn) => {
            let (turn, until) = match turn {
                Turn::InLine => (1, 0),
                Turn::Called { until } => (2, until.as_micros()),
                Turn::PassedOver => (3, 0),
            };
            let (seen_at, gap) = (seen.at.as_micros(), seen.gap.as_micros());
            [1, terms, created, seen_at, gap, turn, until]
        }
        Phase::Active(active) => {
            let since = active.activation.since.at.as_micros();
            let (fence, graced) = (active.activation.fence.0, u64::from(active.graced));
            [2, terms, created, since, fence << 1 | graced, active.deadline.as_micros(), 0]
        }
        Phase::Ended(_) => [3, 0, 0, 0, 0, 0, 0],
    }
}
