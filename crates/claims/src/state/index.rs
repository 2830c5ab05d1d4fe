//! What follows from the claims: holders, queues, due times. Kept up to date with every change of a
//! claim, and never written down.

use alloc::boxed::Box;
use alloc::collections::btree_map::Entry;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::agenda::Agenda;
use super::holders::{Holder, Holders};
use super::line::Line;
use super::slots::{Seat, Slot, Slots};
use crate::claim::{Active, Claim, Phase, Turn};
use crate::identity::ClaimId;
use crate::record::{Record, Seen};
use crate::rules::Rules;
use crate::terms::{Name, Resources};
use crate::time::Timestamp;

/// How many empty lines are kept for later.
const IDLE_LINES_MAX: usize = 16;

/// Everything derived from the claims, except who has which key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    /// Resources somebody holds or waits for. The others need no memory: fences come from one
    /// counter, so nothing must be remembered about an idle resource (rule 8).
    pub(crate) names: BTreeMap<Name, Slot>,
    resources: Vec<Resource>,
    /// Slots of resources that became idle, to be used again.
    free: Vec<Slot>,
    /// Lines nobody stands in any more: most claims pass through one on their way to be active, and
    /// should not pay for memory each time.
    #[allow(clippy::vec_box, reason = "they are handed on as they are, box and all")]
    idle_lines: Vec<Box<Lines>>,
    /// Ended claims, oldest first. The order follows from the claims, not from the way here.
    pub(crate) ended: BTreeSet<(Timestamp, ClaimId)>,
    pub(crate) tally: Tally,
    pub(crate) agenda: Agenda,
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

impl Tally {
    /// Claims that hold or wait.
    pub fn live(&self) -> usize {
        self.waiting + self.active
    }
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
    /// Not called yet.
    in_line: Line,
    /// Called: kept apart, so that they are found, wherever they stand, when their turn is not theirs
    /// any more.
    called: Line,
    /// Called and not come: kept apart, so that "who is next" does not step over them each time.
    passed_over: Line,
    /// How many of them wait for another resource, too.
    elsewhere: usize,
}

impl PartialEq for Index {
    /// The agenda does not count: it may be early in more than one way.
    fn eq(&self, other: &Self) -> bool {
        // Slots are numbered by chance; what they stand for counts.
        fn resources(index: &Index) -> impl Iterator<Item = (&Name, &Resource)> {
            index.names.iter().map(|(name, &at)| (name, &index[at]))
        }
        self.ended == other.ended
            && self.tally == other.tally
            && resources(self).eq(resources(other))
    }
}

impl core::ops::Index<Slot> for Index {
    type Output = Resource;
    fn index(&self, slot: Slot) -> &Resource {
        &self.resources[slot.0 as usize]
    }
}

impl core::ops::IndexMut<Slot> for Index {
    fn index_mut(&mut self, slot: Slot) -> &mut Resource {
        &mut self.resources[slot.0 as usize]
    }
}

impl Index {
    /// What is there, if that ever was a slot.
    pub(crate) fn at(&self, Slot(nth): Slot) -> Option<&Resource> {
        self.resources.get(nth as usize)
    }

    /// A resource that is held or wanted.
    pub(crate) fn named(&self, name: &Name) -> Option<&Resource> {
        self.names.get(name).map(|&slot| &self[slot])
    }

    /// Gives a claim the slots of its resources, if it is live. Its names become the ones that
    /// everybody shares.
    pub(crate) fn enter(&mut self, claim: &mut Claim) {
        if matches!(claim.phase, Phase::Ended(_)) {
            claim.seat = Seat::NONE;
            return;
        }
        if let [name] = claim.resources.as_slice() {
            let (name, slot) = self.enter_name(name.clone());
            claim.resources = Resources::one(name);
            claim.seat = Seat::at(slot);
            return;
        }
        let names = claim.resources.as_slice().iter();
        let (names, slots): (Vec<Name>, Vec<Slot>) =
            names.map(|name| self.enter_name(name.clone())).unzip();
        claim.seat = Seat::at(slots[0]);
        claim.resources = Resources::several(names, slots);
    }

    /// The slot of a resource, and its name as everybody shares it. A new slot if it was idle.
    fn enter_name(&mut self, name: Name) -> (Name, Slot) {
        match self.names.entry(name) {
            Entry::Occupied(entry) => (entry.key().clone(), *entry.get()),
            Entry::Vacant(entry) => {
                let slot = self.free.pop().unwrap_or_else(|| {
                    self.resources.push(Resource::default());
                    Slot(u32::try_from(self.resources.len() - 1).expect("memory ends before"))
                });
                (entry.key().clone(), *entry.insert(slot))
            }
        }
    }

    /// Gives a claim its places in lines or its holdings.
    pub(crate) fn place(&mut self, claim: &Claim) {
        let slots = Slots::of(claim);
        match &claim.phase {
            &Phase::Waiting(turn) => {
                for &slot in slots.as_slice() {
                    if self[slot].lines.is_none() {
                        self[slot].lines = Some(self.idle_lines.pop().unwrap_or_default());
                    }
                    let lines = self[slot].lines.as_mut().expect("set above if there were none");
                    lines.of(turn).insert(claim.id);
                    lines.elsewhere += usize::from(slots.as_slice().len() > 1);
                }
                self.tally.waiting += 1;
            }
            Phase::Active(active) => {
                for &slot in slots.as_slice() {
                    self[slot].holders.add(holder(claim, active));
                }
                self.tally.active += 1;
                self.tally.graced += usize::from(active.graced);
            }
            Phase::Ended(ended) => {
                self.ended.insert((ended.at.at, claim.id));
                self.tally.ended += 1;
            }
        }
    }

    /// Takes a live claim's places and holdings away. What is empty by then stays, for the claim may
    /// be placed again at once: see [`Index::tidy`].
    pub(crate) fn displace(&mut self, claim: &Claim) {
        let slots = Slots::of(claim);
        match &claim.phase {
            &Phase::Waiting(turn) => {
                for &slot in slots.as_slice() {
                    let lines = self[slot].lines.as_mut().expect("a waiter stands in line");
                    let was_there = lines.of(turn).remove(claim.id);
                    assert!(was_there, "a waiter stands in line");
                    lines.elsewhere -= usize::from(slots.as_slice().len() > 1);
                }
                self.tally.waiting -= 1;
            }
            Phase::Active(active) => {
                for &slot in slots.as_slice() {
                    self[slot].holders.remove(holder(claim, active));
                }
                self.tally.active -= 1;
                self.tally.graced -= usize::from(active.graced);
            }
            Phase::Ended(_) => unreachable!("an ended claim does not change"),
        }
    }

    /// Drops what the resources of a changed claim do not need any more.
    pub(crate) fn tidy(&mut self, claim: &Claim) {
        let slots = Slots::of(claim);
        for (name, &slot) in claim.resources.as_slice().iter().zip(slots.as_slice()) {
            let resource = &mut self[slot];
            if resource.queue_len() == 0 {
                let idle = resource.lines.take();
                if resource.holders.len() == 0 {
                    self.names.remove(name);
                    self.free.push(slot);
                }
                if self.idle_lines.len() < IDLE_LINES_MAX {
                    self.idle_lines.extend(idle);
                }
            }
        }
    }
}

impl Record<&Claim> {
    /// When to look at it again, unless something happens to it before; nothing if that is never. For
    /// stores that must find what is due by themselves.
    pub fn due(&self, rules: &Rules) -> Option<Timestamp> {
        Some(due(self.claim, &self.seen, rules)).filter(|&at| at < Timestamp::NEVER)
    }
}

/// When to look at a live claim again, unless something happens to it before.
pub(crate) fn due(claim: &Claim, seen: &Seen, rules: &Rules) -> Timestamp {
    match &claim.phase {
        Phase::Waiting(turn) => {
            let lapses_at = seen.at + rules.waiter_lapse;
            match *turn {
                Turn::Called { until } => until.min(lapses_at),
                Turn::InLine | Turn::PassedOver => lapses_at,
            }
        }
        Phase::Active(active) => active.deadline,
        Phase::Ended(_) => Timestamp::NEVER,
    }
}

fn holder(claim: &Claim, active: &Active) -> Holder {
    Holder { claim: claim.id, limit: claim.limit, deadline: active.deadline }
}

impl Lines {
    fn of(&mut self, turn: Turn) -> &mut Line {
        match turn {
            Turn::InLine => &mut self.in_line,
            Turn::Called { .. } => &mut self.called,
            Turn::PassedOver => &mut self.passed_over,
        }
    }

    fn each(&self) -> [&Line; 3] {
        [&self.in_line, &self.called, &self.passed_over]
    }
}

impl Resource {
    /// Everybody who waits.
    pub(crate) fn queue_len(&self) -> usize {
        self.lines.iter().flat_map(|lines| lines.each()).map(Line::len).sum()
    }

    /// Those who wait for their turn or have it, in order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = ClaimId> + '_ {
        self.lines.iter().flat_map(|lines| merged(lines.in_line.iter(), lines.called.iter()))
    }

    /// Everybody who waits, in order.
    pub(crate) fn queue(&self) -> impl Iterator<Item = ClaimId> + '_ {
        let passed_over = self.lines.iter().flat_map(|lines| lines.passed_over.iter());
        merged(self.waiting(), passed_over)
    }

    /// How many were called.
    pub(crate) fn called(&self) -> usize {
        self.lines.as_ref().map_or(0, |lines| lines.called.len())
    }

    /// The last of those who were called.
    pub(crate) fn last_called(&self) -> Option<ClaimId> {
        self.lines.as_ref()?.called.last()
    }

    /// Whether so many wait that their places are not all near the processor.
    pub(crate) fn is_long(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| lines.in_line.is_long())
    }

    /// Whether everybody who waits here waits for nothing else.
    pub(crate) fn is_apart(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| lines.elsewhere == 0)
    }

    /// Whether a claim waits here for its turn, and has not been called.
    pub(crate) fn has_in_line(&self, claim: ClaimId) -> bool {
        self.lines.as_ref().is_some_and(|lines| lines.in_line.has(claim))
    }

    /// Reads what a decision about one of its waiters will need, and nothing comes of it.
    pub(crate) fn touch(&self, claim: ClaimId) -> u64 {
        self.lines.as_ref().map_or(0, |lines| lines.in_line.touch(claim))
    }

    /// Asks for what a decision about one of its waiters will need.
    pub(crate) fn fetch(&self, claim: ClaimId) {
        self.lines.iter().for_each(|lines| lines.in_line.fetch(claim));
    }

    /// How many stand before `claim`.
    pub(crate) fn before(&self, claim: ClaimId) -> usize {
        let lines = self.lines.iter().flat_map(|lines| lines.each());
        lines.map(|line| line.before(claim)).sum()
    }
}

/// Two sorted sequences as one.
fn merged<T: Ord>(
    one: impl Iterator<Item = T>,
    other: impl Iterator<Item = T>,
) -> impl Iterator<Item = T> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    core::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(a), Some(b)) if b < a => other.next(),
        (Some(_), _) => one.next(),
        (None, _) => other.next(),
    })
}
