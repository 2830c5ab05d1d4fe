//! Taking a name, and what to do if it cannot be had.

use std::sync::Arc;
use std::time::Duration;

use claims::contest::{Dice, Vigil};
use claims::{Span, Timestamp};
use thiserror::Error;

use super::held::Held;
use super::{Creation, Names, Sign, Tag};
use crate::fault::{random_name, random_seed};
use crate::{Fault, clock};

/// How a name is tried for.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Who we are, for people.
    pub owner: String,
    /// How long it lives without a sign of life. Without, and where the store has no leases, it lives
    /// until it is released or broken.
    pub ttl: Option<Duration>,
    /// How often to try.
    pub tries: u32,
    /// For how long to try; as long as there are tries left, without.
    pub patience: Option<Duration>,
    /// The shortest and the longest pause between tries.
    pub pauses: (Duration, Duration),
    /// What to do when the tries are used up.
    pub if_not: IfNot,
}

impl Terms {
    /// A hundred tries, two to five seconds apart: what others of this kind do.
    pub fn new(owner: impl Into<String>) -> Self {
        Self {
            owner: owner.into(),
            ttl: None,
            tries: 100,
            patience: None,
            pauses: (Duration::from_secs(2), Duration::from_secs(5)),
            if_not: IfNot::Fail,
        }
    }
}

/// What to do when the tries are used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IfNot {
    /// Say so.
    #[default]
    Fail,
    /// Go on without the lock, with a warning nobody can miss.
    GoOn,
}

/// What came of trying.
#[derive(Debug)]
pub enum Outcome {
    /// It is ours.
    Held(Held),
    /// It is not, and the terms say to go on all the same. There is nothing to release.
    Without(NotMine),
}

/// Why it is not ours.
#[derive(Debug, Error)]
pub enum NotMine {
    /// Somebody has it.
    #[error("{name:?} is held by {} and has not changed for {}{}", owner(.by), seconds(.for_at_least), stuck(.by))]
    Held {
        /// The name.
        name: String,
        /// Who, if the store says so.
        by: Option<Box<Sign>>,
        /// For how long it has been the same, as far as we have seen.
        for_at_least: Duration,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Fault(#[from] Fault),
}

fn owner(by: &Option<Box<Sign>>) -> &str {
    by.as_ref().map_or("somebody unknown", |sign| sign.tag.owner.as_str())
}

fn seconds(span: &Duration) -> String {
    format!("at least {:.0} seconds", span.as_secs_f64())
}

fn stuck(by: &Option<Box<Sign>>) -> &'static str {
    let has_lease = by.as_ref().is_some_and(|sign| sign.tag.ttl_ms.is_some());
    if has_lease { "" } else { "; if its holder is dead, remove it with `tenure blob break`" }
}

/// A lock on a name. Making one does nothing yet.
#[derive(Clone)]
pub struct Mutex {
    names: Arc<dyn Names>,
    name: String,
    terms: Terms,
}

impl Mutex {
    /// Names are independent of each other: each is a lock domain of its own.
    pub fn new(names: Arc<dyn Names>, name: impl Into<String>, terms: Terms) -> Self {
        Self { names, name: name.into(), terms }
    }

    /// With another answer to the question what to do if it cannot be had.
    #[must_use]
    pub fn if_not(mut self, if_not: IfNot) -> Self {
        self.terms.if_not = if_not;
        self
    }

    /// Tries as often as the terms say.
    pub async fn acquire(&self) -> Result<Outcome, NotMine> {
        self.acquire_unless(|| false).await
    }

    /// Tries as often as the terms say, and until `given_up` is true. It is asked between tries: whoever
    /// drops a try under way may leave something behind.
    pub async fn acquire_unless(&self, given_up: impl Fn() -> bool) -> Result<Outcome, NotMine> {
        let mut dice = Dice::new(random_seed().map_err(Fault::from)?);
        let mut bid = self.bid().map_err(NotMine::from)?;
        let mut held_by = None;
        let give_up_at = self
            .terms
            .patience
            .map_or(Timestamp::NEVER, |patience| clock::at() + clock::span(patience));
        for nth in 1..=self.terms.tries.max(1) {
            if nth > 1 {
                if clock::at() >= give_up_at {
                    break;
                }
                let pause = self.pause(&mut dice).min(clock::until(give_up_at));
                tokio::time::sleep(pause).await;
                if given_up() {
                    break;
                }
            }
            match self.attempt(&mut bid).await {
                Ok(Attempt::Won(held)) => return Ok(Outcome::Held(held)),
                Ok(Attempt::Lost { by, unchanged_for }) => {
                    held_by = Some((by, clock::duration(unchanged_for)));
                }
                Err(fault) if fault.is_lasting() || nth >= self.terms.tries => {
                    self.leave_nothing(&bid).await;
                    return Err(fault.into());
                }
                Err(fault) => tracing::debug!(%fault, "a try for the lock failed"),
            }
        }
        self.leave_nothing(&bid).await;
        let (by, for_at_least) = held_by.unwrap_or_default();
        let refusal = NotMine::Held { name: self.name.clone(), by: by.map(Box::new), for_at_least };
        match self.terms.if_not {
            IfNot::Fail => Err(refusal),
            IfNot::GoOn => {
                tracing::error!(lock = self.name, reason = %refusal, "GOING ON WITHOUT THE LOCK");
                Ok(Outcome::Without(refusal))
            }
        }
    }

    fn bid(&self) -> Result<Bid, Fault> {
        let ttl = self.terms.ttl.filter(|_| self.names.has_leases());
        let tag = Tag {
            owner: self.terms.owner.clone(),
            attempt: random_name(8)?,
            ttl_ms: ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)),
            beat: 0,
        };
        Ok(Bid { tag, vigil: Vigil::default(), unsure_since: None })
    }

    async fn attempt(&self, bid: &mut Bid) -> Result<Attempt, Fault> {
        // The lease counts from before it was asked for; if an answer was lost, from that time.
        let before = bid.unsure_since;
        let asked_at = *bid.unsure_since.get_or_insert_with(clock::at);
        let creation = self.names.create(&self.name, &bid.tag).await.inspect_err(|fault| {
            // A clear no leaves no doubt.
            if fault.is_lasting() {
                bid.unsure_since = before;
            }
        })?;
        match creation {
            Creation::Created(sign) => self.read_back(sign, asked_at).await,
            // The answer to an earlier try was lost: it is our own that is in the way.
            Creation::Taken(Some(sign)) if sign.tag.is_same_attempt(&bid.tag) => {
                self.read_back(sign, asked_at).await
            }
            Creation::Taken(by) => {
                bid.unsure_since = None;
                self.consider(by, bid).await
            }
        }
    }

    /// A try without an answer may have been heard all the same. What nobody knows to be its own
    /// would block everybody.
    async fn leave_nothing(&self, bid: &Bid) {
        if bid.unsure_since.is_none() {
            return;
        }
        if let Ok(Some(sign)) = self.names.read(&self.name).await
            && sign.tag.is_same_attempt(&bid.tag)
        {
            let _ = self.names.remove(&self.name, &sign).await;
        }
    }

    /// Somebody has it: wait, or follow it if it is dead.
    async fn consider(&self, by: Option<Sign>, bid: &mut Bid) -> Result<Attempt, Fault> {
        let unchanged_for = bid.vigil.unchanged_for(&by, clock::at());
        let dead = by.as_ref().filter(|sign| {
            self.names.has_leases() && sign.tag.ttl().is_some_and(|ttl| unchanged_for > ttl)
        });
        if let Some(dead) = dead {
            let asked_at = *bid.unsure_since.get_or_insert_with(clock::at);
            let swap = self.names.swap(&self.name, dead, &bid.tag).await?;
            bid.unsure_since = None;
            if let Creation::Created(sign) = swap {
                tracing::info!(lock = self.name, owner = dead.tag.owner, "followed a dead holder");
                return self.read_back(sign, asked_at).await;
            }
        }
        Ok(Attempt::Lost { by, unchanged_for })
    }

    /// The store said yes; look whether it says so to everybody.
    async fn read_back(&self, sign: Sign, asked_at: Timestamp) -> Result<Attempt, Fault> {
        match self.names.read(&self.name).await? {
            Some(seen) if seen.tag.is_same_attempt(&sign.tag) => {
                let names = Arc::clone(&self.names);
                Ok(Attempt::Won(Held::keep(names, self.name.clone(), sign, asked_at)))
            }
            by => Ok(Attempt::Lost { by, unchanged_for: Span::ZERO }),
        }
    }

    fn pause(&self, dice: &mut Dice) -> Duration {
        let (shortest, longest) = self.terms.pauses;
        let spread = clock::span(longest.saturating_sub(shortest)).as_micros();
        shortest + Duration::from_micros(dice.below(spread + 1))
    }

    /// Who has it.
    pub async fn holder(&self) -> Result<Option<Sign>, Fault> {
        self.names.read(&self.name).await
    }

    /// Removes it, whoever has it, and says who had it. The holder is not asked.
    pub async fn wipe(&self) -> Result<Option<Sign>, Fault> {
        let Some(sign) = self.names.read(&self.name).await? else { return Ok(None) };
        if self.names.remove(&self.name, &sign).await? {
            Ok(Some(sign))
        } else {
            Err(Fault::Unable(
                "it changed while it was being broken: somebody is alive, look again",
            ))
        }
    }
}

/// What is asked for, over all the tries.
struct Bid {
    tag: Tag,
    vigil: Vigil<Option<Sign>>,
    /// When the first try was made that has no answer yet.
    unsure_since: Option<Timestamp>,
}

enum Attempt {
    Won(Held),
    Lost { by: Option<Sign>, unchanged_for: Span },
}
