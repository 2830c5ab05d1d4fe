//! What the reference knows of a claim.

/// Microseconds.
pub(crate) type Time = u64;

#[derive(Clone, PartialEq)]
pub(crate) struct Terms {
    pub(crate) key: u64,
    pub(crate) names: Vec<&'static str>,
    /// How many may hold together; `u32::MAX` for any number.
    pub(crate) limit: u32,
    pub(crate) ttl: Time,
}

pub(crate) struct Claim {
    pub(crate) terms: Terms,
    pub(crate) keepers: Vec<u64>,
    pub(crate) phase: Phase,
    /// Activations are counted: this was its number.
    pub(crate) fence: Option<u64>,
    /// Whether its claimant has a wait open.
    pub(crate) there: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Phase {
    Waiting { seen: Time, gap: Time, turn: Turn },
    Active { ttl: Time, deadline: Time, graced: bool },
    Over(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Turn {
    InLine,
    Called { until: Time },
    PassedOver,
}
