//! The contest, over and over, in one thread and from one seed.

use std::collections::BinaryHeap;

use claims::contest::{Contest, Dice, Ending, Heard, Holding, Machine, Now, Step, Wall, WriterId};
use claims::{Span, Timestamp};

use super::agenda::{Due, What};
use super::stage::Stage;
use super::{Tally, Trial};

/// Runs a trial. The same seed gives the same tally.
pub fn simulate(trial: &Trial, seed: u64) -> Tally {
    let mut arena = Arena::new(trial, seed);
    while arena.tally.acquisitions < trial.acquisitions {
        let Some(due) = arena.agenda.pop() else { break };
        arena.now = due.at;
        arena.happen(due);
    }
    arena.tally
}

/// A long way from the start, so that clocks can be behind.
const START: u64 = 1_000_000_000_000;

struct Arena<'a> {
    trial: &'a Trial,
    dice: Dice,
    now: Timestamp,
    agenda: BinaryHeap<Due>,
    scheduled: u64,
    stage: Stage,
    contenders: Vec<Contender>,
    tally: Tally,
    /// When something last happened that may let two hold.
    blamed_at: Option<Timestamp>,
    doubled_at: Option<Timestamp>,
}

struct Contender {
    doing: Doing,
    wall_offset: u64,
    /// What is awaited; answers to anything else come too late.
    awaited: u64,
    read_at: Timestamp,
    read_version: u64,
    stop_at: Option<Timestamp>,
    started: u64,
}

enum Doing {
    Contending(Contest),
    Holding(Holding),
    Resting,
}

impl<'a> Arena<'a> {
    fn new(trial: &'a Trial, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let skew = trial.faults.skew.as_micros();
        let contenders = (0..trial.contenders)
            .map(|_| Contender {
                doing: Doing::Resting,
                wall_offset: START - skew + dice.below(2 * skew + 1),
                awaited: 0,
                read_at: Timestamp::ZERO,
                read_version: 0,
                stop_at: None,
                started: 0,
            })
            .collect();
        let mut arena = Self {
            trial,
            dice,
            now: Timestamp::ZERO,
            agenda: BinaryHeap::new(),
            scheduled: 0,
            stage: Stage::default(),
            contenders,
            tally: Tally::default(),
            blamed_at: None,
            doubled_at: None,
        };
        for who in 0..trial.contenders {
            let later = Span::from_micros(arena.dice.below(1_000_000));
            arena.schedule(who, later, What::Hear(Heard::Go));
        }
        arena
    }

    fn schedule(&mut self, who: usize, later: Span, what: What) {
        self.scheduled += 1;
        let awaited = self.contenders[who].awaited;
        let due = Due { at: self.now + later, nth: self.scheduled, who, awaited, what };
        self.agenda.push(due);
    }

    fn happen(&mut self, due: Due) {
        let who = due.who;
        match due.what {
            What::ReadTakesEffect { stale_by, answer_in } => {
                let seen = self.stage.seen_at(self.now - stale_by);
                if stale_by > Span::ZERO {
                    self.blame();
                }
                self.contenders[who].read_version = self.stage.version();
                self.answer(who, due.awaited, answer_in, Heard::Saw(seen));
            }
            What::WriteTakesEffect { lease, read_at, over, answer_in } => {
                let heard = if self.trial.conditional && over != self.stage.version() {
                    Heard::NotWritten
                } else {
                    // The rule that the margin stands for.
                    if self.now.since(read_at) >= self.trial.terms.margin() {
                        self.blame();
                    }
                    self.stage.write(self.now, lease);
                    Heard::Wrote
                };
                self.answer(who, due.awaited, answer_in, heard);
            }
            What::Hear(heard) => {
                if due.awaited != self.contenders[who].awaited {
                    return;
                }
                if let Some(pause) = self.trial.faults.pauses.strikes(&mut self.dice) {
                    self.blame();
                    self.schedule(who, pause, What::Hear(heard));
                } else {
                    self.hear(who, heard);
                }
            }
        }
    }

    fn answer(&mut self, who: usize, awaited: u64, later: Span, heard: Heard) {
        if awaited == self.contenders[who].awaited {
            self.schedule(who, later, What::Hear(heard));
        }
    }

    fn blame(&mut self) {
        self.blamed_at = Some(self.now);
    }

    fn hear(&mut self, who: usize, heard: Heard) {
        let now = Now {
            at: self.now,
            wall: Wall(self.now.as_micros() + self.contenders[who].wall_offset),
        };
        self.contenders[who].awaited += 1;
        match std::mem::replace(&mut self.contenders[who].doing, Doing::Resting) {
            Doing::Resting => {
                let one = &mut self.contenders[who];
                one.started += 1;
                let name = WriterId::new(&format!("{who}-{}", one.started)).expect("a good id");
                let seed = self.dice.below(u64::MAX);
                let mut contest = Contest::new(self.trial.terms, name, seed);
                let step = contest.step(Heard::Go, now);
                self.contenders[who].doing = Doing::Contending(contest);
                self.perform(who, step);
            }
            Doing::Contending(mut contest) => match contest.step(heard, now) {
                Step::Done(Ok(holding)) => self.acquired(who, holding, now),
                Step::Done(Err(_)) => self.rest(who),
                step @ (Step::Read { .. } | Step::Write { .. } | Step::Wait { .. }) => {
                    self.contenders[who].doing = Doing::Contending(contest);
                    self.perform(who, step);
                }
            },
            Doing::Holding(mut holding) => {
                let enough = self.contenders[who].stop_at.is_some_and(|at| at <= self.now);
                let heard = if enough && heard == Heard::Go {
                    self.contenders[who].stop_at = None;
                    Heard::Stop
                } else {
                    heard
                };
                let step = holding.step(heard, now);
                self.hold(who, holding, step);
            }
        }
    }

    fn acquired(&mut self, who: usize, mut holding: Holding, now: Now) {
        self.tally.acquisitions += 1;
        let doubles = self.contenders.iter().any(|other| match &other.doing {
            // Who is giving it back does not work any more; who is late stops when it looks.
            Doing::Holding(other_holding) => {
                other.stop_at.is_some() && self.now < other_holding.deadline()
            }
            Doing::Contending(_) | Doing::Resting => false,
        });
        if doubles {
            self.tally.double += 1;
            let recent = |at: Option<Timestamp>| {
                at.is_some_and(|at| self.now.since(at) <= self.trial.terms.expire())
            };
            let explained = recent(self.blamed_at);
            self.tally.incidents += u64::from(!recent(self.doubled_at));
            self.doubled_at = Some(self.now);
            self.tally.unexplained += u64::from(!explained && self.trial.faults.skew == Span::ZERO);
        }
        let hold = self.trial.hold.as_micros();
        // Twice a half, on average the whole, and hardly ever nothing.
        let hold = self.dice.below(hold + 1) + self.dice.below(hold + 1);
        self.contenders[who].stop_at = Some(self.now + Span::from_micros(hold));
        let step = holding.step(Heard::Go, now);
        self.hold(who, holding, step);
    }

    fn hold(&mut self, who: usize, holding: Holding, step: Step<Ending>) {
        match step {
            Step::Done(ending) => {
                self.tally.lost += u64::from(matches!(ending, Ending::Lost(_)));
                self.rest(who);
            }
            Step::Wait { until, .. } => {
                let until = self.contenders[who].stop_at.map_or(until, |at| until.min(at));
                self.contenders[who].doing = Doing::Holding(holding);
                self.schedule(who, until.since(self.now), What::Hear(Heard::Go));
            }
            Step::Read { .. } | Step::Write { .. } => {
                self.contenders[who].doing = Doing::Holding(holding);
                self.perform(who, step);
            }
        }
    }

    fn rest(&mut self, who: usize) {
        self.contenders[who].doing = Doing::Resting;
        self.contenders[who].stop_at = None;
        let later = Span::from_micros(self.dice.below(self.trial.hold.as_micros() + 1));
        self.schedule(who, later, What::Hear(Heard::Go));
    }

    fn perform<T>(&mut self, who: usize, step: Step<T>) {
        match step {
            Step::Read { by } => {
                self.contenders[who].read_at = self.now;
                let (effect, answer_in) = self.request(false);
                let stale_by = self.trial.faults.stale_reads.strikes(&mut self.dice);
                let stale_by = stale_by.unwrap_or_default();
                self.schedule(who, effect, What::ReadTakesEffect { stale_by, answer_in });
                self.give_up(who, by, effect, answer_in, Heard::Blind);
            }
            Step::Write { lease, by } => {
                if self.now >= by {
                    self.schedule(who, Span::ZERO, What::Hear(Heard::NotWritten));
                    return;
                }
                let (effect, answer_in) = self.request(true);
                let Contender { read_at, read_version: over, .. } = self.contenders[who];
                if let Some(later) = self.trial.faults.duplicates.strikes(&mut self.dice) {
                    let (lease, answer_in) = (lease.clone(), Span::ZERO);
                    let again = Span::from_micros(effect.as_micros() + later.as_micros());
                    let what = What::WriteTakesEffect { lease, read_at, over, answer_in };
                    self.schedule(who, again, what);
                }
                let what = What::WriteTakesEffect { lease, read_at, over, answer_in };
                self.schedule(who, effect, what);
                self.give_up(who, by, effect, answer_in, Heard::Unsure);
            }
            Step::Wait { until, .. } => {
                self.schedule(who, until.since(self.now), What::Hear(Heard::Go));
            }
            Step::Done(_) => {}
        }
    }

    /// Schedules what is heard if the answer comes too late.
    fn give_up(&mut self, who: usize, by: Timestamp, effect: Span, answer_in: Span, heard: Heard) {
        if self.now + effect + answer_in > by {
            self.schedule(who, by.since(self.now), What::Hear(heard));
        }
    }

    /// When a request takes effect, and how long after that it is answered.
    fn request(&mut self, write: bool) -> (Span, Span) {
        let whole = self.trial.latencies.draw(write, &mut self.dice).as_micros();
        let there = self.dice.below(whole + 1);
        let stall = self.trial.faults.stalls.strikes(&mut self.dice).unwrap_or_default();
        (Span::from_micros(there + stall.as_micros()), Span::from_micros(whole - there))
    }
}
