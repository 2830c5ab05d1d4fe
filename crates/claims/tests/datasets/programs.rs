//! Random programs, step by step against the model: the same workers begin, with the same items, in
//! the same order; the same is shown; nothing is left undone at the end.
//!
//! The seed is fixed, so a run is the same everywhere; `PROPTEST_RNG_SEED` and `PROPTEST_CASES`
//! explore further.

use std::collections::BTreeSet;

use claims::Span;
use claims::datasets::{DatasetId, Delays, Item, LockType, Note, Operation, Queue, Wanted};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use super::model::{FILE_DELAY, Key, Model, WRITE_DELAY};
use super::tables::{at, short};

const CASES: u32 = 3_000;
const STEPS: usize = 100;

#[derive(Debug, Clone)]
enum Act {
    Request(usize, usize),
    Prepare(usize),
    Pass(u64),
    /// Which of the workers, and how it went with each item: bit by bit.
    Finish(usize, u8),
    Lose(usize),
    /// Somebody else locks a dataset.
    Lock(u64, bool),
    Unlock(usize),
}

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..7_usize, 0..4_usize).prop_map(|(item, request)| Act::Request(item, request)),
        1 => (0..7_usize).prop_map(Act::Prepare),
        5 => (0..4_u64).prop_map(Act::Pass),
        4 => (any::<usize>(), any::<u8>()).prop_map(|(nth, how)| Act::Finish(nth, how)),
        1 => any::<usize>().prop_map(Act::Lose),
        2 => (1..4_u64, any::<bool>()).prop_map(|(dataset, shared)| Act::Lock(dataset, shared)),
        2 => any::<usize>().prop_map(Act::Unlock),
    ]
}

const KEYS: [Key; 7] = [
    (false, 1, 1),
    (false, 2, 2),
    (false, 3, 3),
    (true, 1, 10),
    (true, 1, 11),
    (true, 2, 12),
    (true, 2, 13),
];

fn item(key: Key) -> Item {
    match key {
        (false, dataset, _) => Item::Dataset(DatasetId(dataset)),
        (true, dataset, datafile) => Item::Datafile { dataset: DatasetId(dataset), datafile },
    }
}

fn key(item: Item) -> Key {
    match item {
        Item::Dataset(DatasetId(id)) => (false, id, id),
        Item::Datafile { dataset, datafile } => (true, dataset.0, datafile),
    }
}

fn letter(operation: Operation) -> char {
    operation.as_str().chars().next().unwrap()
}

struct Twins {
    queue: Queue,
    model: Model,
    now: u64,
    /// Those who work: their number and what they work on.
    workers: Vec<(u64, Wanted)>,
    last_worker: u64,
    outsiders: Vec<u64>,
}

impl Twins {
    fn new() -> Self {
        let delays = Delays {
            dataset_writes: Span::from_secs(WRITE_DELAY),
            datafiles: Span::from_secs(FILE_DELAY),
        };
        Self {
            queue: Queue::new(delays),
            model: Model::default(),
            now: 0,
            workers: Vec::new(),
            last_worker: 0,
            outsiders: Vec::new(),
        }
    }

    fn act(&mut self, act: &Act) {
        match *act {
            Act::Request(nth, request) => {
                let (key, request) = (KEYS[nth], Operation::ALL[request]);
                let possible = key.0 || request != Operation::Delete;
                let said =
                    self.queue.request(item(key), request, "x", Note::default(), at(self.now));
                assert_eq!(said.is_ok(), possible);
                if possible {
                    self.model.request(key, letter(request), self.now);
                }
            }
            Act::Prepare(nth) => {
                self.queue.prepare(item(KEYS[nth]));
                self.model.failures.remove(&(KEYS[nth], 'R'));
            }
            Act::Pass(later) => {
                self.now += later;
                self.pass();
            }
            Act::Finish(nth, how) => {
                if let Some((worker, wanted)) = self.worker(nth) {
                    for (nth, &one) in wanted.items.iter().enumerate() {
                        let good = how >> (nth % 8) & 1 == 0;
                        let outcome = if good { Ok(()) } else { Err("no".to_owned()) };
                        self.queue.finish(one, worker, outcome, at(self.now));
                        self.model.finish(key(one), good);
                    }
                    self.model.unlock(wanted.dataset.0);
                }
            }
            Act::Lose(nth) => {
                if let Some((worker, wanted)) = self.worker(nth) {
                    for &one in &wanted.items {
                        // Somebody else's number does nothing.
                        self.queue.abandon(one, worker + 1_000);
                        self.queue.abandon(one, worker);
                        self.model.abandon(key(one));
                    }
                    self.model.unlock(wanted.dataset.0);
                }
            }
            Act::Lock(dataset, shared) => {
                if self.model.lock(dataset, shared) {
                    self.outsiders.push(dataset);
                }
            }
            Act::Unlock(nth) => {
                if !self.outsiders.is_empty() {
                    let dataset = self.outsiders.swap_remove(nth % self.outsiders.len());
                    self.model.unlock(dataset);
                }
            }
        }
        self.compare();
    }

    fn worker(&mut self, nth: usize) -> Option<(u64, Wanted)> {
        (!self.workers.is_empty()).then(|| self.workers.swap_remove(nth % self.workers.len()))
    }

    fn pass(&mut self) {
        // The real queue is given the locks that are left, as the model is.
        let mut locks = self.model.clone();
        let first = self.last_worker;
        let mut number = first;
        let begun = self.queue.tick(at(self.now), |wanted| {
            locks.lock(wanted.dataset.0, wanted.lock() == LockType::Shared).then(|| {
                number += 1;
                number
            })
        });
        self.last_worker = number;
        let expected = self.model.pass(self.now, first);
        let said: Vec<(char, Vec<Key>)> = begun
            .iter()
            .map(|(wanted, _)| {
                (letter(wanted.operation), wanted.items.iter().map(|one| key(*one)).collect())
            })
            .collect();
        assert_eq!(said, expected);
        self.workers.extend(begun.into_iter().map(|(wanted, worker)| (worker, wanted)));
    }

    fn compare(&self) {
        for key in KEYS {
            let (shown, expected) = (short(self.queue.state(item(key))), self.model.shown(key));
            assert_eq!(shown, expected, "{key:?}");
            let offline = !matches!(expected, "-" | "W");
            assert_eq!(self.queue.is_maybe_offline(item(key)), offline);
        }
        let failures: BTreeSet<(Key, char)> = self
            .queue
            .records()
            .flat_map(|(item, record)| {
                record.failures.keys().map(move |operation| (key(item), letter(*operation)))
            })
            .collect();
        assert_eq!(failures, self.model.failures);
    }

    /// Everybody lets go, and all goes well: whatever was queued together drains.
    fn drain(&mut self) {
        while !self.outsiders.is_empty() {
            self.act(&Act::Unlock(0));
        }
        // Each pass does something on each dataset, once the delays are over.
        for _ in 0..40 {
            while !self.workers.is_empty() {
                self.act(&Act::Finish(0, 0));
            }
            self.act(&Act::Pass(WRITE_DELAY));
        }
        assert!(self.workers.is_empty());
        assert!(KEYS.iter().all(|key| self.queue.state(item(*key)).is_none()));
    }
}

#[test]
fn queue_and_model_agree_on_random_programs_and_every_queue_drains() {
    let config = Config {
        cases: CASES,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..Config::default()
    };
    proptest!(config, |(program in prop::collection::vec(acts(), 1..=STEPS))| {
        let mut twins = Twins::new();
        program.iter().for_each(|act| twins.act(act));
        twins.drain();
    });
}
