//! Running a command: catch up with the clock, decide, settle what that made possible.

use alloc::vec::Vec;

use super::settle::settle_slot;
use super::{apply, decide};
use crate::claim::{Ending, Phase, Turn};
use crate::command::Command;
use crate::engine::decide::Subject;
use crate::event::Event;
use crate::identity::ClaimId;
use crate::refusal::Refusal;
use crate::state::{FORGET_BATCH, Place, Slot, Slots, Standing, State, due};
use crate::time::{Span, Stamp, Timestamp};

/// Runs one command at one moment. Whatever happened is appended to `events` and must be kept
/// before the answer leaves, also when the answer is a refusal (rule 5).
///
/// ```
/// use claims::*;
/// let mut state = State::new(Rules::default());
/// let mut events = Vec::new();
/// let registration = Registration {
///     key: KeyHash([7; 16]),
///     resources: Resources::one(Name::new("printer")?),
///     limit: Limit::EXCLUSIVE,
///     ttl: Ttl::from_secs_f64(60.0)?,
///     data: None,
/// };
/// let standing = engine::execute(
///     &mut state,
///     Command::Register(registration),
///     Stamp::default(),
///     &mut events,
/// )?;
/// assert_eq!(standing.claim.status(), Status::Active);
/// assert!(matches!(events[..], [Event::Registered { .. }, Event::Activated { .. }]));
/// # Ok::<(), Refusal>(())
/// ```
pub fn execute(
    state: &mut State,
    command: Command,
    stamp: Stamp,
    events: &mut Vec<Event>,
) -> Result<Standing, Refusal> {
    let mut run = Run::new(state, stamp, events);
    run.catch_up_for_a_command();
    let more_is_due = !run.state.unsettled.is_empty();

    let subject = Subject::of(&command);
    // Only a registration or an activation request is a claimant that can be told "yours" (rule 3).
    let asks = matches!(command, Command::Register(_) | Command::Activate(_));
    let activates = matches!(command, Command::Activate(_));
    let leaves = matches!(command, Command::Leave(_));
    // The claim may still be on its way from far memory.
    let guess = match &subject {
        Subject::Claim(id) if activates => run.state.guess_place(*id),
        Subject::Claim(_) | Subject::Key(_) => None,
    };
    let decided = decide(run.state, command, stamp.at)?;
    let claim = subject.claim(run.state, decided.as_ref());
    if let Some(event) = decided {
        run.record(event);
    }
    if leaves {
        run.state.leave(claim);
    }
    if more_is_due {
        run.settle_first(claim, asks.then_some(claim));
    }
    run.settle(asks.then_some(claim));

    let claim = run.state.known(claim);
    let place = run.state.place_by(guess, claim);
    match place {
        Some(Place { position, holders }) if activates => {
            Err(Refusal::StillWaiting { claim: claim.id, position, holders })
        }
        place => Ok(Standing { claim: claim.clone(), place, now: stamp.at }),
    }
}

/// Does what is due by itself: leases that ended, turns that are over, memories that fade. Bounded;
/// [`State::next_due`] tells whether there is more.
pub fn sweep(state: &mut State, stamp: Stamp, events: &mut Vec<Event>) {
    let mut run = Run::new(state, stamp, events);
    run.catch_up();
    run.forget();
}

/// As [`sweep`], but forgets nothing: whoever has only a part does not know what is oldest.
pub(super) fn catch_up(state: &mut State, stamp: Stamp, events: &mut Vec<Event>) {
    Run::new(state, stamp, events).catch_up();
}

/// The store is back after it had not been running (rule 11).
pub fn resume(state: &mut State, stamp: Stamp, events: &mut Vec<Event>) {
    let mut run = Run::new(state, stamp, events);
    run.record(Event::Resumed);
    let names = run.state.index.names.values();
    run.state.unsettled =
        names.copied().filter(|&at| run.state.index[at].lines.is_some()).collect();
    run.settle(None);
}

/// Begins a new epoch after a restore from a backup. False if there is none left.
pub fn begin_epoch(state: &mut State, stamp: Stamp, events: &mut Vec<Event>) -> bool {
    let Some(epoch) = state.counters.epoch_reached().next() else {
        return false;
    };
    Run::new(state, stamp, events).record(Event::EpochBegan { epoch });
    true
}

/// An entry that was dealt with is never put back where it was: that would be for ever.
const LINGER_MIN: Span = Span::from_micros(1);

/// One command being run.
struct Run<'a> {
    state: &'a mut State,
    stamp: Stamp,
    events: &'a mut Vec<Event>,
    /// How many events there may be before the rest is left for later.
    budget: usize,
    /// The moment that is being settled: the present one, unless something was due before it.
    moment: Timestamp,
}

impl<'a> Run<'a> {
    fn new(state: &'a mut State, stamp: Stamp, events: &'a mut Vec<Event>) -> Self {
        // With less, a command might end each time between calling somebody on one resource and
        // finding out on another that it was too early.
        let enough = state.rules.events_max.max(2 * state.rules.called_max + 2);
        Self { budget: events.len() + enough, moment: stamp.at, state, stamp, events }
    }

    /// Whatever is due by now happens before anything else, in order and as of its own moment. So it
    /// makes no difference to any answer when somebody swept, or whether (rule 5).
    fn catch_up(&mut self) {
        self.settle(None);
        while self.events.len() < self.budget
            && let Some((at, claim)) = self.state.index.agenda.pop_until(self.stamp.at)
        {
            if self.due(claim).is_some_and(|due| due <= at) {
                self.moment = at;
                self.settle_claim(claim);
                if self.due(claim).is_some_and(|due| due <= at) {
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
    fn catch_up_for_a_command(&mut self) {
        let whole = self.budget;
        self.budget -= (whole - self.events.len()) / 2;
        self.catch_up();
        self.budget = whole;
    }

    fn record(&mut self, event: Event) {
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

    fn settle(&mut self, asking: Option<ClaimId>) {
        while self.events.len() < self.budget
            && let Some(slot) = self.state.unsettled.pop_first()
        {
            self.settle_slot(slot, asking);
        }
    }

    /// The resources of a claim, before others that there was no room for.
    fn settle_first(&mut self, claim: ClaimId, asking: Option<ClaimId>) {
        let slots = Slots::of(self.state.known(claim));
        for slot in slots.as_slice() {
            if self.state.unsettled.remove(*slot) {
                self.settle_slot(*slot, asking);
            }
        }
    }

    fn settle_slot(&mut self, slot: Slot, asking: Option<ClaimId>) {
        while let Some(mut event) = settle_slot(self.state, slot, self.moment, asking) {
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

    /// When a claim is due, if it is live.
    fn due(&self, claim: ClaimId) -> Option<Timestamp> {
        let claim = self.state.claim(claim)?;
        (!matches!(claim.phase, Phase::Ended(_))).then(|| due(claim, &self.state.rules))
    }

    /// Puts a live claim on the agenda again, after an entry at `at` was dealt with. An overdue lease
    /// that nobody wants may stay until its linger is over (rule 5).
    fn look_again(&mut self, claim: ClaimId, at: Timestamp) {
        let Some(due) = self.due(claim) else { return };
        let lingers = matches!(self.state.known(claim).phase, Phase::Active(_)) && due <= at;
        let next = if lingers { (due + self.state.rules.linger).max(at + LINGER_MIN) } else { due };
        self.state.index.agenda.push(next, claim);
    }

    /// A claim that is due although its resources are settled.
    fn overdue(&mut self, id: ClaimId) {
        match &self.state.known(id).phase {
            Phase::Waiting(waiting) => match waiting.turn {
                Turn::Called { .. } => self.record(Event::CalledOff { claim: id }),
                Turn::InLine | Turn::PassedOver if self.state.present.contains(&id) => {
                    self.record(Event::Seen { claim: id, gap: waiting.gap });
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
    fn forget(&mut self) {
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
