//! Who is who: claim ids, fences, epochs and the keys that prove ownership.

/// Numbers given out below this many bits belong to one epoch.
const EPOCH_SHIFT: u32 = 40;

/// No id and no fence is as great as this.
pub(crate) const NUMBERS_MAX: u64 = 1 << 53;

/// How many epochs fit below 2^53, where every JSON reader still keeps a number exact.
const EPOCHS: u32 = 1 << (53 - EPOCH_SHIFT);

/// The life of a store between two restores from a backup. A new epoch puts every later id and
/// fence above any that was ever given, also those the backup does not know of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Epoch(u32);

impl Epoch {
    /// The epoch after this one, unless all 8,192 are used up.
    pub fn next(self) -> Option<Self> {
        (self.0 + 1 < EPOCHS).then_some(Self(self.0 + 1))
    }

    /// Its number, from 0.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The epoch with this number, if there can be one.
    pub fn from_number(number: u32) -> Option<Self> {
        (number < EPOCHS).then_some(Self(number))
    }

    /// The epoch that a number belongs to; the last one for any number beyond it.
    pub(crate) fn of(number: u64) -> Self {
        let epoch = (number >> EPOCH_SHIFT).min(u64::from(EPOCHS - 1));
        Self(epoch as u32)
    }

    /// The first counter value of this epoch. Counters start at 1: 0 means "none" to many readers.
    pub(crate) fn first(self) -> u64 {
        (u64::from(self.0) << EPOCH_SHIFT) + 1
    }
}

/// The number of a claim, never given twice by one store. Rising: an earlier claim has a lower id,
/// which is why ids are also places in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClaimId(pub u64);

impl core::fmt::Display for ClaimId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

/// The number given at activation, greater than any this resource ever had. Public: pass it to the
/// thing you protect and let that refuse lower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fence(pub u64);

impl core::fmt::Display for Fence {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

/// The hash of a key, made by the shell from at least 128 random bits. The key itself never comes
/// in here, so it can never get out.
#[derive(Clone, Copy, Default, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KeyHash(pub [u8; 16]);

impl KeyHash {
    /// A well-mixed word for hash tables: the bytes are a hash already.
    pub(crate) fn word(&self) -> u32 {
        let [a, b, c, d, ..] = self.0;
        u32::from_le_bytes([a, b, c, d])
    }
}

impl PartialEq for KeyHash {
    /// Looks at every byte, whatever differs first: the time tells nothing.
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0.iter()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

impl core::fmt::Debug for KeyHash {
    /// Enough to tell two apart in a story, not enough to be one.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "KeyHash({:02x}{:02x}..)", self.0[0], self.0[1])
    }
}
