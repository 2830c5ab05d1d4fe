//! `std::sync` as the scheduler has it, with naps that can end by themselves.

use std::time::Duration;

use shuttle::sync::atomic::{AtomicBool, Ordering};
pub(crate) use shuttle::sync::{Arc, LockResult, Mutex, MutexGuard, TryLockError, atomic, mpsc};

use super::{thread, time};

/// Only naps that are meant to end are ended. A longer one is there in case that something goes
/// wrong: nobody may need it, so here it has no end, and whoever is not woken hangs.
const NAP_MAX: Duration = Duration::from_millis(10);

#[derive(Default)]
pub(crate) struct Condvar(Arc<shuttle::sync::Condvar>);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.0.wait(guard)
    }

    pub(crate) fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        span: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, ())> {
        let awake = Arc::new(AtomicBool::new(false));
        if span <= NAP_MAX {
            let (end, nap, awake) = (time::now() + span, self.0.clone(), awake.clone());
            thread::spawn(move || {
                while !awake.load(Ordering::SeqCst) {
                    time::pass_to(end);
                    nap.notify_all();
                    thread::yield_now();
                }
            });
        }
        let guard = self.0.wait(guard).expect("nothing panics with a lock in its hands");
        awake.store(true, Ordering::SeqCst);
        Ok((guard, ()))
    }
}
