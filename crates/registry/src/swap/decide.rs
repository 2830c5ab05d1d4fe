//! One decision over the drawers it concerns: from what was in them to what comes into them.

use std::collections::{BTreeMap, BTreeSet};

use claims::engine::{execute, sweep};
use claims::observed::{Beat, Beginnings, Written};
use claims::{
    Claim, ClaimId, Command, Counters, Epoch, Event, Fence, Phase, Record, Refusal, Rules, Span,
    Stamp, State, Timestamp,
};

use super::cabinet::{Cabinet, Key};
use super::drawer::{Drawer, Happened};
use super::slots::Opened;
use crate::store::Answer;

/// How much user data of claims that are over a drawer remembers.
const ENDED_DATA_MAX: usize = 64 * 1024;
/// How often a decision may be continued right away because it would have caused too much at once.
const CONTINUED_MAX: usize = 12;

/// What is to be done.
#[derive(Clone)]
pub(crate) enum Act {
    Obey(Command),
    /// What is due in this drawer.
    Sweep(Key),
}

/// What was decided. Nothing has happened yet.
pub(crate) struct Decision {
    /// None for what nobody asked for.
    pub(crate) answer: Option<Answer>,
    /// The drawers that change, as what they will be; nothing for those that are given up.
    pub(crate) puts: Vec<(Key, Option<Drawer>)>,
    pub(crate) born: Vec<(ClaimId, Key)>,
    pub(crate) forgotten: Vec<ClaimId>,
    pub(crate) events: bool,
}

/// What a decision needs beside the drawers.
pub(crate) struct Circumstances<'a, C: Cabinet> {
    pub(crate) cabinet: &'a C,
    pub(crate) rules: &'a Rules,
    pub(crate) epoch: Epoch,
    pub(crate) stamp: Stamp,
    /// The cabinet's floor at one moment.
    pub(crate) floor: u64,
    /// The place of the next claim in the order of all claims.
    pub(crate) sequence: u64,
    pub(crate) nonce: [u8; 16],
}

/// The rules, as far as a cabinet can follow them: what is remembered is not for the engine to forget
/// (drawers are small), and one decision fits into one record.
pub(crate) fn within_bounds(rules: Rules, queue_max: usize) -> Rules {
    Rules {
        called_max: rules.called_max.min(64),
        retain: Span::FOREVER,
        ended_max: usize::MAX / 2,
        queue_max: rules.queue_max.min(queue_max),
        events_max: rules.events_max.min(250),
        ..rules
    }
}

impl<C: Cabinet> Circumstances<'_, C> {
    pub(crate) fn decide(&self, opened: &[Opened<C::Version>], act: &Act) -> Decision {
        let sequence = opened.iter().map(|it| it.drawer.sequence + 1).fold(self.sequence, u64::max);
        let mut state = self.state(opened, sequence, act);
        let mut events = Vec::new();
        let answer = match act {
            Act::Obey(command) => {
                Some(execute(&mut state, command.clone(), self.stamp, &mut events))
            }
            Act::Sweep(_) => {
                sweep(&mut state, self.stamp, &mut events);
                None
            }
        };
        for _ in 0..CONTINUED_MAX {
            // Only what is left over is due at the beginning of time.
            if state.next_due() != Some(Timestamp::ZERO) {
                break;
            }
            sweep(&mut state, self.stamp, &mut events);
        }
        self.decision(opened, &state, events, sequence, answer).within(C::BYTES_MAX, act, &state)
    }

    /// When something is due, after what is due now is done; or that there is something now.
    pub(crate) fn next_due(&self, opened: &[Opened<C::Version>]) -> Option<Timestamp> {
        let act = Act::Sweep(Key::from(""));
        let mut state = self.state(opened, self.sequence, &act);
        let mut events = Vec::new();
        sweep(&mut state, self.stamp, &mut events);
        match events.is_empty() {
            true => state.next_due(),
            false => Some(self.stamp.at),
        }
    }

    /// The state of all claims in these drawers.
    pub(crate) fn state(&self, opened: &[Opened<C::Version>], sequence: u64, act: &Act) -> State {
        let home = match act {
            Act::Obey(Command::Register(registration)) => {
                self.cabinet.drawer(&registration.resources.as_slice()[0])
            }
            Act::Obey(_) | Act::Sweep(_) => Key::from(""),
        };
        let fences = opened.iter().map(|it| it.drawer.next_fence);
        let counters = Counters {
            epoch: self.epoch,
            next_claim: self.cabinet.claim_id(sequence, &home),
            next_fence: Fence(fences.fold(self.least_fence(), u64::max)),
        };
        let claims = opened.iter().flat_map(|it| it.claims.iter().cloned());
        State::restore(self.rules.clone(), counters, claims)
    }

    fn least_fence(&self) -> u64 {
        Counters::starting(self.epoch).next_fence.0 + self.floor
    }

    fn decision(
        &self,
        opened: &[Opened<C::Version>],
        state: &State,
        events: Vec<Event>,
        sequence: u64,
        answer: Option<Answer>,
    ) -> Decision {
        let began = Beginnings::of(&events);
        let mut drawers: BTreeMap<&Key, Drawer> =
            opened.iter().map(|it| (&it.key, self.carried_over(it, state, &began))).collect();
        for claim in state.claims_after(None) {
            self.host(claim, &mut drawers);
        }
        let mut born = Vec::new();
        for event in &events {
            let Some(claim) = event.claim().and_then(|id| state.claim(id)) else { continue };
            if let Event::Registered { .. } = event {
                born.push((claim.id, self.home(claim)));
            }
            for name in claim.resources.as_slice() {
                let Some(drawer) = drawers.get_mut(&self.cabinet.drawer(name)) else { continue };
                if let Event::Registered { .. } = event {
                    drawer.sequence = sequence;
                } else if let Event::Activated { fence, .. } = event {
                    drawer.next_fence = drawer.next_fence.max(fence.0 + 1);
                }
            }
        }
        let mut forgotten = Vec::new();
        let mut puts = Vec::new();
        let has_events = !events.is_empty();
        let mut happened = Some(Happened { at: self.stamp.at, wall: self.stamp.wall, events });
        for it in opened {
            let mut drawer = drawers.remove(&it.key).expect("each drawer is opened once");
            forget(&mut drawer, C::ENDED_MAX, &it.faded, &mut forgotten);
            if drawer.says_the_same_as(&it.drawer) {
                continue;
            }
            drawer.nonce = self.nonce;
            drawer.swaps = it.drawer.swaps + 1;
            drawer.happened = happened.take().unwrap_or_default();
            let idle = drawer.claims.is_empty() && drawer.guests.is_empty() && !has_events;
            let goes = C::GIVES_UP && idle && drawer.next_fence <= self.least_fence();
            puts.push((it.key.clone(), (!goes).then_some(drawer)));
        }
        Decision { answer, puts, born, forgotten, events: has_events }
    }

    /// The claims that were here, as they are now: those that are over in front, in the order they
    /// ended, then the others.
    fn carried_over(&self, it: &Opened<C::Version>, state: &State, began: &Beginnings) -> Drawer {
        let beat = Beat(u64::from_le_bytes(self.nonce[..8].try_into().expect("eight bytes")));
        let before: BTreeMap<ClaimId, &Written> =
            it.drawer.claims.iter().map(|was| (was.claim().id, was)).collect();
        let write = |record: Record<&Claim>| {
            let before = before.get(&record.claim.id).copied();
            Written::new(record, self.stamp.at, beat, began, before)
        };
        let was_over = |record: &Record<&Claim>| matches!(record.claim.phase, Phase::Ended(_));
        let over: Vec<Record<&Claim>> =
            it.claims.iter().map(Record::borrowed).filter(was_over).collect();
        let over_ids: BTreeSet<ClaimId> = over.iter().map(|record| record.claim.id).collect();
        let mut claims: Vec<Written> = over.into_iter().map(write).collect();
        let (mut live, mut ended) = (Vec::new(), Vec::new());
        for record in state.records_after(None) {
            match &record.claim.phase {
                _ if self.home(record.claim) != it.key => {}
                Phase::Ended(_) if over_ids.contains(&record.claim.id) => {}
                Phase::Ended(_) => ended.push(write(record)),
                Phase::Waiting(_) | Phase::Active(_) => live.push(write(record)),
            }
        }
        claims.extend(ended);
        claims.extend(live);
        let Drawer { sequence, next_fence, .. } = *it.drawer;
        Drawer { sequence, next_fence, claims, ..Drawer::default() }
    }

    /// Notes a live claim in the drawers of its other resources.
    fn host(&self, claim: &Claim, drawers: &mut BTreeMap<&Key, Drawer>) {
        if matches!(claim.phase, Phase::Ended(_)) {
            return;
        }
        let home = self.home(claim);
        let keys = claim.resources.as_slice().iter().map(|name| self.cabinet.drawer(name));
        for key in keys.filter(|key| *key != home).collect::<BTreeSet<Key>>() {
            if let Some(drawer) = drawers.get_mut(&key) {
                drawer.guests.push((claim.id, home.to_string()));
            }
        }
    }

    /// A claim is kept with its first resource.
    fn home(&self, claim: &Claim) -> Key {
        self.cabinet.drawer(&claim.resources.as_slice()[0])
    }
}

/// Rule 12: what is over is remembered for a while, and not without bound.
fn forget(drawer: &mut Drawer, ended_max: usize, faded: &[ClaimId], forgotten: &mut Vec<ClaimId>) {
    let over = |written: &&Written| !written.is_live();
    let (mut count, mut data) = (0, 0);
    let mut kept = BTreeSet::new();
    for written in drawer.claims.iter().filter(over).rev() {
        count += 1;
        data += written.claim().data().map_or(0, |data| data.as_str().len());
        let first = count == 1;
        let within = count <= ended_max && data <= ENDED_DATA_MAX;
        if (first || within) && !faded.contains(&written.claim().id) {
            kept.insert(written.claim().id);
        }
    }
    drawer.claims.retain(|written| {
        let stays = written.is_live() || kept.contains(&written.claim().id);
        if !stays {
            forgotten.push(written.claim().id);
        }
        stays
    });
}

impl Decision {
    /// A registration that would make a record too large is refused; nothing else makes one larger
    /// by more than the room that is always left.
    fn within(self, bytes_max: usize, act: &Act, state: &State) -> Self {
        let Act::Obey(Command::Register(registration)) = act else { return self };
        let large = |(_, drawer): &&(Key, Option<Drawer>)| {
            drawer.as_ref().is_some_and(|drawer| drawer.write().len() > bytes_max)
        };
        if self.born.is_empty() || self.puts.iter().find(large).is_none() {
            return self;
        }
        let resource = registration.resources.as_slice()[0].clone();
        let waiting = state.queue_len(&resource).saturating_sub(1);
        let answer = Some(Err(Refusal::QueueFull { resource, waiting }));
        Self { answer, puts: Vec::new(), born: Vec::new(), forgotten: Vec::new(), events: false }
    }
}
