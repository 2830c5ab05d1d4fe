//! What claims can do at a place.

/// What claims can do at a place. Asking for more is refused with
/// [`ClaimError::Unable`](crate::ClaimError::Unable).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Waiters are served in turn.
    pub queue: bool,
    /// Several may hold together.
    pub shared: bool,
    /// Several resources can be claimed at once, all or none.
    pub several: bool,
    /// Every holder has a greater number than the ones before.
    pub fence: bool,
    /// A dead holder is followed by the next.
    pub expiry: bool,
    /// Others can see what a holder wrote down for them.
    pub data: bool,
    /// What is promised.
    pub guarantee: Guarantee,
}

/// How far one can rely on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Guarantee {
    /// Two may hold at once, rarely: `tenure blob measure` says how rarely.
    BestEffort,
    /// The store never has two holders.
    OneHolder,
    /// The server never has an illegal set of holders, and serves strictly in turn.
    InTurn,
}

impl Capabilities {
    /// Those of a lock server.
    pub(crate) const SERVER: Self = Self {
        queue: true,
        shared: true,
        several: true,
        fence: true,
        expiry: true,
        data: true,
        guarantee: Guarantee::InTurn,
    };
}

#[cfg(feature = "makeshift")]
impl From<makeshift::Capabilities> for Capabilities {
    fn from(there: makeshift::Capabilities) -> Self {
        Self {
            queue: there.queue,
            shared: there.shared,
            several: false,
            fence: there.fence,
            expiry: there.expiry,
            data: false,
            guarantee: match there.guarantee {
                makeshift::Guarantee::BestEffort => Guarantee::BestEffort,
                makeshift::Guarantee::OneHolder => Guarantee::OneHolder,
            },
        }
    }
}
