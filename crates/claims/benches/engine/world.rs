//! A state, a clock, and keys that look random.

use claims::{
    Command, Event, Farewell, KeyHash, Limit, Name, Owner, Refusal, Registration, Resources, Rules,
    Span, Stamp, Standing, State, Timestamp, Ttl, WallTime, engine,
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
        Self { state: State::new(rules), events: Vec::new(), micros: 0, random: 0x9E37_79B9 }
    }

    /// One decision, a microsecond after the one before.
    pub(crate) fn decide(&mut self, command: Command) -> Result<Standing, Refusal> {
        self.micros += 1;
        engine::execute(&mut self.state, command, stamp(self.micros), &mut self.events)
    }

    /// What a store does now and then, not counted: it writes the events down, and sweeps.
    pub(crate) fn tidy(&mut self) {
        if self.events.len() > 256 {
            self.events.clear();
            engine::sweep(&mut self.state, stamp(self.micros), &mut self.events);
        }
    }

    pub(crate) fn registration(&mut self, name: &Name) -> Registration {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&self.random().to_le_bytes());
        key[8..].copy_from_slice(&self.random().to_le_bytes());
        Registration {
            key: KeyHash(key),
            resources: Resources::one(name.clone()),
            limit: Limit::EXCLUSIVE,
            ttl: Ttl::new(Span::from_secs(3_600)).expect("an hour is a ttl"),
            data: None,
        }
    }

    pub(crate) fn register(&mut self, name: &Name) -> Owner {
        let registration = self.registration(name);
        let key = registration.key;
        let claim = self.decide(Command::Register(registration)).expect("registered").claim.id;
        Owner { claim, key }
    }

    /// The same numbers in every run.
    pub(crate) fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.random() % bound as u64) as usize
    }
}

pub(crate) fn release(owner: Owner) -> Command {
    Command::End(owner, Farewell::Release)
}

pub(crate) fn names(count: usize) -> Vec<Name> {
    let name = |nth| Name::new(&format!("resource/number-{nth:08}")).expect("a plain name");
    (0..count).map(name).collect()
}

fn stamp(micros: u64) -> Stamp {
    Stamp { at: Timestamp::from_micros(micros), wall: WallTime::default() }
}
