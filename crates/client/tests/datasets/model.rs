//! The lock manager against the plainest model of it, a map of counts, over random programs; with a
//! storage that refuses and fails as it is told.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use tenure::datasets::{
    AlreadyLocked, DatasetId, Lock, LockError, LockManager, LockType, Storage, StorageError,
    StorageLock,
};

const CASES: u32 = 4_000;
const DATASETS: u64 = 6;

#[derive(Debug, Clone)]
enum Act {
    Lock(Vec<u64>, bool),
    /// Gives back the nth lock, and once more.
    Release(usize),
    Drop(usize),
    /// From now on the storage of a dataset is well (0), has it locked by another (1), or fails (2).
    Storage(u64, u8),
}

fn acts() -> impl Strategy<Value = Act> {
    let some = prop::collection::vec(0..DATASETS, 0..4);
    // More than one claim can cover, and some of them twice.
    let many = prop::collection::vec(0..40_u64, 17..40);
    prop_oneof![
        8 => (some, any::<bool>()).prop_map(|(set, shared)| Act::Lock(set, shared)),
        1 => (many, any::<bool>()).prop_map(|(set, shared)| Act::Lock(set, shared)),
        4 => any::<usize>().prop_map(Act::Release),
        2 => any::<usize>().prop_map(Act::Drop),
        1 => (0..DATASETS, 0..3_u8).prop_map(|(dataset, how)| Act::Storage(dataset, how)),
    ]
}

/// A storage in memory: how it is with each dataset, and what it has locked.
#[derive(Default, Clone)]
struct Shelf(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    mood: BTreeMap<u64, u8>,
    locked: BTreeMap<u64, LockType>,
    asked: Vec<u64>,
}

impl Storage for Shelf {
    fn lock(
        &self,
        dataset: DatasetId,
        kind: LockType,
    ) -> Result<Option<Box<dyn StorageLock>>, StorageError> {
        let mut inside = self.0.lock().unwrap();
        inside.asked.push(dataset.0);
        match inside.mood.get(&dataset.0) {
            Some(1) => Err(StorageError::AlreadyLocked),
            Some(2) => Err(io::Error::other("the cable is out").into()),
            _ => {
                assert!(inside.locked.insert(dataset.0, kind).is_none(), "it is asked once");
                Ok(Some(Box::new(Kept(self.clone(), dataset.0))))
            }
        }
    }
}

struct Kept(Shelf, u64);

impl StorageLock for Kept {
    fn close(self: Box<Self>) -> io::Result<()> {
        let Self(shelf, dataset) = *self;
        shelf.0.lock().unwrap().locked.remove(&dataset).expect("it is closed once");
        // Logged, not told.
        Err(io::Error::other("something creaked"))
    }
}

/// What the model says to a collection.
#[derive(Debug, PartialEq)]
enum Said {
    Locked,
    Refused(u64, LockType, usize),
    Elsewhere(u64),
    Failed(u64),
}

#[derive(Default)]
struct Model {
    locked: BTreeMap<u64, (LockType, usize)>,
    mood: BTreeMap<u64, u8>,
    /// What the storage should be asked about.
    asked: Vec<u64>,
}

impl Model {
    /// One by one in the order given; if one is refused, all that were locked are released.
    fn lock(&mut self, set: &[u64], kind: LockType) -> Said {
        let mut after = self.locked.clone();
        for &dataset in set {
            match after.get_mut(&dataset) {
                None => drop(after.insert(dataset, (kind, 1))),
                Some((LockType::Shared, count)) if kind == LockType::Shared => *count += 1,
                Some((held, count)) => return Said::Refused(dataset, *held, *count),
            }
        }
        for &dataset in set {
            if self.locked.contains_key(&dataset) || self.asked.contains(&dataset) {
                continue;
            }
            self.asked.push(dataset);
            match self.mood.get(&dataset) {
                Some(1) => return Said::Elsewhere(dataset),
                Some(2) => return Said::Failed(dataset),
                _ => {}
            }
        }
        self.locked = after;
        Said::Locked
    }

    fn release(&mut self, set: &[DatasetId]) {
        for dataset in set {
            let (_, count) = self.locked.get_mut(&dataset.0).unwrap();
            *count -= 1;
            if *count == 0 {
                self.locked.remove(&dataset.0);
            }
        }
    }
}

fn run(program: &[Act], storage: bool) {
    let shelf = Shelf::default();
    let manager = LockManager::new();
    let manager = if storage { manager.with_storage(shelf.clone()) } else { manager };
    let mut model = Model::default();
    let mut locks: Vec<Lock> = Vec::new();
    for act in program {
        match act {
            Act::Lock(set, shared) => {
                let kind = if *shared { LockType::Shared } else { LockType::Exclusive };
                model.asked.clear();
                shelf.0.lock().unwrap().asked.clear();
                let expected = model.lock(set, kind);
                let said = match manager.lock(set.iter().copied(), kind).get() {
                    Ok(lock) => {
                        locks.push(lock);
                        Said::Locked
                    }
                    Err(LockError::AlreadyLocked(AlreadyLocked {
                        dataset,
                        kind,
                        count,
                        waiting,
                    })) => {
                        assert_eq!(waiting, 0);
                        Said::Refused(dataset.0, kind, count)
                    }
                    Err(LockError::LockedElsewhere { dataset }) => Said::Elsewhere(dataset.0),
                    Err(LockError::Storage { dataset, error }) => {
                        assert!(error.to_string().contains("cable"));
                        Said::Failed(dataset.0)
                    }
                    Err(other) => panic!("{other}"),
                };
                assert_eq!(said, expected);
                if storage {
                    assert_eq!(
                        shelf.0.lock().unwrap().asked,
                        model.asked,
                        "once, when it is first"
                    );
                }
            }
            Act::Release(nth) | Act::Drop(nth) if !locks.is_empty() => {
                let lock = locks.swap_remove(nth % locks.len());
                model.release(lock.datasets());
                if matches!(act, Act::Release(_)) {
                    lock.release();
                    lock.release();
                    assert!(lock.check().is_err() || lock.datasets().is_empty());
                }
            }
            Act::Storage(dataset, how) if storage => {
                model.mood.insert(*dataset, *how);
                shelf.0.lock().unwrap().mood.insert(*dataset, *how);
            }
            Act::Release(_) | Act::Drop(_) | Act::Storage(..) => {}
        }
        let lines = manager.locks();
        let shown: BTreeMap<u64, (LockType, usize)> =
            lines.iter().map(|line| (line.dataset.0, (line.kind, line.holders.len()))).collect();
        assert_eq!(shown, model.locked);
        if storage {
            let kept = shelf.0.lock().unwrap().locked.keys().copied().collect::<Vec<_>>();
            assert_eq!(kept, model.locked.keys().copied().collect::<Vec<_>>());
        }
    }
    drop(locks);
    assert!(manager.locks().is_empty());
    assert!(shelf.0.lock().unwrap().locked.is_empty());
}

#[test]
fn manager_and_model_agree_on_random_programs_with_and_without_a_storage() {
    let config = Config {
        cases: CASES,
        rng_seed: RngSeed::Fixed(11),
        failure_persistence: None,
        ..Config::default()
    };
    proptest!(config, |(
        program in prop::collection::vec(acts(), 1..60),
        storage in any::<bool>(),
    )| {
        run(&program, storage);
    });
}

#[test]
fn nothing_at_all_can_be_locked_and_one_twice_is_refused_only_if_it_is_exclusive() {
    let manager = LockManager::new();
    let all = manager.lock([1], LockType::Exclusive).get().unwrap();
    let nothing = manager.lock([0_u64; 0], LockType::Exclusive).get().unwrap();
    assert!(nothing.check().is_ok());
    drop(all);
    let twice = manager.lock([1, 1], LockType::Shared).get().unwrap();
    assert_eq!(manager.locks()[0].holders.len(), 2);
    // Not even the only reader becomes a writer.
    let refused = manager.lock([1], LockType::Exclusive).get().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "dataset 1 is locked SHARED by 2: try again later, or wait for it"
    );
    drop(twice);
    for within in [None, Some(super::LONG)] {
        let locking = manager.lock([1, 1], LockType::Exclusive);
        let locking = match within {
            // It would wait for itself.
            Some(within) => locking.within(within),
            None => locking,
        };
        assert!(locking.get().unwrap_err().is_busy());
        assert!(manager.locks().is_empty());
    }
}
