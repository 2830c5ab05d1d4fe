//! A state, a clock, and keys that look random.

use std::time::{Duration, Instant};

use claims::{
    ClaimId, Command, Event, Farewell, KeyHash, Limit, Name, Owner, Refusal, Registration,
    Resources, Rules, Span, Stamp, Standing, State, Timestamp, Ttl, WallTime, engine,
};

pub(crate) struct World {
    pub(crate) state: State,
    events: Vec<Event>,
    micros: u64,
    random: u64,
}

impl World {
    pub(crate) fn new() -> Self {
        let rules = Rules { queue_max: usize::MAX, ..Rules::default() };
        Self { state: State::new(rules), events: Vec::new(), micros: 0, random: 0 }
    }

    /// One decision, a microsecond after the one before.
    pub(crate) fn decide(&mut self, command: Command) -> Result<Standing, Refusal> {
        self.micros += 1;
        engine::execute(&mut self.state, command, stamp(self.micros), &mut self.events)
    }

    /// How long these decisions take. If they are several they are at hand at the same time, as they
    /// are for a store under load.
    pub(crate) fn decide_all(
        &mut self,
        mut commands: Vec<Command>,
        expected: impl Fn(&Result<Standing, Refusal>) -> bool,
    ) -> Duration {
        timed(|| {
            engine::foresee(&self.state, &commands);
            for command in commands.drain(..) {
                assert!(expected(&self.decide(command)));
            }
        })
    }

    /// What a store does now and then, not counted: it writes the events down, and sweeps.
    pub(crate) fn tidy(&mut self) {
        if self.events.len() > 256 {
            self.events.clear();
            engine::sweep(&mut self.state, stamp(self.micros), &mut self.events);
        }
    }

    pub(crate) fn register(&mut self, name: &Name) -> ClaimId {
        let registration = registration(self.state.counters().next_claim, name);
        self.decide(Command::Register(registration)).expect("registered").claim.id
    }

    /// The same numbers in every run.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.random += 1;
        (mixed(self.random) % bound as u64) as usize
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

/// Whoever registers as the next claim chooses the key that is told by its id, so that nobody has to
/// look it up.
pub(crate) fn owner(claim: ClaimId) -> Owner {
    let halves = [mixed(claim.0), mixed(!claim.0)];
    let key = u128::from(halves[0]) << 64 | u128::from(halves[1]);
    Owner { claim, key: KeyHash(key.to_le_bytes()) }
}

/// What the claim that will have this id registers.
pub(crate) fn registration(claim: ClaimId, name: &Name) -> Registration {
    Registration {
        key: owner(claim).key,
        resources: Resources::one(name.clone()),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::new(Span::from_secs(3_600)).expect("an hour is a ttl"),
        data: None,
    }
}

pub(crate) fn timed(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

pub(crate) fn release(claim: ClaimId) -> Command {
    Command::End(owner(claim), Farewell::Release)
}

/// Looks random, and is the same each time.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

pub(crate) fn names(count: usize) -> Vec<Name> {
    let name = |nth| Name::new(&format!("resource/number-{nth:08}")).expect("a plain name");
    (0..count).map(name).collect()
}

fn stamp(micros: u64) -> Stamp {
    Stamp { at: Timestamp::from_micros(micros), wall: WallTime::default() }
}
