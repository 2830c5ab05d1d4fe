//! Claimants and the real engine, with a link between them that loses requests and answers: whatever
//! became of an attempt, nothing of it is left on the server.

use std::collections::VecDeque;

use claims::claimant::{
    Answer, Claimant, Class, Input, Missed, Moment, Notice, Output, Patience, Request, Terms, Verb,
};
use claims::engine::execute;
use claims::{
    Command, Farewell, KeyHash, Limit, Name, Owner, Phase, Refusal, Registration, Resources, Rules,
    Span, Stamp, Standing, State, Status, Timestamp, Ttl, WallTime,
};

/// How an attempt is made to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Withdrawn,
    Signalled,
    TimedOut,
    Tried,
    Released,
}

#[test]
fn attempt_that_was_withdrawn_aborted_or_timed_out_leaves_no_claim_behind() {
    let mut missed = 0;
    let mut held = 0;
    for round in 0..4_000_u64 {
        let ends = [End::Withdrawn, End::Signalled, End::TimedOut, End::Tried, End::Released];
        let end = ends[round as usize % ends.len()];
        let mut link = Link::new(round);
        // Every other time somebody else holds it for good.
        if round & 8 == 0 {
            link.occupy();
        }
        let (acquired, waited) = link.pursue(end);
        held += u32::from(acquired);
        missed += u32::from(waited);
        link.assert_nothing_is_left(end);
    }
    assert!(missed > 1_000 && held > 500, "both happen: {missed} missed, {held} held");
}

/// Ten thousand registrations, a third of whose answers are lost: each is one claim.
#[test]
fn lost_answers_make_no_ghosts_in_ten_thousand_registrations() {
    let mut link = Link::new(77);
    for round in 0..10_000 {
        link.key = KeyHash([(round % 251) as u8; 16]);
        link.key.0[..8].copy_from_slice(&(round as u64).to_le_bytes());
        let before = link.registered;
        link.pursue(End::Released);
        assert_eq!(link.registered, before + 1, "attempt {round}");
        link.assert_nothing_is_left(End::Released);
    }
}

/// A server and a lossy link to it.
struct Link {
    state: State,
    now: u64,
    luck: u64,
    key: KeyHash,
    registered: u64,
    /// Requests that the network still has, with what they ask.
    stragglers: VecDeque<Request>,
}

impl Link {
    fn new(seed: u64) -> Self {
        Self {
            state: State::new(Rules::default()),
            now: 1_000_000,
            luck: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            key: KeyHash([3; 16]),
            registered: 0,
            stragglers: VecDeque::new(),
        }
    }

    fn chance(&mut self, odds: u64) -> bool {
        self.luck ^= self.luck << 13;
        self.luck ^= self.luck >> 7;
        self.luck ^= self.luck << 17;
        self.luck.is_multiple_of(odds)
    }

    fn occupy(&mut self) {
        let other = Registration { key: KeyHash([200; 16]), ..self.registration(HOLDER) };
        self.run(Command::Register(other)).unwrap();
    }

    fn registration(&self, ttl: Span) -> Registration {
        Registration {
            key: self.key,
            resources: Resources::one(Name::new("r").unwrap()),
            limit: Limit::EXCLUSIVE,
            ttl: Ttl::new(ttl).unwrap(),
            data: None,
        }
    }

    /// Follows one attempt to its end, whatever gets lost on the way.
    fn pursue(&mut self, end: End) -> (bool, bool) {
        let patience = match end {
            End::TimedOut => Patience::For(Span::from_secs(3)),
            End::Tried => Patience::Try(Span::from_secs(3)),
            End::Withdrawn | End::Signalled | End::Released => Patience::Forever,
        };
        let mut claimant = Claimant::new(Terms { patience, ..Terms::new(Ttl::new(TTL).unwrap()) });
        let (mut acquired, mut missed) = (false, false);
        let mut inputs = VecDeque::from([Input::Begin]);
        let ends_at = self.now + 1_500_000;
        let mut told = false;
        while !claimant.is_settled() {
            let input = inputs.pop_front().unwrap_or_else(|| {
                let wakes = claimant.next_wake().expect("it is not settled").0.as_micros();
                self.now = self.now.max(wakes);
                Input::Wake
            });
            let mut outputs = Vec::new();
            let luck = self.luck as u32;
            claimant.handle(input, Moment::from_micros(self.now), luck, &mut outputs);
            for output in outputs {
                match output {
                    Output::Send(request) => inputs.extend(self.carry(request)),
                    Output::Abandon(_) => {}
                    Output::Notify(Notice::Acquired { .. }) => acquired = true,
                    Output::Notify(Notice::Missed(why)) => {
                        missed |= why != Missed::Stopped || !acquired;
                    }
                    Output::Notify(_) => {}
                }
            }
            let over = self.now >= ends_at || acquired;
            if over && !told {
                told = true;
                let signalled = end == End::Signalled;
                inputs.push_back(if signalled { Input::Signal } else { Input::Release });
            }
        }
        (acquired, missed)
    }

    /// Takes a request to the server and its answer back, or not.
    fn carry(&mut self, request: Request) -> Option<Input> {
        // What lingered in the network may arrive before what was sent later.
        if self.chance(4)
            && let Some(old) = self.stragglers.pop_front()
        {
            self.serve(old);
        }
        self.now += 2_000;
        if self.chance(4) {
            if self.chance(2) {
                self.stragglers.push_back(request);
            }
            return None;
        }
        let answer = self.serve(request);
        self.now += 2_000;
        (!self.chance(3)).then_some(Input::Answered(request.number, answer))
    }

    fn serve(&mut self, request: Request) -> Answer {
        let owner = request.claim.map(|claim| Owner { claim, key: self.key });
        let command = match (request.verb, owner) {
            (Verb::Register, _) => Command::Register(self.registration(TTL)),
            (Verb::Activate, Some(owner)) => Command::Activate(owner),
            (Verb::Renew(ttl), Some(owner)) => Command::Renew(owner, Some(ttl)),
            (Verb::Release, Some(owner)) => Command::End(owner, Farewell::Release),
            (Verb::Withdraw, Some(owner)) => Command::End(owner, Farewell::Withdraw),
            (Verb::Abort, Some(owner)) => Command::End(owner, Farewell::Abort),
            (_, None) => panic!("{request:?} names no claim"),
        };
        match self.run(command) {
            Ok(standing) => yes(request.verb, &standing),
            Err(Refusal::StillWaiting { claim, .. }) => {
                Answer { claim: Some(claim), ..Answer::of(Class::Conflict) }
            }
            Err(Refusal::Unknown { .. }) => Answer::of(Class::NotFound),
            Err(_) => Answer::of(Class::Refused),
        }
    }

    fn run(&mut self, command: Command) -> Result<Standing, Refusal> {
        let stamp = Stamp { at: Timestamp::from_micros(self.now), wall: WallTime(0) };
        let mut events = Vec::new();
        let answer = execute(&mut self.state, command, stamp, &mut events);
        let made = events.iter().filter(|event| matches!(event, claims::Event::Registered { .. }));
        self.registered += made.count() as u64;
        answer
    }

    /// The network lets go of what it still had; then nothing is there.
    fn assert_nothing_is_left(&mut self, end: End) {
        while let Some(old) = self.stragglers.pop_front() {
            self.serve(old);
        }
        let own = self.state.claims_after(None).filter(|claim| claim.key == self.key);
        let live = own.filter(|claim| !matches!(claim.phase, Phase::Ended(_))).count();
        assert_eq!(live, 0, "an attempt that was {end:?} left a claim behind");
    }
}

/// Shorter than the holder's, so that nothing is cleared away by time alone.
const TTL: Span = Span::from_secs(60);
const HOLDER: Span = Span::from_secs(86_400);

fn yes(verb: Verb, standing: &Standing) -> Answer {
    let claim = &standing.claim;
    let class = match (verb, claim.status()) {
        (Verb::Register, Status::Active) => Class::Created,
        (Verb::Register, Status::Waiting) => Class::Accepted,
        (Verb::Register | Verb::Activate | Verb::Renew(_), _) => Class::Ok,
        (Verb::Release | Verb::Withdraw | Verb::Abort, _) => Class::NoContent,
    };
    let fence = claim.activation().map(|activation| activation.fence);
    let status = Some(claim.status());
    Answer { claim: Some(claim.id), fence, status, ..Answer::of(class) }
}
