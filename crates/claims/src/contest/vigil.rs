//! Watching a record for signs of life, by one's own clock alone.

use crate::time::{Span, Timestamp};

/// What was last seen, and since when it has been so. A record that stays the same for the whole of
/// its lease is dead: its holder would have changed it. No clocks are compared between machines.
///
/// ```
/// use claims::contest::Vigil;
/// use claims::{Span, Timestamp};
///
/// let at = |secs| Timestamp::ZERO + Span::from_secs(secs);
/// let mut vigil = Vigil::default();
/// assert_eq!(vigil.unchanged_for(&"beat 1", at(100)), Span::ZERO);
/// assert_eq!(vigil.unchanged_for(&"beat 1", at(109)), Span::from_secs(9));
/// assert_eq!(vigil.unchanged_for(&"beat 2", at(112)), Span::ZERO);
/// ```
#[derive(Debug, Clone)]
pub struct Vigil<Sign> {
    last: Option<(Sign, Timestamp)>,
}

impl<Sign> Default for Vigil<Sign> {
    fn default() -> Self {
        Self { last: None }
    }
}

impl<Sign: Clone + PartialEq> Vigil<Sign> {
    /// Takes note of what is seen now, and says for how long it has been the same.
    pub fn unchanged_for(&mut self, sign: &Sign, now: Timestamp) -> Span {
        match &self.last {
            Some((last, since)) if last == sign => now.since(*since),
            Some(_) | None => {
                self.last = Some((sign.clone(), now));
                Span::ZERO
            }
        }
    }
}
