//! What can happen next, and making it happen.

use claims::{
    ClaimId, Command, Event, Farewell, Fence, Name, Owner, Record, Refusal, Rules, Span, Stamp,
    State, Status, Timestamp, WallTime, engine,
};

use super::cast::{CLAIMS, Part, TTL, key};

/// Longer than a lease, shorter than an overdue lease lingers.
const BEYOND_A_LEASE: Span = Span::from_micros(TTL.as_micros() + 1_000_000);
/// Longer than any turn is kept, and than an overdue lease lingers.
const BEYOND_A_TURN: Span = Span::from_secs(121);

/// One step of a history. The number is a claim's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The next claim registers.
    Register(Part),
    /// A waiter asks for its turn.
    Poll(usize),
    /// A waiter asks, and stays to be told.
    Wait(usize),
    /// A waiter stops waiting to be told.
    Leave(usize),
    /// A holder renews.
    Renew(usize),
    /// A holder releases, a waiter withdraws.
    End(usize),
    /// Time passes, but an overdue lease may still be renewed.
    LeasesEnd,
    /// Time passes, and no turn is kept that long.
    TurnsEnd,
    /// The store stops and comes back from what it wrote down.
    Restart,
}

impl Step {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let by_claim = |claim| {
            [
                Self::Poll(claim),
                Self::Wait(claim),
                Self::Leave(claim),
                Self::Renew(claim),
                Self::End(claim),
            ]
        };
        let by_nobody = [Self::LeasesEnd, Self::TurnsEnd, Self::Restart];
        Part::all().map(Self::Register).chain((0..CLAIMS).flat_map(by_claim)).chain(by_nobody)
    }
}

/// A state, and what an observer remembers of the way to it.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) names: [Name; 2],
    pub(crate) state: State,
    pub(crate) now: Timestamp,
    pub(crate) registered: usize,
    /// Whose claimants have a wait open.
    pub(crate) present: [bool; CLAIMS],
    /// The greatest fence ever given on each resource.
    pub(crate) fences: [Fence; 2],
    /// What happened in the last step.
    pub(crate) events: Vec<Event>,
    pub(crate) steps: Vec<Step>,
    /// Whether the store has done anything since time passed: then nothing is overdue.
    pub(crate) looked: bool,
}

impl Scene {
    pub(crate) fn empty(rules: Rules) -> Self {
        Self {
            names: ["a", "b"].map(|name| Name::new(name).unwrap()),
            state: State::new(rules),
            now: Timestamp::ZERO,
            registered: 0,
            present: [false; CLAIMS],
            fences: [Fence(0); 2],
            events: Vec::new(),
            steps: Vec::new(),
            looked: true,
        }
    }

    /// Whether a step can be taken here and could change something.
    pub(crate) fn has(&self, step: Step) -> bool {
        match step {
            Step::Register(_) => self.registered < CLAIMS,
            Step::Poll(claim) => self.status(claim) == Some(Status::Waiting),
            Step::Wait(claim) => {
                self.status(claim) == Some(Status::Waiting) && !self.present[claim]
            }
            Step::Leave(claim) => self.present[claim],
            Step::Renew(claim) => self.status(claim) == Some(Status::Active),
            Step::End(claim) => {
                matches!(self.status(claim), Some(Status::Waiting | Status::Active))
            }
            Step::LeasesEnd | Step::TurnsEnd | Step::Restart => self.registered > 0,
        }
    }

    pub(crate) fn take(&mut self, step: Step) {
        self.steps.push(step);
        self.events.clear();
        self.looked = true;
        match step {
            Step::Register(part) => {
                let registration = part.registration(self.registered);
                self.registered += 1;
                self.ask(Command::Register(registration)).unwrap();
            }
            Step::Poll(claim) => {
                let _yes_or_not_yet = self.ask(Command::Activate(owner(claim)));
            }
            Step::Wait(claim) => {
                if self.ask(Command::Activate(owner(claim))).is_err() {
                    self.state.attend(owner(claim).claim);
                    self.present[claim] = self.status(claim) == Some(Status::Waiting);
                }
            }
            Step::Leave(claim) => {
                // Its wait may have been granted by the clock just before.
                let _there_or_not = self.ask(Command::Leave(owner(claim)));
                self.present[claim] = false;
            }
            Step::Renew(claim) => {
                let _in_time_or_not = self.ask(Command::Renew(owner(claim), None));
            }
            Step::End(claim) => {
                let farewell = match self.status(claim) {
                    Some(Status::Active) => Farewell::Release,
                    _ => Farewell::Withdraw,
                };
                let _in_time_or_not = self.ask(Command::End(owner(claim), farewell));
            }
            Step::LeasesEnd => self.pass(BEYOND_A_LEASE),
            Step::TurnsEnd => self.pass(BEYOND_A_TURN),
            Step::Restart => {
                self.state = self.restored();
                self.present = [false; CLAIMS];
                engine::resume(&mut self.state, stamp(self.now), &mut self.events);
            }
        }
        self.close_waits();
    }

    /// Whoever waits to be told is told in time; otherwise nobody needs to look.
    fn pass(&mut self, span: Span) {
        self.now = self.now + span;
        self.looked = false;
        if self.present.contains(&true) {
            self.sweep();
        }
    }

    pub(crate) fn sweep(&mut self) {
        engine::sweep(&mut self.state, stamp(self.now), &mut self.events);
        self.looked = true;
        self.close_waits();
    }

    /// A wait is over when it was granted.
    fn close_waits(&mut self) {
        for claim in 0..CLAIMS {
            self.present[claim] &= self.status(claim) == Some(Status::Waiting);
        }
    }

    fn ask(&mut self, command: Command) -> Result<(), Refusal> {
        let (state, events) = (&mut self.state, &mut self.events);
        engine::execute(state, command, stamp(self.now), events).map(drop)
    }

    /// The state as a snapshot of this scene and the events after it give it back.
    pub(crate) fn replayed(&self, after: &Self) -> State {
        let mut state = self.restored();
        for event in &after.events {
            engine::apply(&mut state, event, stamp(after.now));
        }
        state
    }

    /// The state as a snapshot gives it back.
    fn restored(&self) -> State {
        let records = self.state.records_after(None).map(Record::cloned);
        State::restore(self.state.rules().clone(), self.state.counters(), records)
    }

    fn status(&self, claim: usize) -> Option<Status> {
        self.state.claim(owner(claim).claim).map(claims::Claim::status)
    }
}

/// The whole history, for whoever has to find out what went wrong.
impl std::fmt::Display for Scene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let claims: Vec<_> = self.state.claims_after(None).collect();
        write!(f, "{:#?}\nthe last with {:#?}\nled to {claims:#?}", self.steps, self.events)
    }
}

/// Claims are numbered from 1 in the order of their registration.
fn owner(claim: usize) -> Owner {
    Owner { claim: ClaimId(claim as u64 + 1), key: key(claim) }
}

fn stamp(at: Timestamp) -> Stamp {
    Stamp { at, wall: WallTime::default() }
}
