//! The second owner: somebody who was handed a lease, and keeps it alive.

use thiserror::Error;

use super::keep::{Holding, Role};
use super::machine::{Heard, Machine, Now, Step, Why};
use super::pause::Dice;
use super::record::{Lease, Seen, Sighting, Wall, WriterId};
use super::terms::{MARGIN_MIN, Terms};
use crate::time::{Span, Timestamp};

/// A remote on its way to keeping a lease.
#[derive(Debug, Clone)]
pub struct Joining {
    expected: Option<WriterId>,
    margin: Span,
    give_up_at: Option<Timestamp>,
    dice: Dice,
    tries: u32,
}

/// Why a remote may not keep a lease.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CannotKeep {
    /// There is no lease, or its record cannot be read.
    #[error("there is no lease that can be read")]
    NoLease,
    /// Its record does not say how long it lasts.
    #[error("the lease does not say how long it lasts")]
    NoExpiry,
    /// Nobody has won it yet.
    #[error("the lease was never acquired")]
    NeverAcquired,
    /// It was given back: the work is done, or was given up.
    #[error("the lease was released")]
    Released,
    /// It ran out before the remote came. Somebody may be taking it now.
    #[error("the lease ran out before it was joined")]
    Expired,
    /// Somebody else has it now.
    #[error("the lease was lost to {}", .0.as_ref().map_or("somebody unknown", WriterId::as_str))]
    LostTo(Option<WriterId>),
    /// The store did not answer.
    #[error("the store did not answer")]
    NoAnswer,
    /// The caller stopped it.
    #[error("stopped while joining the lease")]
    Stopped,
}

impl Joining {
    /// A remote that was told whose lease it is to keep. Without a name it keeps whoever's it finds.
    pub const fn new(expected: Option<WriterId>, margin: Span, seed: u64) -> Self {
        Self { expected, margin, give_up_at: None, dice: Dice::new(seed), tries: 0 }
    }

    fn accept(&mut self, record: Sighting, now: Now) -> Result<Holding, CannotKeep> {
        if self.expected.is_some() && record.writer != self.expected {
            return Err(CannotKeep::LostTo(record.writer));
        }
        let writer = record.writer.ok_or(CannotKeep::NoLease)?;
        if record.released {
            return Err(CannotKeep::Released);
        }
        let expire = record.expire.filter(|span| *span > Span::ZERO).ok_or(CannotKeep::NoExpiry)?;
        let acquired_at = record.first_acquired_at.ok_or(CannotKeep::NeverAcquired)?;
        let written_at = record.written_at.ok_or(CannotKeep::Expired)?;
        let quarter = Span::from_micros(expire.as_micros() / 4);
        let margin = self.margin.min(quarter).max(MARGIN_MIN);
        let terms = Terms::new(expire, margin).map_err(|_| CannotKeep::NoExpiry)?;
        // By the clocks on the wall: nothing else is known yet. A stamp of the future counts as now.
        let age = now.wall.since(written_at);
        if age >= terms.believe_for() {
            return Err(CannotKeep::Expired);
        }
        let left = terms.believe_for().as_micros() - age.as_micros();
        let lease = Lease {
            writer,
            written_at,
            expire,
            writes: 0,
            first_written_at: Wall::default(),
            first_acquired_at: Some(acquired_at),
            released_at: None,
            by_remote: true,
        };
        let deadline = now.at + Span::from_micros(left);
        let seed = self.dice.below(u64::MAX);
        Ok(Holding::new(terms, lease, Role::Remote, deadline, seed, now))
    }
}

impl Machine for Joining {
    type Outcome = Result<Holding, CannotKeep>;

    fn step(&mut self, heard: Heard, now: Now) -> Step<Self::Outcome> {
        let give_up_at = *self.give_up_at.get_or_insert(now.at + Span::from_secs(10));
        let why = match heard {
            Heard::Saw(Seen::Record(record)) => return Step::Done(self.accept(record, now)),
            Heard::Saw(Seen::Absent) => return Step::Done(Err(CannotKeep::NoLease)),
            Heard::Stop => return Step::Done(Err(CannotKeep::Stopped)),
            Heard::Saw(Seen::Unreadable) => Why::Unreadable,
            Heard::Blind => Why::NoAnswer,
            Heard::Go | Heard::Wrote | Heard::NotWritten | Heard::Unsure => {
                return Step::Read { by: give_up_at };
            }
        };
        if now.at >= give_up_at {
            let unreadable = why == Why::Unreadable;
            let refusal = if unreadable { CannotKeep::NoLease } else { CannotKeep::NoAnswer };
            return Step::Done(Err(refusal));
        }
        let pause = self.dice.backing_off(Span::from_millis(100), self.tries, 8);
        self.tries += 1;
        Step::Wait { until: (now.at + pause).min(give_up_at), why }
    }
}
