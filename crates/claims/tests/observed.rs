//! Claims where no store keeps the time: what is written is read by others on their own timelines.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![allow(clippy::wildcard_enum_match_arm, reason = "only what ends or begins a lease matters here")]

use claims::engine::{execute, sweep};
use claims::observed::{Beat, Beginnings, Sightings, Written, told};
use claims::*;
use proptest::prelude::*;

/// One process: its own timeline, and what it has seen.
struct Observer {
    now: u64,
    sightings: Sightings,
}

/// The one record that all of them swap.
#[derive(Default)]
struct Record {
    written: Vec<Written>,
    swaps: u64,
    next_claim: u64,
    next_fence: u64,
}

const SECOND: u64 = 1_000_000;

impl Observer {
    fn at(seconds: u64) -> Self {
        Self { now: seconds * SECOND, sightings: Sightings::default() }
    }

    fn stamp(&self) -> Stamp {
        Stamp { at: Timestamp::from_micros(self.now), wall: WallTime(0) }
    }

    fn look(&mut self, record: &Record) {
        self.sightings.note(&record.written, Timestamp::from_micros(self.now));
    }

    /// Decides and swaps, as a store does.
    fn swap<T>(
        &mut self,
        record: &mut Record,
        act: impl FnOnce(&mut State, Stamp, &mut Vec<Event>) -> T,
    ) -> (T, Vec<Event>) {
        self.look(record);
        let stamp = self.stamp();
        let read: Vec<claims::Record> =
            record.written.iter().map(|it| self.sightings.read(it, stamp)).collect();
        let counters = Counters {
            epoch: Epoch::default(),
            next_claim: ClaimId(record.next_claim + 1),
            next_fence: Fence(record.next_fence + 1),
        };
        let mut state = State::restore(Rules::default(), counters, read);
        let mut events = Vec::new();
        let answer = act(&mut state, stamp, &mut events);
        record.swaps += 1;
        let beat = Beat(record.swaps);
        let beginnings = Beginnings::of(&events);
        let before = |id| record.written.iter().find(|it| it.claim().id == id);
        let written = state
            .records_after(None)
            .map(|it| Written::new(it, stamp.at, beat, &beginnings, before(it.claim.id)));
        record.written = written.collect();
        record.next_claim = state.counters().next_claim.0 - 1;
        record.next_fence = state.counters().next_fence.0 - 1;
        self.look(record);
        (answer, events)
    }

    fn ask(&mut self, record: &mut Record, command: Command) -> Result<Standing, Refusal> {
        self.swap(record, |state, stamp, events| execute(state, command, stamp, events)).0
    }

    fn sweep(&mut self, record: &mut Record) -> Vec<Event> {
        self.swap(record, sweep).1
    }
}

fn wish(key: u8, seconds: f64) -> Registration {
    Registration {
        key: KeyHash([key; 16]),
        resources: Resources::one(Name::new("r").unwrap()),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::from_secs_f64(seconds).unwrap(),
        data: None,
    }
}

fn owner(standing: &Standing, key: u8) -> Owner {
    Owner { claim: standing.claim.id, key: KeyHash([key; 16]) }
}

/// Rule 4. Timelines are never compared: one that is a year ahead expires nobody early.
#[test]
fn lease_ends_when_it_was_seen_unchanged_for_its_ttl() {
    let mut record = Record::default();
    let (mut a, mut b) = (Observer::at(1_000), Observer::at(40_000_000));
    let holder = a.ask(&mut record, Command::Register(wish(1, 10.0))).unwrap();
    let waiter = b.ask(&mut record, Command::Register(wish(2, 10.0))).unwrap();
    assert_eq!(waiter.place.unwrap().holders, [holder.claim.id]);
    b.now += 10 * SECOND - 1;
    let waiter = Owner { claim: waiter.claim.id, key: KeyHash([2; 16]) };
    b.ask(&mut record, Command::Activate(waiter)).expect_err("one microsecond is left");
    b.now += 1;
    let granted = b.ask(&mut record, Command::Activate(waiter)).unwrap();
    assert_eq!(granted.claim.status(), Status::Active);
    assert!(granted.claim.activation().unwrap().fence > holder.claim.activation().unwrap().fence);
}

/// Rule 4. A renewal is a new beat: everybody counts anew from when they see it.
#[test]
fn renewal_that_was_seen_counts_from_then() {
    let mut record = Record::default();
    let (mut a, mut b) = (Observer::at(5), Observer::at(5));
    let holder = a.ask(&mut record, Command::Register(wish(1, 10.0))).unwrap();
    b.ask(&mut record, Command::Register(wish(2, 10.0))).unwrap();
    for _ in 0..5 {
        a.now += 8 * SECOND;
        a.ask(&mut record, Command::Renew(owner(&holder, 1), None)).unwrap();
        b.now += 8 * SECOND;
        assert!(b.sweep(&mut record).is_empty(), "it is renewed all the time");
    }
    b.now += 9 * SECOND;
    assert!(b.sweep(&mut record).is_empty());
    b.now += SECOND;
    assert!(matches!(b.sweep(&mut record)[0], Event::Ended { ending: Ending::Expired, .. }));
}

/// A renewal by somebody who has only just seen the claim counts like any other.
#[test]
fn renewal_at_the_moment_of_the_first_look_is_not_lost() {
    let mut record = Record::default();
    let (mut a, mut b) = (Observer::at(5), Observer::at(5));
    let holder = a.ask(&mut record, Command::Register(wish(1, 10.0))).unwrap();
    a.ask(&mut record, Command::Register(wish(2, 10.0))).unwrap();
    a.now += 9 * SECOND;
    b.ask(&mut record, Command::Renew(owner(&holder, 1), None)).unwrap();
    a.look(&record);
    a.now += 2 * SECOND;
    assert!(a.sweep(&mut record).is_empty(), "it was renewed two seconds ago");
}

/// Rule 11. Whoever comes new has seen nothing, so nobody is overdue for it.
#[test]
fn newcomer_gives_everybody_a_full_ttl() {
    let mut record = Record::default();
    let mut a = Observer::at(5);
    a.ask(&mut record, Command::Register(wish(1, 10.0))).unwrap();
    a.ask(&mut record, Command::Register(wish(2, 10.0))).unwrap();
    let mut b = Observer::at(1_000_000);
    assert!(b.sweep(&mut record).is_empty());
    b.now += 10 * SECOND;
    assert!(matches!(b.sweep(&mut record)[0], Event::Ended { ending: Ending::Expired, .. }));
}

/// Rule 6. A turn is kept for the waiter by everybody who saw the call.
#[test]
fn turn_is_kept_from_when_the_call_was_seen() {
    let mut record = Record::default();
    let (mut a, mut b) = (Observer::at(5), Observer::at(900));
    let holder = a.ask(&mut record, Command::Register(wish(1, 10.0))).unwrap();
    for key in [2, 3] {
        a.ask(&mut record, Command::Register(wish(key, 10.0))).unwrap();
    }
    let farewell = Command::End(owner(&holder, 1), Farewell::Release);
    a.ask(&mut record, farewell).unwrap();
    b.look(&record);
    b.now += 10 * SECOND - 1;
    assert!(b.sweep(&mut record).is_empty(), "its turn is kept");
    b.now += 1;
    let events = b.sweep(&mut record);
    assert!(matches!(events[..], [Event::PassedOver { .. }, Event::Called { .. }]), "{events:?}");
}

/// An unlimited lease has no end on any timeline.
#[test]
fn unlimited_lease_never_ends() {
    let mut record = Record::default();
    let (mut a, mut b) = (Observer::at(1_000_000), Observer::at(1));
    let mut unlimited = wish(1, 1.0);
    unlimited.ttl = Ttl::UNLIMITED;
    a.ask(&mut record, Command::Register(unlimited)).unwrap();
    b.ask(&mut record, Command::Register(wish(2, 1.0))).unwrap();
    b.now = u64::MAX / 2;
    assert!(b.sweep(&mut record).iter().all(|event| event.claim() != Some(ClaimId(1))));
}

/// A deadline in an event is told on the timeline of whoever hears of it.
#[test]
fn events_are_told_on_the_timeline_of_the_reader() {
    let moment = |seconds: u64| Timestamp::from_micros(seconds * SECOND);
    let event = |seconds| Event::Renewed {
        claim: ClaimId(1),
        ttl: Ttl::from_secs_f64(10.0).unwrap(),
        deadline: moment(seconds),
    };
    assert_eq!(told(event(110), moment(100), moment(7)), event(17));
}

#[derive(Debug, Clone)]
enum Step {
    Register(usize, f64),
    Activate(usize, usize),
    Renew(usize, usize),
    Release(usize, usize),
    Sweep(usize),
    Pass(usize, u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..3usize, 1..20u32).prop_map(|(o, ttl)| Step::Register(o, f64::from(ttl))),
        (0..3usize, 0..30usize).prop_map(|(o, c)| Step::Activate(o, c)),
        (0..3usize, 0..30usize).prop_map(|(o, c)| Step::Renew(o, c)),
        (0..3usize, 0..30usize).prop_map(|(o, c)| Step::Release(o, c)),
        (0..3usize).prop_map(Step::Sweep),
        (0..3usize, 0..15u64).prop_map(|(o, s)| Step::Pass(o, s)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    /// Whatever three observers with clocks of their own do in whatever order: never two holders,
    /// fences rise, and nobody expires before the one who expires it has seen it for its ttl.
    #[test]
    fn observers_with_clocks_of_their_own_never_let_two_in(
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let mut record = Record::default();
        let mut observers = [Observer::at(10), Observer::at(5_000), Observer::at(77_777)];
        let mut owners: Vec<Owner> = Vec::new();
        let mut fence = 0;
        // When each claim was last granted or renewed, and how long the slowest clock has run since.
        let mut passed = [0u64; 3];
        let mut leased: std::collections::BTreeMap<ClaimId, ([u64; 3], u64)> = Default::default();
        for (nth, step) in steps.into_iter().enumerate() {
            let (who, command) = match step {
                Step::Pass(o, seconds) => {
                    observers[o].now += seconds * SECOND;
                    passed[o] += seconds * SECOND;
                    continue;
                }
                Step::Sweep(o) => (o, None),
                Step::Register(o, ttl) => {
                    let mut wish = wish(0, ttl);
                    wish.key.0[..8].copy_from_slice(&(nth as u64 + 1).to_le_bytes());
                    (o, Some(Command::Register(wish)))
                }
                Step::Activate(o, c) if c < owners.len() => (o, Some(Command::Activate(owners[c]))),
                Step::Renew(o, c) if c < owners.len() => (o, Some(Command::Renew(owners[c], None))),
                Step::Release(o, c) if c < owners.len() => {
                    (o, Some(Command::End(owners[c], Farewell::Release)))
                }
                Step::Activate(..) | Step::Renew(..) | Step::Release(..) => continue,
            };
            let key = match &command {
                Some(Command::Register(registration)) => Some(registration.key),
                _ => None,
            };
            let (answer, events) = observers[who].swap(&mut record, |state, stamp, events| {
                match command {
                    Some(command) => Some(execute(state, command, stamp, events)),
                    None => { sweep(state, stamp, events); None }
                }
            });
            if let (Some(key), Some(Ok(standing))) = (key, &answer) {
                owners.push(Owner { claim: standing.claim.id, key });
            }
            for event in &events {
                match event {
                    Event::Activated { claim, fence: given, deadline } => {
                        prop_assert!(given.0 > fence, "fences rise");
                        fence = given.0;
                        let ttl = deadline.as_micros() - observers[who].now;
                        leased.insert(*claim, (passed, ttl));
                    }
                    Event::Renewed { claim, ttl, .. } => {
                        leased.insert(*claim, (passed, ttl.span().as_micros()));
                    }
                    Event::Ended { claim, ending: Ending::Expired } => {
                        if let Some((since, ttl)) = leased.get(claim) {
                            let ran = passed[who] - since[who];
                            prop_assert!(ran >= *ttl, "expired after {ran} of {ttl}");
                        }
                    }
                    _ => {}
                }
            }
            let holders = record.written.iter()
                .filter(|it| it.claim().status() == Status::Active).count();
            prop_assert!(holders <= 1, "{holders} hold");
        }
    }
}
