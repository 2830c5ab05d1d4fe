//! Hostile input for whatever reads bytes of others.
//!
//! One file in `targets/` for each kind of input. A target takes any bytes at all and panics if
//! something that must hold does not: so the same function serves libFuzzer, which looks for bytes
//! that lead somewhere new (`make fuzz`), the smoke test, which tries a few thousand (`make test`),
//! and whoever wants to see one input again (`cargo run -p fuzz -- TARGET FILE`).

pub mod gauge;
pub mod targets;

mod disk;
mod house;
mod source;
mod told;
mod written;
mod xml;

/// What one byte of input may cost in memory, at most.
pub const BYTES_PER_BYTE: usize = 4 << 10;
/// What an input may cost in memory whatever its size: a server, its threads and its first claims.
pub const BYTES_AT_LEAST: usize = 4 << 20;

/// Something that reads input of others.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, that of its file and of its corpus.
    pub name: &'static str,
    run: fn(&[u8]),
}

impl Target {
    const fn new(name: &'static str, run: fn(&[u8])) -> Self {
        Self { name, run }
    }

    /// The target of this name. What is known when it is compiled brings nothing of the others.
    pub const fn find(name: &str) -> Option<Self> {
        let mut nth = 0;
        while nth < targets::ALL.len() {
            if is_same(targets::ALL[nth].name, name) {
                return Some(targets::ALL[nth]);
            }
            nth += 1;
        }
        None
    }

    /// Gives it some input, and says how much memory that took at most.
    ///
    /// # Panics
    /// If something does not hold that must, or if it took more memory than it may.
    pub fn run(&self, input: &[u8]) -> usize {
        let took = gauge::peak_of(|| (self.run)(input));
        let may = BYTES_AT_LEAST + BYTES_PER_BYTE * input.len();
        assert!(took <= may, "{} bytes of input took {took} bytes of memory", input.len());
        took
    }
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
