//! Every bug that can be kept in on purpose, one at a time, and the client's own among them.
//!
//! See [`claims::planted`] for the reason. The rules, the store and the claimant have their bugs
//! where they would be made; those of what drives a claimant are here, because the simulator does.

use std::sync::LazyLock;

use claims::claimant::Bug as ClaimantBug;
use claims::planted::Bug as RuleBug;
use registry::planted::Bug as StoreBug;

/// A bug in what drives a claimant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// The deadline is a time of day, and that is put back.
    WallClockDeadline,
    /// The deadline is on a clock that stands still while the machine is suspended.
    ClockWithoutSuspend,
    /// A registration that is not answered is sent again under a new key.
    NewKeyForRetry,
}

impl Bug {
    /// Each of them.
    pub const ALL: &[Self] =
        &[Self::WallClockDeadline, Self::ClockWithoutSuspend, Self::NewKeyForRetry];
}

/// One bug of any part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// In the rules.
    Rules(RuleBug),
    /// In the embedded store.
    Store(StoreBug),
    /// In the claimant.
    Claimant(ClaimantBug),
    /// In what drives it.
    Client(Bug),
}

/// All of them, in the order of their layers.
pub static ALL: LazyLock<Vec<Planted>> = LazyLock::new(|| {
    let rules = RuleBug::ALL.iter().copied().map(Planted::Rules);
    let store = StoreBug::ALL.iter().copied().map(Planted::Store);
    let claimant = ClaimantBug::ALL.iter().copied().map(Planted::Claimant);
    let client = Bug::ALL.iter().copied().map(Planted::Client);
    rules.chain(store).chain(claimant).chain(client).collect()
});

impl Planted {
    /// Its name, as the command line takes it.
    pub fn name(self) -> String {
        match self {
            Self::Rules(bug) => format!("{bug:?}"),
            Self::Store(bug) => format!("{bug:?}"),
            Self::Claimant(bug) => format!("{bug:?}"),
            Self::Client(bug) => format!("{bug:?}"),
        }
    }

    /// The part it is in.
    pub fn part(self) -> &'static str {
        match self {
            Self::Rules(_) => "rules",
            Self::Store(_) => "store",
            Self::Claimant(_) | Self::Client(_) => "client",
        }
    }

    /// The bug with this name.
    pub fn named(name: &str) -> Option<Self> {
        ALL.iter().copied().find(|bug| bug.name().eq_ignore_ascii_case(name))
    }
}
