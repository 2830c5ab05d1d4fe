//! What committing costs: counted by the one thread that commits, copied when somebody looks.

use claims::Span;

/// Answers that one commit let go: from one to all clients of a busy server.
const ANSWERS: [u64; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/// Microseconds of a sync: from a disk with a battery to one that is dying.
const SYNC: [u64; 14] = [
    50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 102_400, 409_600,
    1_638_400,
];

/// What the commits of a store add up to since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commits {
    /// How many answers each commit let go.
    pub answers: Histogram<{ ANSWERS.len() }>,
    /// How long each sync of the log took, in microseconds.
    pub sync: Histogram<{ SYNC.len() }>,
}

impl Default for Commits {
    fn default() -> Self {
        Self { answers: Histogram::new(&ANSWERS), sync: Histogram::new(&SYNC) }
    }
}

impl Commits {
    /// A commit kept something, and let this many answers go.
    pub(crate) fn kept(&mut self, answers: usize) {
        self.answers.observe(answers as u64);
    }

    /// A sync took this long.
    pub(crate) fn synced(&mut self, took: Span) {
        self.sync.observe(took.as_micros());
    }
}

/// How often a figure was how large, in buckets that never change.
///
/// ```
/// use registry::Histogram;
/// let mut sizes = Histogram::new(&[10, 100]);
/// for size in [7, 10, 11, 1_000] {
///     sizes.observe(size);
/// }
/// assert_eq!(sizes.up_to().collect::<Vec<_>>(), [(10, 2), (100, 3)]);
/// assert_eq!((sizes.count(), sizes.sum()), (4, 1_028));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Histogram<const N: usize> {
    /// The largest figure of each bucket, rising.
    bounds: &'static [u64; N],
    counts: [u64; N],
    count: u64,
    sum: u64,
}

impl<const N: usize> Histogram<N> {
    /// Nothing yet, in buckets with these upper bounds.
    pub const fn new(bounds: &'static [u64; N]) -> Self {
        Self { bounds, counts: [0; N], count: 0, sum: 0 }
    }

    /// Counts one figure.
    pub fn observe(&mut self, figure: u64) {
        let bucket = self.bounds.partition_point(|&bound| bound < figure);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.count += 1;
        self.sum = self.sum.saturating_add(figure);
    }

    /// Each bound, and how many figures were not above it.
    pub fn up_to(&self) -> impl Iterator<Item = (u64, u64)> {
        self.bounds.iter().zip(self.counts).scan(0, |below, (&bound, count)| {
            *below += count;
            Some((bound, *below))
        })
    }

    /// How many figures there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// What they add up to.
    pub fn sum(&self) -> u64 {
        self.sum
    }
}
