//! Inputs made from others: a small part of what libFuzzer does, from one seed.

/// Numbers that mean something to many readers.
const TELLING: [&[u8]; 12] = [
    b"\0",
    b"\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x80",
    b"\n",
    b"\"",
    b"-1",
    b"1e999",
    b"%00",
    b"18446744073709551615",
    b"{}",
    b"\xf0\x9f\x8c\x99",
];
const BYTES_MAX: usize = 4_096;

pub(crate) struct Mutator<'a> {
    state: u64,
    corpus: &'a [&'a [u8]],
}

impl<'a> Mutator<'a> {
    pub(crate) fn new(seed: u64, corpus: &'a [&'a [u8]]) -> Self {
        Self { state: seed, corpus }
    }

    /// The next input.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        let mut input = self.any().to_vec();
        for _ in 0..=self.below(4) {
            self.change(&mut input);
        }
        input.truncate(BYTES_MAX);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(16)).min(input.len());
        match self.below(7) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.number() as u8,
            2 => drop(input.drain(at..end)),
            3 => {
                let again = input[at..end].to_vec();
                input.splice(at..at, again);
            }
            4 => {
                let other = self.any();
                let from = self.below(other.len() + 1);
                input.splice(at.., other[from..].iter().copied());
            }
            _ => {
                let telling = TELLING[self.below(TELLING.len())];
                input.splice(at..end, telling.iter().copied());
            }
        }
    }

    fn any(&mut self) -> &'a [u8] {
        self.corpus[self.below(self.corpus.len())]
    }

    fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// SplitMix64.
    fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }
}
