//! Pauses that are random and grow: many contenders that keep in step would outwrite each other for
//! ever.

use crate::time::Span;

/// A source of chances, as good as its seed (splitmix64: small, and good enough to break step).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice that always fall the same way for the same seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * u128::from(bound)) >> 64) as u64
    }

    /// Between a half and one and a half of `about`.
    pub fn around(&mut self, about: Span) -> Span {
        let micros = about.as_micros();
        Span::from_micros(micros / 2 + self.below(micros + 1))
    }

    /// The nth pause of a row that begins with `first` and doubles, up to `most` times as long.
    pub fn backing_off(&mut self, first: Span, nth: u32, most: u64) -> Span {
        let times = 1_u64.checked_shl(nth).unwrap_or(u64::MAX).min(most);
        self.around(Span::from_micros(first.as_micros().saturating_mul(times)))
    }
}
