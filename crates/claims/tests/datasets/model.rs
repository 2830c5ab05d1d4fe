//! The queue of operations once more, as plainly as it can be said: lists, letters and loops.

use std::collections::{BTreeMap, BTreeSet};

use super::tables::{DATAFILE, DATASET};

/// Whether it is a file, its dataset, and its own number.
pub(crate) type Key = (bool, u64, u64);

#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) queue: BTreeMap<Key, Waits>,
    /// The operation, its worker, and whether a write was requested since.
    pub(crate) changing: BTreeMap<Key, (char, u64, u64, bool)>,
    pub(crate) unwritten: BTreeSet<Key>,
    pub(crate) failures: BTreeSet<(Key, char)>,
    /// Shared holders, or minus one.
    pub(crate) locks: BTreeMap<u64, i64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Waits {
    pub(crate) state: &'static str,
    since: u64,
    not_before: u64,
}

pub(crate) const WRITE_DELAY: u64 = 5;
pub(crate) const FILE_DELAY: u64 = 3;

fn cell(is_file: bool, state: &str, request: char) -> &'static str {
    let table = if is_file { DATAFILE } else { DATASET };
    let column = "WARD".find(request).unwrap() + 1;
    let mut rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.find(|row| row.first() == Some(&state)).unwrap()[column]
}

impl Model {
    pub(crate) fn request(&mut self, key: Key, request: char, now: u64) {
        let state = self.queue.get(&key).map_or("-", |waits| waits.state);
        let mut waits = self.queue.remove(&key);
        let delay = if request == 'W' && !key.0 { WRITE_DELAY } else { 0 };
        match cell(key.0, state, request) {
            "x" => waits = None,
            "=" => {
                if delay > 0 {
                    waits.as_mut().unwrap().not_before = now + delay;
                }
            }
            next => {
                let mut changed =
                    waits.unwrap_or(Waits { state: next, since: now, not_before: now });
                changed.state = next;
                if delay > 0 {
                    changed.not_before = now + delay;
                }
                waits = Some(changed);
            }
        }
        if let Some(waits) = waits {
            self.queue.insert(key, waits);
        }
        if request == 'W' {
            self.unwritten.insert(key);
            if let Some(changing) = self.changing.get_mut(&key) {
                changing.3 = true;
            }
        }
    }

    /// One pass: the workers that begin, each with its operation and its items.
    pub(crate) fn pass(&mut self, now: u64, mut worker: u64) -> Vec<(char, Vec<Key>)> {
        let refused: Vec<Key> = self.queue.keys().copied().collect();
        for key in refused {
            let archives = self.queue[&key].state == "A";
            if archives && self.unwritten.contains(&key) && !self.changing.contains_key(&key) {
                self.queue.remove(&key);
                self.failures.insert((key, 'A'));
            }
        }
        let files = self.queue.iter().filter(|(key, _)| key.0);
        let first_file = files.map(|(_, waits)| waits.since).min();
        let mut order: Vec<(u64, Key)> =
            self.queue.iter().map(|(key, waits)| (waits.since, *key)).collect();
        order.sort_unstable();
        // The locks of files are one for each dataset and operation in one pass.
        let mut taken: Vec<(char, u64, usize)> = Vec::new();
        let mut refused: BTreeSet<(char, u64)> = BTreeSet::new();
        let mut begun: Vec<(char, Vec<Key>)> = Vec::new();
        for (_, key) in order {
            let waits = self.queue[&key].clone();
            let operation = waits.state.chars().next().unwrap();
            let early = match key.0 {
                true => first_file.unwrap() + FILE_DELAY > now,
                false => operation == 'W' && waits.not_before > now,
            };
            if early || self.changing.contains_key(&key) {
                continue;
            }
            let shares = key.0.then(|| {
                taken.iter().find(|one| (one.0, one.1) == (operation, key.1)).map(|one| one.2)
            });
            let at = match shares.flatten() {
                Some(at) => at,
                None if key.0 && refused.contains(&(operation, key.1)) => continue,
                None if self.lock(key.1, operation == 'W') => {
                    worker += 1;
                    begun.push((operation, Vec::new()));
                    if key.0 {
                        taken.push((operation, key.1, begun.len() - 1));
                    }
                    begun.len() - 1
                }
                None => {
                    refused.insert((operation, key.1));
                    continue;
                }
            };
            begun[at].1.push(key);
            let number = worker - (begun.len() - 1 - at) as u64;
            self.queue.remove(&key);
            if waits.state == "WA" {
                self.queue.insert(key, Waits { state: "A", ..waits });
            }
            self.changing.insert(key, (operation, number, now, false));
        }
        begun
    }

    pub(crate) fn finish(&mut self, key: Key, good: bool) {
        let (operation, _, _, outdated) = self.changing.remove(&key).unwrap();
        if !good {
            self.failures.insert((key, operation));
            return;
        }
        self.failures.remove(&(key, operation));
        if operation == 'W' && !outdated {
            self.unwritten.remove(&key);
        }
    }

    /// What the lost worker was to do is asked for again, then what was asked for since.
    pub(crate) fn abandon(&mut self, key: Key) {
        let (operation, _, since, _) = self.changing.remove(&key).unwrap();
        let later = self.queue.remove(&key);
        let mut state = ["W", "A", "R", "D"]["WARD".find(operation).unwrap()];
        for request in later.iter().flat_map(|later| later.state.chars()) {
            match cell(key.0, state, request) {
                "=" => {}
                "x" => state = "-",
                next => state = next,
            }
        }
        let not_before = later.map_or(since, |later| later.not_before);
        if state != "-" {
            self.queue.insert(key, Waits { state, since, not_before });
        }
    }

    pub(crate) fn lock(&mut self, dataset: u64, shared: bool) -> bool {
        let count = self.locks.entry(dataset).or_default();
        match (shared, *count) {
            (true, 0..) => *count += 1,
            (false, 0) => *count = -1,
            _ => return false,
        }
        true
    }

    pub(crate) fn unlock(&mut self, dataset: u64) {
        let count = self.locks.get_mut(&dataset).unwrap();
        *count = if *count < 0 { 0 } else { *count - 1 };
    }

    /// The union: the queue wins.
    pub(crate) fn shown(&self, key: Key) -> &'static str {
        let changing = self.changing.get(&key).map(|changing| changing.0);
        let changing = changing.map(|letter| ["W", "A", "R", "D"]["WARD".find(letter).unwrap()]);
        self.queue.get(&key).map(|waits| waits.state).or(changing).unwrap_or("-")
    }
}
