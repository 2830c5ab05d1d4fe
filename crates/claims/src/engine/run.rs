//! One command, or what is due by itself, on its way through the engine: what happens is recorded, and what that
//! makes possible is settled.

use alloc::vec::Vec;

use super::apply;
use super::settle::settle_slot;
use crate::claim::{Ending, Phase, Turn};
use crate::event::Event;
use crate::identity::ClaimId;
use crate::state::{FORGET_BATCH, Slot, Slots, State};
use crate::time::{Span, Stamp, Timestamp};

/// An entry that was dealt with is never put back where it was: that would be for ever.
const LINGER_MIN: Span = Span::from_micros(1);

/// One command being run.
pub(super) struct Run<'a> {
    pub(super) state: &'a mut State,
    pub(super) stamp: Stamp,
    pub(super) events: &'a mut Vec<Event>,
    /// How many events there may be before the rest is left for later.
    budget: usize,
    /// The moment that is being settled: the present one, unless something was due before it.
    moment: Timestamp,
}

impl<'a> Run<'a> {
    pub(super) fn new(state: &'a mut State, stamp: Stamp, events: &'a mut Vec<Event>) -> Self {
        // With less, a command might end each time between calling somebody on one resource and
        // finding out on another that it was too early.
        let enough = state.rules.events_max.max(2 * state.rules.called_max + 2);
        Self { budget: events.len() + enough, moment: stamp.at, state, stamp, events }
    }

    /// Whatever is due by now happens before anything else, in order and as of its own moment. So it
    /// makes no difference to any answer when somebody swept, or whether (rule 5).
    pub(super) fn catch_up(&mut self) {
        self.settle(None);
        while self.events.len() < self.budget
            && let Some((at, claim)) = self.state.index.agenda.pop_until(self.stamp.at)
        {
            if self.state.due(claim).is_some_and(|due| due <= at) {
                self.moment = at;
                self.settle_claim(claim);
                if self.state.due(claim).is_some_and(|due| due <= at) {
                    self.overdue(claim);
                    self.settle(None);
                }
            }
            self.look_again(claim, at);
        }
        self.moment = self.stamp.at;
    }

    /// Half of the events are kept for what the command itself is about: however much is due
    /// elsewhere, nobody is told to wait for what has long been free.
    pub(super) fn catch_up_for_a_command(&mut self) {
        let whole = self.budget;
        self.budget -= (whole - self.events.len()) / 2;
        self.catch_up();
        self.budget = whole;
    }

    /// An event that makes nothing possible for anybody.
    pub(super) fn note(&mut self, event: Event) {
        apply(self.state, &event, self.stamp);
        self.events.push(event);
    }

    pub(super) fn record(&mut self, event: Event) {
        // A claim that ends lets go of its resources, and a new one comes to them only now.
        let before = self.slots(&event);
        apply(self.state, &event, self.stamp);
        // A renewal or a keeper makes nothing possible for anybody.
        if !matches!(event, Event::Renewed { .. } | Event::Appointed { .. }) {
            let slots = before.or_else(|| self.slots(&event));
            self.unsettle(&slots.unwrap_or_default());
        }
        self.events.push(event);
    }

    /// Where the claim that an event is about holds or waits.
    fn slots(&self, event: &Event) -> Option<Slots> {
        self.state.claim(event.claim()?).map(Slots::of)
    }

    /// Something may have become possible for those who wait there.
    fn unsettle(&mut self, slots: &Slots) {
        for &slot in slots.as_slice() {
            if self.state.index[slot].lines.is_some() {
                self.state.unsettled.insert(slot);
                self.state.recent = slot;
            }
        }
    }

    fn settle_claim(&mut self, claim: ClaimId) {
        let slots = Slots::of(self.state.known(claim));
        for &slot in slots.as_slice() {
            self.settle_slot(slot, None);
        }
        self.settle(None);
    }

    pub(super) fn settle(&mut self, asking: Option<ClaimId>) {
        while self.events.len() < self.budget
            && let Some(slot) = self.state.unsettled.pop_first()
        {
            self.settle_slot(slot, asking);
        }
    }

    /// The resources of a claim, before others that there was no room for.
    pub(super) fn settle_first(&mut self, claim: ClaimId, asking: Option<ClaimId>) {
        let slots = Slots::of(self.state.known(claim));
        for slot in slots.as_slice() {
            if self.state.unsettled.remove(*slot) {
                self.settle_slot(*slot, asking);
            }
        }
    }

    fn settle_slot(&mut self, slot: Slot, asking: Option<ClaimId>) {
        while let Some(mut event) = settle_slot(self.state, slot, self.moment, asking, &mut None) {
            if self.events.len() >= self.budget {
                self.state.unsettled.insert(slot);
                return;
            }
            // A turn may have come a while ago; the lease runs from the answer (rule 4).
            if let Event::Activated { deadline, .. } = &mut event {
                *deadline = *deadline + self.stamp.at.since(self.moment);
            }
            self.record(event);
        }
    }

    /// Puts a live claim on the agenda again, after an entry at `at` was dealt with. An overdue lease
    /// that nobody wants may stay until its linger is over (rule 5).
    fn look_again(&mut self, claim: ClaimId, at: Timestamp) {
        let Some(due) = self.state.due(claim) else { return };
        let lingers = matches!(self.state.known(claim).phase, Phase::Active(_)) && due <= at;
        let next = if lingers { (due + self.state.rules.linger).max(at + LINGER_MIN) } else { due };
        self.state.index.agenda.push(next, claim);
    }

    /// A claim that is due although its resources are settled.
    fn overdue(&mut self, id: ClaimId) {
        match &self.state.known(id).phase {
            Phase::Waiting(turn) => match *turn {
                Turn::Called { .. } => self.record(Event::CalledOff { claim: id }),
                Turn::InLine | Turn::PassedOver if self.state.present.contains(&id) => {
                    let gap = self.state.brief(id).seen.gap;
                    self.record(Event::Seen { claim: id, gap });
                }
                Turn::InLine | Turn::PassedOver => {
                    self.record(Event::Ended { claim: id, ending: Ending::Expired });
                }
            },
            // Not wanted by anybody.
            Phase::Active(_) => {}
            Phase::Ended(_) => unreachable!("an ended claim is not due"),
        }
    }

    /// Rule 12.
    pub(super) fn forget(&mut self) {
        let rules = &self.state.rules;
        let surplus = self.state.index.ended.len().saturating_sub(rules.ended_max);
        let surplus = if surplus > FORGET_BATCH { surplus } else { 0 };
        let faded = self.state.index.ended.iter().take(rules.events_max.max(surplus));
        let faded = faded.take_while(|(at, _)| *at + rules.retain <= self.stamp.at).count();
        let count = surplus.max(faded);
        if count > 0 {
            self.record(Event::Forgotten { count: u32::try_from(count).unwrap_or(u32::MAX) });
        }
    }
}
