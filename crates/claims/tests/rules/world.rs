//! A store with a clock that the test sets, and claimants that speak in short sentences.

use claims::{
    Claim, ClaimId, Command, Data, Event, Farewell, Fence, KeyHash, Limit, Name, Owner, Phase,
    Record, Refusal, Registration, Resources, Rules, Seen, Span, Stamp, Standing, State, Status,
    Timestamp, Ttl, Turn, WallTime, engine,
};

pub(crate) type Answer = Result<Standing, Refusal>;

/// A state, the present moment, and what happened in the last step.
pub(crate) struct World {
    pub(crate) state: State,
    /// Knows the events only: what a log would give back.
    replica: State,
    now: Timestamp,
    events: Vec<Event>,
    keys_given: u64,
}

/// What somebody is about to register. Alone, for a minute, unless it says otherwise.
#[derive(Clone)]
pub(crate) struct Wish {
    pub(crate) names: Vec<Name>,
    pub(crate) limit: Limit,
    pub(crate) ttl: Ttl,
    pub(crate) key: Option<KeyHash>,
    pub(crate) data: Option<Data>,
}

/// A wish for the resources named, with blanks between them.
pub(crate) fn wish(names: &str) -> Wish {
    Wish {
        names: names.split(' ').map(name).collect(),
        limit: Limit::EXCLUSIVE,
        ttl: ttl(60),
        key: None,
        data: None,
    }
}

impl Wish {
    pub(crate) fn shared(self) -> Self {
        let limit = Limit::SHARED;
        Self { limit, ..self }
    }

    pub(crate) fn at_most(self, count: u32) -> Self {
        let limit = Limit::at_most(count).unwrap();
        Self { limit, ..self }
    }

    pub(crate) fn ttl(self, secs: u64) -> Self {
        Self { ttl: ttl(secs), ..self }
    }

    pub(crate) fn unlimited(self) -> Self {
        let ttl = Ttl::UNLIMITED;
        Self { ttl, ..self }
    }

    pub(crate) fn key(self, key: KeyHash) -> Self {
        let key = Some(key);
        Self { key, ..self }
    }

    pub(crate) fn data(self, text: &str) -> Self {
        let data = Some(Data::new(text).unwrap());
        Self { data, ..self }
    }
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn ttl(secs: u64) -> Ttl {
    Ttl::new(Span::from_secs(secs)).unwrap()
}

pub(crate) fn key(number: u64) -> KeyHash {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    KeyHash(bytes)
}

pub(crate) fn secs(secs: u64) -> Timestamp {
    Timestamp::from_micros(secs * 1_000_000)
}

/// The commands. Each happens at the moment last set.
impl World {
    pub(crate) fn new() -> Self {
        Self::with(Rules::default())
    }

    pub(crate) fn with(rules: Rules) -> Self {
        Self {
            state: State::new(rules.clone()),
            replica: State::new(rules),
            now: Timestamp::ZERO,
            events: Vec::new(),
            keys_given: 1_000,
        }
    }

    /// Sets the clock, in seconds.
    pub(crate) fn at(&mut self, at: u64) -> &mut Self {
        self.at_micros(at * 1_000_000)
    }

    pub(crate) fn at_micros(&mut self, at: u64) -> &mut Self {
        let at = Timestamp::from_micros(at);
        assert!(at >= self.now, "the clock never runs backwards");
        self.now = at;
        self
    }

    pub(crate) fn try_register(&mut self, wish: Wish) -> Answer {
        let key = wish.key.unwrap_or_else(|| {
            self.keys_given += 1;
            key(self.keys_given)
        });
        self.execute(Command::Register(Registration {
            key,
            resources: Resources::try_from(wish.names).unwrap(),
            limit: wish.limit,
            ttl: wish.ttl,
            data: wish.data,
        }))
    }

    /// Registers, whether it becomes active or waits.
    pub(crate) fn register(&mut self, wish: Wish) -> Owner {
        let claim = self.try_register(wish).unwrap().claim;
        let (claim, key) = (claim.id, claim.key);
        Owner { claim, key }
    }

    pub(crate) fn poll(&mut self, owner: Owner) -> Answer {
        self.execute(Command::Activate(owner))
    }

    /// Asks, and stays to be told.
    pub(crate) fn wait(&mut self, owner: Owner) {
        let answer = self.poll(owner);
        assert_eq!(answer.unwrap_err().code(), "still-waiting");
        self.state.attend(owner.claim);
    }

    pub(crate) fn leave(&mut self, owner: Owner) -> Answer {
        self.execute(Command::Leave(owner))
    }

    pub(crate) fn renew(&mut self, owner: Owner) -> Answer {
        self.execute(Command::Renew(owner, None))
    }

    pub(crate) fn renew_for(&mut self, owner: Owner, secs: u64) -> Answer {
        self.execute(Command::Renew(owner, Some(ttl(secs))))
    }

    pub(crate) fn release(&mut self, owner: Owner) -> Answer {
        self.execute(Command::End(owner, Farewell::Release))
    }

    pub(crate) fn abort(&mut self, owner: Owner) -> Answer {
        self.execute(Command::End(owner, Farewell::Abort))
    }

    pub(crate) fn withdraw(&mut self, owner: Owner) -> Answer {
        self.execute(Command::End(owner, Farewell::Withdraw))
    }

    pub(crate) fn appoint(&mut self, owner: Owner, keeper: KeyHash) -> Answer {
        self.execute(Command::Appoint(owner, keeper))
    }

    pub(crate) fn revoke(&mut self, claim: ClaimId) -> Answer {
        self.execute(Command::Revoke(claim))
    }

    pub(crate) fn sweep(&mut self) {
        self.step(engine::sweep);
    }

    /// The store goes down and comes back from its snapshot.
    pub(crate) fn restart(&mut self) {
        self.state = self.restored();
        self.step(engine::resume);
    }

    pub(crate) fn begin_epoch(&mut self) -> bool {
        self.step(engine::begin_epoch)
    }

    pub(crate) fn execute(&mut self, command: Command) -> Answer {
        self.step(|state, stamp, events| engine::execute(state, command, stamp, events))
    }

    fn step<T>(&mut self, step: impl FnOnce(&mut State, Stamp, &mut Vec<Event>) -> T) -> T {
        let stamp = Stamp { at: self.now, wall: WallTime::default() };
        self.events.clear();
        let answer = step(&mut self.state, stamp, &mut self.events);
        for event in &self.events {
            engine::apply(&mut self.replica, event, stamp);
        }
        assert!(self.replica == self.state, "the events are all that happened");
        assert!(self.restored() == self.state, "the claims are all there is");
        self.check_limits();
        answer
    }

    fn restored(&self) -> State {
        let records = self.state.records_after(None).map(Record::cloned);
        State::restore(self.state.rules().clone(), self.state.counters(), records)
    }

    /// Rule 1, after every step of every test.
    fn check_limits(&self) {
        for name in self.state.names_after(None) {
            let holders: Vec<_> = self.state.holders(name).collect();
            let smallest = holders.iter().filter_map(|claim| claim.limit.count()).min();
            assert!(
                smallest.is_none_or(|limit| holders.len() <= limit as usize),
                "{name} has illegal holders: {holders:?}",
            );
        }
    }
}

/// The questions. They change nothing.
impl World {
    /// What happened in the last step.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    pub(crate) fn claim(&self, owner: Owner) -> &Claim {
        self.state.claim(owner.claim).unwrap()
    }

    pub(crate) fn status(&self, owner: Owner) -> Status {
        self.claim(owner).status()
    }

    pub(crate) fn fence(&self, owner: Owner) -> Fence {
        self.claim(owner).activation().unwrap().fence
    }

    /// The deadline of a holder.
    pub(crate) fn deadline(&self, owner: Owner) -> Timestamp {
        match &self.claim(owner).phase {
            Phase::Active(active) => active.deadline,
            other @ (Phase::Waiting(_) | Phase::Ended(_)) => panic!("not a holder: {other:?}"),
        }
    }

    /// When the claimant of a waiter asked.
    pub(crate) fn seen(&self, owner: Owner) -> Seen {
        self.state.record(owner.claim).unwrap().seen
    }

    pub(crate) fn turn(&self, owner: Owner) -> Turn {
        match &self.claim(owner).phase {
            Phase::Waiting(turn) => *turn,
            other @ (Phase::Active(_) | Phase::Ended(_)) => panic!("not a waiter: {other:?}"),
        }
    }

    pub(crate) fn holders(&self, of: &str) -> Vec<ClaimId> {
        let of = name(of);
        self.state.holders(&of).map(|claim| claim.id).collect()
    }

    pub(crate) fn queue(&self, of: &str) -> Vec<ClaimId> {
        let of = name(of);
        self.state.queue(&of).map(|claim| claim.id).collect()
    }

    /// Its place in the queue.
    pub(crate) fn position(&self, owner: Owner) -> usize {
        let standing = self.state.standing(owner.claim, self.now).unwrap();
        standing.place.unwrap().position
    }
}

/// The code of a refusal.
#[track_caller]
pub(crate) fn refused(answer: Answer) -> &'static str {
    answer.expect_err("this was to be refused").code()
}
