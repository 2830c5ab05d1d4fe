//! The only source of chance. One seed decides everything, on every machine: no floating-point
//! function, no hash order, no clock goes into it.

use claims::Span;

/// xoshiro256++, seeded by splitmix64. Small, fast, and the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Rng {
    words: [u64; 4],
}

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        let mut word = seed;
        let mut next = || {
            word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = word;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        };
        Self { words: [next(), next(), next(), next()] }
    }

    /// A stream of its own: what one part draws does not move the luck of another.
    pub(crate) fn fork(&mut self) -> Self {
        Self::new(self.word())
    }

    pub(crate) fn word(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.words;
        let word = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        word
    }

    /// Uniform in `0..end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(end)) >> 64) as u64
    }

    /// Uniform in `first..=last`.
    pub(crate) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// True this many times in a thousand.
    pub(crate) fn permille(&mut self, odds: u64) -> bool {
        self.below(1_000) < odds
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.permille(500)
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }

    /// Uniform between two spans.
    pub(crate) fn span(&mut self, (least, most): (Span, Span)) -> Span {
        Span::from_micros(self.between(least.as_micros(), most.as_micros()))
    }

    /// Around `typical`, with a long tail: half of them below it, one in eight far above.
    pub(crate) fn spread(&mut self, typical: Span) -> Span {
        let stretch = self.word().trailing_zeros().min(4);
        Span::from_micros(self.below(typical.as_micros() << stretch) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_one_sequence() {
        let draw = |seed| {
            let mut rng = Rng::new(seed);
            [rng.word(), rng.fork().word(), rng.below(10), rng.word()]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut rng = Rng::new(7);
        for _ in 0..1_000 {
            assert!(rng.below(3) < 3);
            assert!((5..=6).contains(&rng.between(5, 6)));
        }
        assert_eq!(rng.below(0), 0);
    }
}
