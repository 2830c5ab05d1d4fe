//! Waiting with a time-out: in turn, all or nothing, on a thread or in a future, and gone without a
//! trace if nobody waits any more.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tenure::datasets::{
    DatasetId, LockError, LockManager, LockType, Storage, StorageError, StorageLock,
};

use super::{LONG, wait_until};

/// How many wait for a dataset: a try is told.
fn waiting(manager: &LockManager, dataset: u64) -> usize {
    match manager.lock([dataset], LockType::Exclusive).get() {
        Ok(_) => 0,
        Err(LockError::AlreadyLocked(locked)) => locked.waiting,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn who_waits_is_served_when_the_holder_gives_back() {
    let manager = LockManager::new();
    let holder = manager.lock([1, 2], LockType::Shared).get().unwrap();
    let writer = {
        let manager = manager.clone();
        std::thread::spawn(move || {
            manager.lock([2, 3], LockType::Exclusive).within(Duration::MAX).get().unwrap()
        })
    };
    wait_until(|| waiting(&manager, 2) == 1);
    holder.release();
    let lock = writer.join().unwrap();
    assert_eq!(manager.locks().len(), 2);
    drop(lock);
}

#[test]
fn time_out_names_who_is_in_the_way_and_leaves_nothing() {
    let manager = LockManager::new();
    let _holder = manager.lock([2], LockType::Shared).get().unwrap();
    let within = Duration::from_millis(20);
    let refused = manager.lock([1, 2], LockType::Exclusive).within(within).get().unwrap_err();
    let LockError::AlreadyLocked(locked) = refused else { panic!("{refused}") };
    assert_eq!((locked.dataset, locked.kind, locked.count), (DatasetId(2), LockType::Shared, 1));
    assert_eq!(waiting(&manager, 2), 0);
    assert!(manager.lock([1], LockType::Exclusive).get().is_ok());
}

#[test]
fn steady_readers_do_not_starve_a_writer_that_waits() {
    let manager = LockManager::new();
    let first = manager.lock([1], LockType::Shared).get().unwrap();
    let writer = {
        let manager = manager.clone();
        std::thread::spawn(move || {
            manager.lock([1], LockType::Exclusive).within(LONG).get().unwrap()
        })
    };
    wait_until(|| waiting(&manager, 1) == 1);
    // Readers who come later are refused, though there are only readers.
    let refused = manager.lock([1], LockType::Shared).get().unwrap_err();
    let LockError::AlreadyLocked(locked) = refused else { panic!("{refused}") };
    assert_eq!((locked.kind, locked.count, locked.waiting), (LockType::Shared, 1, 1));
    drop(first);
    drop(writer.join().unwrap());
    assert!(manager.lock([1], LockType::Shared).get().is_ok());
}

#[tokio::test]
async fn future_waits_without_a_thread_and_leaves_when_it_is_dropped() {
    let manager = LockManager::new();
    let holder = manager.lock([1], LockType::Exclusive).await.unwrap();
    let waiter = tokio::spawn(manager.lock([1], LockType::Shared).within(LONG).into_future());
    let given_up = tokio::spawn(manager.lock([1], LockType::Shared).within(LONG).into_future());
    while waiting(&manager, 1) < 2 {
        tokio::task::yield_now().await;
    }
    given_up.abort();
    while waiting(&manager, 1) > 1 {
        tokio::task::yield_now().await;
    }
    drop(holder);
    let lock = tokio::time::timeout(LONG, waiter).await.unwrap().unwrap().unwrap();
    assert_eq!(manager.locks()[0].holders.len(), 1);
    drop(lock);
    assert!(manager.locks().is_empty());
}

/// More than one claim covers, in opposite orders: nobody holds some while it waits for others.
#[test]
fn large_sets_in_any_order_do_not_wait_for_each_other_for_ever() {
    let manager = LockManager::new();
    std::thread::scope(|scope| {
        for nth in 0..4_u64 {
            let manager = &manager;
            scope.spawn(move || {
                let mut set: Vec<u64> = (0..40).collect();
                set.rotate_left(nth as usize * 9);
                if nth % 2 == 1 {
                    set.reverse();
                }
                for _ in 0..25 {
                    let lock = manager.lock(set.clone(), LockType::Exclusive).within(LONG);
                    drop(lock.get().unwrap());
                }
            });
        }
    });
    assert!(manager.locks().is_empty());
}

/// Another program has it, until it has not.
struct Elsewhere(Arc<AtomicBool>);

impl Storage for Elsewhere {
    fn lock(
        &self,
        _: DatasetId,
        _: LockType,
    ) -> Result<Option<Box<dyn StorageLock>>, StorageError> {
        match self.0.load(Ordering::SeqCst) {
            true => Err(StorageError::AlreadyLocked),
            false => Ok(Some(Box::new(Free))),
        }
    }
}

struct Free;

impl StorageLock for Free {
    fn close(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn who_waits_also_waits_for_other_programs() {
    let taken = Arc::new(AtomicBool::new(true));
    let manager = LockManager::new().with_storage(Elsewhere(taken.clone()));
    let refused = manager.lock([1], LockType::Shared).within(Duration::from_millis(1)).get();
    assert!(matches!(refused, Err(LockError::LockedElsewhere { dataset: DatasetId(1) })));
    let waiter = {
        let manager = manager.clone();
        std::thread::spawn(move || manager.lock([1, 2], LockType::Shared).within(LONG).get())
    };
    taken.store(false, Ordering::SeqCst);
    assert!(waiter.join().unwrap().is_ok());
}
