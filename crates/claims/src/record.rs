//! A claim as a store writes it down.
//!
//! What changes each time a waiter asks is not in the claim: a [`State`](crate::State) keeps it beside, where
//! it is found without a look at the claim. Whoever writes a claim down needs both, and so they are written
//! as one.

use crate::claim::{Claim, Phase};
use crate::time::{Span, Timestamp};

/// When the claimant of a waiter asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// The last time.
    pub at: Timestamp,
    /// How long it let pass between its last two questions.
    pub gap: Span,
}

/// A claim, or a reference to one, with what is known of it besides.
///
/// ```
/// use claims::*;
/// let mut state = State::new(Rules::default());
/// let registration = Registration {
///     key: KeyHash([7; 16]),
///     resources: Resources::one(Name::new("printer")?),
///     limit: Limit::EXCLUSIVE,
///     ttl: Ttl::from_secs_f64(60.0)?,
///     data: None,
/// };
/// let stamp = Stamp::default();
/// engine::execute(&mut state, Command::Register(registration), stamp, &mut Vec::new())?;
/// let records = state.records_after(None).map(Record::cloned);
/// assert!(State::restore(Rules::default(), state.counters(), records) == state);
/// # Ok::<(), Refusal>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<C = Claim> {
    /// The claim.
    pub claim: C,
    /// When its claimant asked, while it waits; never, otherwise.
    pub seen: Seen,
}

impl Record {
    /// The same, with a reference to the claim.
    pub fn borrowed(&self) -> Record<&Claim> {
        Record { claim: &self.claim, seen: self.seen }
    }
}

impl<'a> Record<&'a Claim> {
    /// What is beside a claim that does not wait is of no time.
    pub(crate) fn new(claim: &'a Claim, seen: Seen) -> Self {
        let waits = matches!(claim.phase, Phase::Waiting(_));
        Self { claim, seen: if waits { seen } else { Seen::default() } }
    }

    /// With a claim of its own.
    pub fn cloned(self) -> Record {
        Record { claim: self.claim.clone(), seen: self.seen }
    }
}

#[cfg(feature = "serde")]
mod written {
    use alloc::boxed::Box;
    use core::borrow::Borrow;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Record, Seen};
    use crate::claim::{Active, Claim, Ended, Extras, Phase, Turn};
    use crate::identity::{ClaimId, KeyHash};
    use crate::state::Seat;
    use crate::terms::{Limit, Resources, Ttl};
    use crate::time::{Span, Stamp, Timestamp};

    /// The form in which it is written: stores are full of it.
    #[derive(Serialize, Deserialize)]
    #[serde(rename = "Claim")]
    struct Form<R, A, E, X> {
        id: ClaimId,
        key: KeyHash,
        resources: R,
        limit: Limit,
        ttl: Ttl,
        created: Stamp,
        phase: Stage<A, E>,
        extras: Option<X>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename = "Phase")]
    enum Stage<A, E> {
        Waiting { seen_at: Timestamp, gap: Span, turn: Turn },
        Active(A),
        Ended(E),
    }

    impl<C: Borrow<Claim>> Serialize for Record<C> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let Claim { id, key, resources, limit, ttl, created, phase, extras, seat: _ } =
                self.claim.borrow();
            let phase = match phase {
                &Phase::Waiting(turn) => {
                    Stage::Waiting { seen_at: self.seen.at, gap: self.seen.gap, turn }
                }
                Phase::Active(active) => Stage::Active(active),
                Phase::Ended(ended) => Stage::Ended(&**ended),
            };
            let (id, key, limit, ttl, created) = (*id, *key, *limit, *ttl, *created);
            let extras = extras.as_deref();
            Form { id, key, resources, limit, ttl, created, phase, extras }.serialize(serializer)
        }
    }

    impl<'de> Deserialize<'de> for Record {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            type Read = Form<Resources, Active, Box<Ended>, Box<Extras>>;
            let Form { id, key, resources, limit, ttl, created, phase, extras } =
                Read::deserialize(deserializer)?;
            let (phase, seen) = match phase {
                Stage::Waiting { seen_at, gap, turn } => {
                    (Phase::Waiting(turn), Seen { at: seen_at, gap })
                }
                Stage::Active(active) => (Phase::Active(active), Seen::default()),
                Stage::Ended(ended) => (Phase::Ended(ended), Seen::default()),
            };
            let seat = Seat::NONE;
            let claim = Claim { id, key, resources, limit, ttl, created, phase, extras, seat };
            Ok(Self { claim, seen })
        }
    }
}
