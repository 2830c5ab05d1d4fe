//! How often two would hold the lock of [`last_writer`](crate::last_writer) at once, on your store.
//!
//! Nobody can wait for a rare event. So the latencies of the store are measured ([`latencies`]), and
//! the real contest runs in a simulated store with those latencies, a hundred thousand times
//! ([`simulate`]), with whatever faults are to be expected ([`Faults`]).

mod agenda;
mod arena;
mod latency;
mod stage;

pub use self::arena::simulate;
pub use self::latency::{Latencies, latencies};

use claims::Span;
use claims::contest::Terms;

/// What is simulated.
#[derive(Debug, Clone)]
pub struct Trial {
    /// How many contend.
    pub contenders: usize,
    /// What all of them agree on.
    pub terms: Terms,
    /// How long requests take.
    pub latencies: Latencies,
    /// How long a lock is held, on average.
    pub hold: Span,
    /// What goes wrong.
    pub faults: Faults,
    /// Whether the store can refuse to write over what has changed.
    pub conditional: bool,
    /// How many acquisitions to watch.
    pub acquisitions: u64,
}

/// What goes wrong: how often, in a million, and by how much at most.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// A request stalls on its way to the store.
    pub stalls: Fault,
    /// A write arrives again later.
    pub duplicates: Fault,
    /// A read is answered with an older value.
    pub stale_reads: Fault,
    /// A contender is suspended.
    pub pauses: Fault,
    /// How far each clock on a wall is off, at most.
    pub skew: Span,
}

/// One kind of fault.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fault {
    /// Out of a million.
    pub per_million: u64,
    /// By how much at most; less is as likely as more.
    pub at_most: Span,
}

impl Fault {
    /// So many in a million, by so much at most.
    pub const fn new(per_million: u64, at_most: Span) -> Self {
        Self { per_million, at_most }
    }
}

/// What was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often the lock was acquired.
    pub acquisitions: u64,
    /// How often somebody else believed to hold it then.
    pub double: u64,
    /// How many times that began: what comes within a lease of it belongs to it.
    pub incidents: u64,
    /// How often that was so although nothing of what may cause it had happened just before.
    pub unexplained: u64,
    /// How often a holder was told that it had lost the lock.
    pub lost: u64,
}

impl Tally {
    /// Double holdings per acquisition.
    pub fn rate(&self) -> f64 {
        self.double as f64 / self.acquisitions.max(1) as f64
    }

    /// The rate is at most this, with 999 chances in 1000: the upper limit for a count of rare
    /// incidents (by Wilson and Hilferty), each as bad as those that were seen.
    pub fn bound(&self) -> f64 {
        let more = self.incidents as f64 + 1.0;
        let root = 1.0 - 1.0 / (9.0 * more) + 3.09 / (3.0 * more.sqrt());
        let each = self.double.max(1) as f64 / self.incidents.max(1) as f64;
        each * more * root.powi(3) / self.acquisitions.max(1) as f64
    }
}
