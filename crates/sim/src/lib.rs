//! The whole system in one thread from one seed.
//!
//! The real engine and the real embedded store run on a simulated disk, network and clocks, with
//! clients that claim, wait, renew, pause, die and retry. Chance decides everything that can go
//! wrong, one seed decides all chance, and [invariants](Violation) say what must hold all the same.
//! There is no async runtime and no thread: a run is a loop over a queue of happenings, and the same
//! seed gives the same run, to the last bit.
//!
//! What this does not run: the kernel, TLS, HTTP, SQL. Those have their own tests.
//!
//! Read in this order: `swarm` (what worlds there are), `world` (the loop), `disk`, `server`,
//! `client`, then `invariants`.
#![forbid(unsafe_code)]

mod agenda;
mod clock;
mod message;
mod rng;

mod swarm;
mod world;

mod client;
pub mod disk;
mod net;
mod server;

mod invariants;
mod story;

pub mod planted;

use claims::Span;

pub use self::invariants::Violation;
use self::planted::Planted;
use self::world::World;

/// How to run a seed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Setup {
    /// The bug kept in on purpose, if any.
    pub planted: Option<Planted>,
    /// How many of the last notes of the story a failure tells. None by default: that is faster.
    pub keep: usize,
}

/// How a seed went.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One number for everything that happened, in order.
    pub hash: u64,
    /// How much happened.
    pub figures: Figures,
    /// What did not hold, if anything.
    pub failure: Option<Failure>,
}

/// Something that must hold did not.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Which invariant.
    pub invariant: &'static str,
    /// What was seen.
    pub what: String,
    /// The last things that happened, as sentences.
    pub story: Vec<String>,
}

/// How much happened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// Notes of the story.
    pub events: u64,
    /// Commits of the store.
    pub commits: u64,
    /// How often the server stopped before the end.
    pub stops: u64,
    /// How often it started, the end aside.
    pub starts: u64,
    /// How much time passed in the simulation.
    pub simulated: Span,
}

/// Runs one seed.
pub fn run(seed: u64, setup: &Setup) -> Outcome {
    World::new(seed, setup).run()
}

/// Everything told by this thread since this was asked before, as sentences: the story of a run with
/// [`Setup::keep`], finished or not. For a hook that learns of a panic, and for tests.
pub fn take_story() -> Vec<String> {
    story::take_remembered()
}
