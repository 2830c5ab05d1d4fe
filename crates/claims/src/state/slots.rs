//! Resources by number: a live claim knows where its resources are, so their names are looked up
//! once, when it registers, and not at every step of its life.

use alloc::boxed::Box;

/// Where a resource is, as long as it is held or wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(pub(crate) u32);

/// The slots of one claim's resources, in the order of their names. None once it has ended.
#[derive(Debug, Clone, Default)]
pub(crate) enum Slots {
    #[default]
    None,
    One(Slot),
    Several(Box<[Slot]>),
}

impl Slots {
    pub(crate) fn as_slice(&self) -> &[Slot] {
        match self {
            Self::None => &[],
            Self::One(slot) => core::slice::from_ref(slot),
            Self::Several(slots) => slots,
        }
    }
}
