//! What follows from the claims: holders, queues, due times. Kept up to date with every change of a
//! claim, and never written down.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};

use super::holders::{Holder, Holders};
use super::line::Line;
use crate::claim::{Active, Claim, Phase, Turn};
use crate::identity::ClaimId;
use crate::rules::Rules;
use crate::terms::Name;
use crate::time::Timestamp;

/// Everything derived from the claims, except who has which key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    /// Resources somebody holds or waits for. The others need no memory: fences come from one
    /// counter, so nothing must be remembered about an idle resource (rule 8).
    pub(crate) resources: BTreeMap<Name, Resource>,
    /// Ended claims, oldest first. The order follows from the claims, not from the way here.
    pub(crate) ended: BTreeSet<(Timestamp, ClaimId)>,
    pub(crate) tally: Tally,
    /// When to look at each live claim again. Never too late; sometimes too early.
    pub(crate) agenda: BTreeSet<(Timestamp, ClaimId)>,
}

/// How many claims are in which part of their life.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Claims in a queue.
    pub waiting: usize,
    /// Claims that hold.
    pub active: usize,
    /// Holders that live on the ttl a restart gave them.
    pub graced: usize,
    /// Ended claims still remembered.
    pub ended: usize,
}

/// One resource that is held or wanted.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) holders: Holders,
    /// Nothing if nobody waits.
    pub(crate) lines: Option<Box<Lines>>,
}

/// The waiters of one resource. Together they are its queue, in order of claim id.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Lines {
    /// In line or called.
    pub(crate) waiting: Line,
    /// Called and not come: kept apart, so that "who is next" does not step over them each time.
    pub(crate) passed_over: Line,
}

impl PartialEq for Index {
    /// The agenda does not count: an overdue lease is put off without an event.
    fn eq(&self, other: &Self) -> bool {
        self.resources == other.resources && self.ended == other.ended && self.tally == other.tally
    }
}

impl Index {
    /// Adds what follows from a claim.
    pub(crate) fn link(&mut self, claim: &Claim, rules: &Rules) {
        match &claim.phase {
            Phase::Waiting(waiting) => {
                for name in claim.resources.as_slice() {
                    let lines = self.at(name).lines.get_or_insert_default();
                    lines.of(waiting.turn).insert(claim.id);
                }
                self.tally.waiting += 1;
            }
            Phase::Active(active) => {
                for name in claim.resources.as_slice() {
                    self.at(name).holders.add(holder(claim, active));
                }
                self.tally.active += 1;
                self.tally.graced += usize::from(active.graced);
            }
            Phase::Ended(ended) => {
                self.ended.insert((ended.at.at, claim.id));
                self.tally.ended += 1;
                return;
            }
        }
        self.agenda.insert((due(claim, rules), claim.id));
    }

    /// Takes away what [`Index::link`] added for a live claim. What is empty by then stays, for the
    /// claim may be linked again at once: see [`Index::tidy`].
    pub(crate) fn unlink(&mut self, claim: &Claim, rules: &Rules) {
        match &claim.phase {
            Phase::Waiting(waiting) => {
                for name in claim.resources.as_slice() {
                    let lines = self
                        .at(name)
                        .lines
                        .as_mut()
                        .expect("a waiter stands in line");
                    let was_there = lines.of(waiting.turn).remove(claim.id);
                    assert!(was_there, "a waiter stands in line");
                }
                self.tally.waiting -= 1;
            }
            Phase::Active(active) => {
                for name in claim.resources.as_slice() {
                    self.at(name).holders.remove(holder(claim, active));
                }
                self.tally.active -= 1;
                self.tally.graced -= usize::from(active.graced);
            }
            Phase::Ended(_) => unreachable!("an ended claim does not change"),
        }
        let due = due(claim, rules);
        // An overdue lease that nobody wanted was put off until its linger is over.
        let was_due = self.agenda.remove(&(due, claim.id))
            || self.agenda.remove(&(due + rules.linger, claim.id));
        assert!(was_due, "a live claim is on the agenda");
    }

    /// Drops what the resources of a changed claim do not need any more.
    pub(crate) fn tidy(&mut self, claim: &Claim) {
        for name in claim.resources.as_slice() {
            let Some(resource) = self.resources.get_mut(name) else {
                continue;
            };
            if resource.queue_len() == 0 {
                resource.lines = None;
                if resource.holders.len() == 0 {
                    self.resources.remove(name);
                }
            }
        }
    }

    fn at(&mut self, name: &Name) -> &mut Resource {
        self.resources.entry(name.clone()).or_default()
    }
}

/// When to look at a live claim again, unless something happens to it before.
pub(crate) fn due(claim: &Claim, rules: &Rules) -> Timestamp {
    match &claim.phase {
        Phase::Waiting(waiting) => match waiting.turn {
            Turn::Called { until } => until,
            Turn::InLine | Turn::PassedOver => waiting.seen_at + rules.waiter_lapse,
        },
        Phase::Active(active) => active.deadline,
        Phase::Ended(_) => Timestamp::NEVER,
    }
}

fn holder(claim: &Claim, active: &Active) -> Holder {
    Holder {
        claim: claim.id,
        limit: claim.limit,
        deadline: active.deadline,
    }
}

impl Lines {
    fn of(&mut self, turn: Turn) -> &mut Line {
        match turn {
            Turn::InLine | Turn::Called { .. } => &mut self.waiting,
            Turn::PassedOver => &mut self.passed_over,
        }
    }
}

impl Resource {
    /// Everybody who waits.
    pub(crate) fn queue_len(&self) -> usize {
        self.lines
            .as_ref()
            .map_or(0, |lines| lines.waiting.len() + lines.passed_over.len())
    }

    /// Those who wait for their turn, in order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = ClaimId> + '_ {
        self.lines.iter().flat_map(|lines| lines.waiting.iter())
    }

    /// How many stand before `claim`.
    pub(crate) fn before(&self, claim: ClaimId) -> usize {
        self.lines.as_ref().map_or(0, |lines| {
            lines.waiting.before(claim) + lines.passed_over.before(claim)
        })
    }
}
