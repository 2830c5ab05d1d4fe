//! Resources by number: a live claim knows where its resources are, so their names are looked up
//! once, when it registers, and not at every step of its life.

use triomphe::Arc;

use crate::claim::Claim;
use crate::terms::Several;

/// Where a resource is, as long as it is held or wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(pub(crate) u32);

/// Where the first resource of a claim is, in the state that the claim is in. In the claim, where four
/// bytes were left: with them it fills two lines of the cache, and no decision waits for a third.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat(Slot);

impl Seat {
    /// The seat of a claim that has ended, or is in no state.
    pub(crate) const NONE: Self = Self(Slot(u32::MAX));

    pub(crate) fn at(slot: Slot) -> Self {
        Self(slot)
    }
}

impl Default for Seat {
    fn default() -> Self {
        Self::NONE
    }
}

impl Eq for Seat {}

impl PartialEq for Seat {
    /// A claim is the same wherever it is: slots are numbered by chance.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The slots of one claim's resources, in the order of their names. None once it has ended.
#[derive(Clone, Default)]
pub(crate) enum Slots {
    #[default]
    None,
    One(Slot),
    Several(Arc<Several>),
}

impl Slots {
    pub(crate) fn of(claim: &Claim) -> Self {
        match (claim.seat, claim.resources.as_several()) {
            (Seat(slot), _) if slot == Seat::NONE.0 => Self::None,
            (Seat(slot), None) => Self::One(slot),
            (_, Some(several)) => Self::Several(several.clone()),
        }
    }

    pub(crate) fn as_slice(&self) -> &[Slot] {
        match self {
            Self::None => &[],
            Self::One(slot) => core::slice::from_ref(slot),
            Self::Several(several) => &several.slots,
        }
    }
}
