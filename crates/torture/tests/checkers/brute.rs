//! The search for a linearization beside one that tries everything: all orders, with every end of a
//! lease and every lost release as an event of its own, and no cleverness at all.

use torture::check::{Kind, judge};
use torture::history::{Acquired, Entry, Seen, Told, What};

use crate::chance::Chance;
use crate::told::{TTL, acquire, granted, limited, looked, released, renewed};

/// What the judge takes for the shortest lease.
const LEASE: u64 = TTL / 100 * 95;

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Waiting,
    Active { until: u64 },
    Gone { held: bool },
}

#[derive(Clone)]
struct Claim {
    number: u64,
    limit: Option<u32>,
    /// None: nobody was told.
    fence: Option<u64>,
    /// When its first release without an answer began.
    lost_release: Option<u64>,
    status: Status,
}

#[derive(Clone)]
struct World {
    now: u64,
    fence: u64,
    claims: Vec<Claim>,
}

/// Something that has to happen, or may.
#[derive(Clone)]
enum Step {
    Told(Entry),
    Grant { claim: u64, begin: u64 },
    Expire { claim: u64 },
    LostRelease { claim: u64, begin: u64 },
}

fn explained(world: &World, left: &[Step]) -> bool {
    if !left.iter().any(|step| matches!(step, Step::Told(_))) {
        return true;
    }
    (0..left.len()).any(|index| {
        let mut rest = left.to_vec();
        let step = rest.remove(index);
        let mut next = world.clone();
        next.happens(&step) && explained(&next, &rest)
    })
}

impl World {
    fn happens(&mut self, step: &Step) -> bool {
        match step {
            Step::Told(entry) => {
                self.now = self.now.max(entry.begin);
                self.told(entry) && self.now <= entry.end.unwrap()
            }
            &Step::Grant { claim, begin } => {
                self.now = self.now.max(begin);
                self.grant(claim)
            }
            &Step::Expire { claim } => {
                let Status::Active { until } = self.claim(claim).status else { return false };
                self.now = self.now.max(until);
                self.claim(claim).status = Status::Gone { held: true };
                true
            }
            &Step::LostRelease { claim, begin } => {
                let active = matches!(self.claim(claim).status, Status::Active { .. });
                self.now = self.now.max(begin);
                self.claim(claim).status = Status::Gone { held: true };
                active
            }
        }
    }

    fn claim(&mut self, number: u64) -> &mut Claim {
        self.claims.iter_mut().find(|claim| claim.number == number).unwrap()
    }

    fn told(&mut self, entry: &Entry) -> bool {
        let now = self.now;
        match entry.what {
            What::Acquire { outcome: Acquired::Granted { claim, .. }, .. } => self.grant(claim),
            What::Renew { claim, outcome: Told::Done } => {
                let claim = self.claim(claim);
                let active = matches!(claim.status, Status::Active { .. });
                claim.status = Status::Active { until: now + LEASE };
                active
            }
            What::Release { claim: number, outcome: Told::Done } => {
                let claim = self.claim(number);
                match claim.status {
                    Status::Active { .. } => claim.status = Status::Gone { held: true },
                    Status::Waiting => claim.status = Status::Gone { held: false },
                    Status::Gone { held: false } => {}
                    // Maybe a release before this one was done, and nobody was told.
                    Status::Gone { held: true } => match claim.lost_release {
                        Some(begin) => self.now = now.max(begin),
                        None => return false,
                    },
                }
                true
            }
            What::Look { claim, seen: Some(Seen::Active) } => {
                matches!(self.claim(claim).status, Status::Active { .. })
            }
            What::Look { claim, seen: Some(Seen::Waiting) } => {
                self.claim(claim).status == Status::Waiting
            }
            What::Renew { claim, .. } | What::Release { claim, .. } | What::Look { claim, .. } => {
                let claim = self.claim(claim);
                if claim.status == Status::Waiting {
                    claim.status = Status::Gone { held: false };
                }
                !matches!(claim.status, Status::Active { .. })
            }
            What::Acquire { .. }
            | What::Belief { .. }
            | What::Effect { .. }
            | What::Fault { .. } => unreachable!("nothing else is in these histories"),
        }
    }

    fn grant(&mut self, number: u64) -> bool {
        let held = |claim: &&Claim| matches!(claim.status, Status::Active { .. });
        let holders = self.claims.iter().filter(held);
        let limits: Vec<Option<u32>> = holders.map(|claim| claim.limit).collect();
        let until = self.now + LEASE;
        let claim = self.claim(number);
        let smallest = limits.iter().copied().chain([claim.limit]).flatten().min();
        let room = smallest.is_none_or(|smallest| limits.len() < smallest as usize);
        let waits = claim.status == Status::Waiting;
        claim.status = Status::Active { until };
        let fence = claim.fence;
        let rises = fence.is_none_or(|fence| fence > self.fence);
        self.fence = fence.unwrap_or(self.fence);
        room && waits && rises
    }
}

/// A few claims and what happened to them, more or less by chance.
fn scribble(chance: &mut Chance) -> Vec<Entry> {
    let grid = |chance: &mut Chance, from: u64, most: u64| from + 50 * chance.between(0, most);
    let mut history = Vec::new();
    let claims = chance.between(2, 4);
    for claim in 1..=claims {
        let begin = grid(chance, 0, 16);
        let mut end = grid(chance, begin, 16);
        let fence = if chance.percent(85) { claim } else { chance.between(1, 5) };
        let limit = *chance.pick(&[Some(1), Some(1), Some(2), None]);
        history.push(match chance.percent(80) {
            true => limited(granted(claim, begin, end, fence), limit),
            false => limited(acquire(claim as u32, begin, end, Acquired::Unknown), limit),
        });
        for _ in 0..chance.between(0, 3) {
            let from = if chance.percent(80) { end } else { 0 };
            let begin = grid(chance, from, 14);
            end = grid(chance, begin, 8);
            let told = *chance.pick(&[Told::Done, Told::Done, Told::Refused, Told::Unknown]);
            let seen =
                *chance.pick(&[Some(Seen::Active), Some(Seen::Ended), Some(Seen::Waiting), None]);
            history.push(match chance.between(0, 3) {
                0 => renewed(claim, begin, end, told),
                1 => released(claim, begin, end, told),
                _ => looked(claim, begin, end, seen),
            });
        }
    }
    history
}

/// By trying everything. None if the history is about a claim that nobody can know.
fn by_force(history: &[Entry]) -> Option<bool> {
    let mut world = World { now: 0, fence: 0, claims: Vec::new() };
    let mut steps = Vec::new();
    let mut unknown = Vec::new();
    for entry in history {
        let What::Acquire { limit, outcome, .. } = entry.what else { continue };
        let number = u64::from(entry.client);
        let fence = match outcome {
            Acquired::Granted { fence, .. } => Some(fence),
            Acquired::Refused | Acquired::Unknown => None,
        };
        let (lost_release, status) = (None, Status::Waiting);
        world.claims.push(Claim { number, limit, fence, lost_release, status });
        steps.push(Step::Expire { claim: number });
        match fence {
            Some(_) => steps.push(Step::Told(entry.clone())),
            None => {
                steps.push(Step::Grant { claim: number, begin: entry.begin });
                unknown.push((number, entry.begin));
            }
        }
    }
    for entry in history {
        match entry.what {
            What::Acquire { .. } | What::Renew { outcome: Told::Unknown, .. } => {}
            What::Release { claim, outcome: Told::Unknown } => {
                let begin = entry.begin;
                let lost = &mut world.claim(claim).lost_release;
                *lost = Some(lost.map_or(begin, |before| before.min(begin)));
                steps.push(Step::LostRelease { claim, begin });
            }
            What::Renew { .. }
            | What::Release { .. }
            | What::Look { .. }
            | What::Belief { .. }
            | What::Effect { .. }
            | What::Fault { .. } => steps.push(Step::Told(entry.clone())),
        }
    }
    // The judge finds an unknown claim by the first thing its owner did with it afterwards.
    for (number, begin) in unknown {
        let mut owner = history.iter().filter(|entry| match entry.what {
            What::Renew { claim, .. } | What::Release { claim, .. } => claim == number,
            What::Acquire { .. }
            | What::Look { .. }
            | What::Belief { .. }
            | What::Effect { .. }
            | What::Fault { .. } => false,
        });
        if !owner.any(|entry| entry.begin > begin) {
            return None;
        }
    }
    Some(explained(&world, &steps))
}

#[test]
fn search_agrees_with_trying_everything() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..15_000 {
        let history = scribble(&mut Chance::new(seed));
        if history.len() > 7 {
            continue;
        }
        let Some(expected) = by_force(&history) else { continue };
        let verdict = judge(&history);
        let found = !verdict.has(Kind::NotLinearizable);
        let shown: String = history.iter().map(|entry| entry.to_line() + "\n").collect();
        assert_eq!(found, expected, "seed {seed}\n{shown}{}", verdict.report(&history, 9));
        *(if expected { &mut yes } else { &mut no }) += 1;
    }
    assert!(yes > 1_000 && no > 1_000, "{yes} can be explained, {no} cannot");
}
