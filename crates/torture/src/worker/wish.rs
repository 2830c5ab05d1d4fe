//! What a worker wants next.

use std::time::Duration;

use clap::ValueEnum;
use fastrand::Rng;

/// How long workers hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Holds {
    /// Mostly short, so that much is handed over; at times longer than a lease, so that it is
    /// renewed.
    #[default]
    Mixed,
    /// For several leases: whoever is cut off meanwhile has to notice it.
    Long,
}

/// One round of work.
pub(crate) struct Wish {
    /// One or two, all or nothing.
    pub(crate) resources: Vec<String>,
    /// With how many others at most; none is no limit.
    pub(crate) limit: Option<u32>,
    /// How long it waits for its turn.
    pub(crate) patience: Duration,
    /// How long it holds.
    pub(crate) hold: Duration,
    /// How it ends.
    pub(crate) ending: Ending,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It gives back, and waits for the answer.
    Release,
    /// It lets go without waiting.
    Drop,
}

impl Wish {
    pub(crate) fn draw(dice: &mut Rng, resources: u32, ttl: Duration, holds: Holds) -> Self {
        let limit = match dice.u32(0..10) {
            0 => None,
            1 => Some(2),
            _ => Some(1),
        };
        let hold = match (holds, dice.u32(0..20)) {
            (Holds::Long, _) => ttl.mul_f64(2.0 + dice.f64() * 3.0),
            (Holds::Mixed, 0) => ttl.mul_f64(dice.f64() * 2.5),
            (Holds::Mixed, _) => ttl.mul_f64(dice.f64() * 0.04),
        };
        let count = if dice.u32(0..6) == 0 { 2 } else { 1 };
        let names = dice.choose_multiple(0..resources, count).into_iter();
        Self {
            resources: names.map(|nth| format!("r{nth}")).collect(),
            limit,
            patience: ttl.mul_f64(1.0 + dice.f64() * 4.0),
            hold,
            ending: if dice.u32(0..8) == 0 { Ending::Drop } else { Ending::Release },
        }
    }
}
