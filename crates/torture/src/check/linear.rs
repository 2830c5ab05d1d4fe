//! Linearizability of one resource: is there an order of the operations, each between its question
//! and its answer, in which a lock would have told exactly that?
//!
//! The search of Wing and Gong, with Lowe's cache: a set of operations and a state that were tried
//! once are not tried again. Two things make it fast here. Fences say in which order the grants
//! must be, so there is never a choice between grants; and of two states with the same holders the
//! one in which all that could be earlier is earlier allows everything the other does.
//!
//! Of operations that were never answered, grants are tried and left out; renewals can be left out
//! always (they only make a lease longer), and releases are a property of the claim (see the
//! model).

use std::collections::HashMap;

use super::cases::Case;
use super::model::{Deed, Model, State};
use super::{Finding, Kind, Terms, Verdict, seconds};
use crate::history::Nanos;

mod reading;

use self::reading::Reading;

pub(super) fn check(case: &Case<'_>, terms: &Terms, verdict: &mut Verdict) {
    let reading = Reading::of(case, terms);
    if reading.operations.is_empty() {
        return;
    }
    match Search::new(&reading).run(terms.budget) {
        Outcome::Explained => {}
        Outcome::Stuck(stuck) => verdict.findings.push(explain(case, &reading, &stuck)),
        Outcome::Exceeded => verdict.undecided.push(format!(
            "whether {} is linearizable: {} operations took more than {} steps",
            case.resource,
            reading.operations.len(),
            terms.budget
        )),
    }
}

enum Outcome {
    Explained,
    Stuck(Stuck),
    Exceeded,
}

/// The furthest that any order came.
struct Stuck {
    /// The operation whose answer nothing explains.
    operation: usize,
    state: State,
}

struct Search<'a> {
    reading: &'a Reading,
    /// The operations that must still happen, a list in the order of their beginnings. The last
    /// place is where the list begins and ends.
    next: Vec<usize>,
    before: Vec<usize>,
    done: Vec<bool>,
    /// A number for the set of operations done, as good as the set.
    digest: u128,
    tried: HashMap<(u128, Vec<usize>), Vec<State>>,
}

/// An operation was chosen; these can be chosen after it.
struct Frame {
    chosen: usize,
    choices: Vec<(usize, State)>,
}

impl<'a> Search<'a> {
    fn new(reading: &'a Reading) -> Self {
        let count = reading.operations.len();
        let mut search = Self {
            reading,
            next: vec![count; count + 1],
            before: vec![count; count + 1],
            done: vec![false; count],
            digest: 0,
            tried: HashMap::new(),
        };
        let mut last = count;
        for index in 0..count {
            if !reading.operations[index].is_optional() {
                (search.next[last], search.before[index]) = (index, last);
                last = index;
            }
        }
        (search.next[last], search.before[count]) = (count, last);
        search
    }

    fn run(mut self, budget: usize) -> Outcome {
        let end = self.done.len();
        let mut furthest = None;
        let mut steps = 0;
        let start = State::default();
        let choices = self.choices(&start, &mut furthest);
        let mut frames = vec![Frame { chosen: end, choices }];
        while let Some(frame) = frames.last_mut() {
            if self.next[end] == end {
                return Outcome::Explained;
            }
            let Some((operation, state)) = frame.choices.pop() else {
                let chosen = frame.chosen;
                frames.pop();
                if chosen != end {
                    self.undo(chosen);
                }
                continue;
            };
            steps += 1;
            if steps > budget {
                return Outcome::Exceeded;
            }
            self.perform(operation);
            if self.is_new(&state) {
                let choices = self.choices(&state, &mut furthest);
                frames.push(Frame { chosen: operation, choices });
            } else {
                self.undo(operation);
            }
        }
        Outcome::Stuck(furthest.expect("there was a first choice").1)
    }

    /// What can happen next, the best last. Something that begins after another has ended is not
    /// before it, so the first end that is left bounds them all.
    fn choices(&self, state: &State, furthest: &mut Option<(Nanos, Stuck)>) -> Vec<(usize, State)> {
        let operations = &self.reading.operations;
        let end = self.done.len();
        let mut latest = Nanos::MAX;
        let mut soonest = end;
        let mut candidates = Vec::new();
        let mut index = self.next[end];
        while index != end && operations[index].begin <= latest {
            candidates.push(index);
            if operations[index].end < latest || soonest == end {
                (latest, soonest) = (operations[index].end, index);
            }
            index = self.next[index];
        }
        if soonest != end && furthest.as_ref().is_none_or(|(before, _)| *before < latest) {
            *furthest = Some((latest, Stuck { operation: soonest, state: state.clone() }));
        }
        let optional = self.reading.optional.iter().copied();
        candidates.extend(optional.filter(|&index| !self.done[index] && self.is_needed(index)));
        candidates.sort_by_key(|&index| {
            let operation = &operations[index];
            std::cmp::Reverse((operation.is_optional(), operation.end, operation.begin))
        });
        let model = self.model();
        let mut choices = Vec::new();
        for index in candidates {
            let ways = model.follow(state, &operations[index], latest);
            choices.extend(ways.into_iter().map(|state| (index, state)));
        }
        choices
    }

    /// Who holds is only in the way, unless something is still to come that it must hold for.
    fn is_needed(&self, grant: usize) -> bool {
        let party = &self.reading.parties[self.reading.operations[grant].claim];
        party.needs.iter().any(|&need| !self.done[need])
    }

    fn model(&self) -> Model<'_> {
        let Reading { parties, order, .. } = self.reading;
        Model { parties, order, done: &self.done }
    }

    fn is_new(&mut self, state: &State) -> bool {
        let tried = self.tried.entry((self.digest, state.who())).or_default();
        if tried.iter().any(|before| before.allows_all_of(state)) {
            return false;
        }
        tried.push(state.clone());
        true
    }

    fn perform(&mut self, index: usize) {
        self.done[index] = true;
        self.digest ^= digest(index);
        if !self.reading.operations[index].is_optional() {
            (self.next[self.before[index]], self.before[self.next[index]]) =
                (self.next[index], self.before[index]);
        }
    }

    /// Performed operations are undone in the opposite order, so its neighbours are as they were.
    fn undo(&mut self, index: usize) {
        self.done[index] = false;
        self.digest ^= digest(index);
        if !self.reading.operations[index].is_optional() {
            (self.next[self.before[index]], self.before[self.next[index]]) = (index, index);
        }
    }
}

/// A number of 128 bits that looks like chance: the sum of different sets is different, but for one
/// case in more than there are atoms in a mountain.
fn digest(index: usize) -> u128 {
    let half = |seed: u64| {
        let mut z = (index as u64).wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    u128::from(half(1)) << 64 | u128::from(half(0x5851_f42d_4c95_7f2d))
}

/// Why the operation that nothing explains is none that a lock would have answered so.
fn explain(case: &Case<'_>, reading: &Reading, stuck: &Stuck) -> Finding {
    let operation = &reading.operations[stuck.operation];
    let party = &reading.parties[operation.claim];
    let model = Model { parties: &reading.parties, order: &reading.order, done: &[] };
    let holders = stuck.state.holders.iter().map(|&(claim, from)| (&reading.parties[claim], from));
    let mut entries = vec![operation.entry];
    let mut held = Vec::new();
    for (holder, gone_from) in holders {
        entries.push(reading.operations[holder.grant].entry);
        held.push(format!("claim {} until {}", holder.number, seconds(gone_from)));
    }
    let held = match held.is_empty() {
        true => "nobody holds".to_owned(),
        false => format!("it is held at least by {}", held.join(", ")),
    };
    let number = party.number;
    let what = match operation.deed {
        Deed::Granted if !model.is_next(&stuck.state, operation.claim) => {
            let next = stuck.state.grants;
            let wanted = reading.order.get(next).map(|&claim| &reading.parties[claim]);
            entries.extend(wanted.map(|wanted| reading.operations[wanted.grant].entry));
            let fence = party.fence.unwrap_or_default();
            format!("claim {number} got fence {fence}, which is not the next one")
        }
        Deed::Granted => format!("claim {number} was granted without room"),
        Deed::Renewed => format!("claim {number} was renewed, but does not hold"),
        Deed::Released => format!("claim {number} was given back, but was over"),
        Deed::SeenActive => format!("claim {number} was seen active, but does not hold"),
        Deed::SeenWaiting => format!("claim {number} was seen waiting, but was granted"),
        Deed::SeenOver => format!("claim {number} was over, but nothing could have ended it"),
    };
    let until = seconds(operation.end);
    let says = format!("what was told until {until} has no explanation: {what}; {held}");
    entries.dedup();
    case.finding(Kind::NotLinearizable, &entries, says)
}
