//! Many threads on few datasets: nobody overlaps who must not, and nothing is left.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use tenure::datasets::{LockManager, LockType};

use super::LONG;

/// Counts readers, or is minus one for a writer.
#[derive(Default)]
struct Detector([AtomicI64; 5]);

impl Detector {
    fn enter(&self, dataset: u64, kind: LockType) {
        let inside = &self.0[dataset as usize];
        match kind {
            LockType::Shared => assert!(inside.fetch_add(1, Ordering::SeqCst) >= 0),
            LockType::Exclusive => assert_eq!(inside.swap(-1, Ordering::SeqCst), 0),
        }
    }

    fn leave(&self, dataset: u64, kind: LockType) {
        let inside = &self.0[dataset as usize];
        match kind {
            LockType::Shared => assert!(inside.fetch_sub(1, Ordering::SeqCst) >= 1),
            LockType::Exclusive => assert_eq!(inside.swap(0, Ordering::SeqCst), -1),
        }
    }
}

#[test]
fn threads_that_try_and_threads_that_wait_never_overlap() {
    let (manager, detector) = (LockManager::new(), Detector::default());
    let refused = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (manager, detector, refused) = (&manager, &detector, &refused);
            scope.spawn(move || {
                let mut luck = thread + 1;
                let mut draw = |end: u64| {
                    luck = luck.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (luck >> 33) % end
                };
                for _ in 0..2_000 {
                    let set: Vec<u64> = {
                        let (first, second) = (draw(5), draw(5));
                        if first == second { vec![first] } else { vec![first, second] }
                    };
                    let kind = if draw(3) == 0 { LockType::Exclusive } else { LockType::Shared };
                    let locking = manager.lock(set.clone(), kind);
                    let locking = if draw(2) == 0 { locking.within(LONG) } else { locking };
                    match locking.get() {
                        Ok(lock) => {
                            set.iter().for_each(|dataset| detector.enter(*dataset, kind));
                            std::thread::yield_now();
                            set.iter().for_each(|dataset| detector.leave(*dataset, kind));
                            drop(lock);
                        }
                        Err(error) => {
                            assert!(error.is_busy(), "{error}");
                            refused.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    assert!(refused.load(Ordering::Relaxed) < 16_000, "somebody got something");
    assert!(manager.locks().is_empty());
}
