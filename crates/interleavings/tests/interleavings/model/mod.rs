//! The system's locks, threads and clock, as the scheduler has them.

pub(crate) mod sync;
pub(crate) mod time;
pub(crate) mod tokio;

pub(crate) mod thread {
    pub(crate) use shuttle::thread::{Builder, JoinHandle, ThreadId, current, spawn, yield_now};
}

/// Somebody else may go on here.
pub(crate) fn switch() {
    use shuttle::sync::atomic::{AtomicBool, Ordering};
    AtomicBool::new(false).load(Ordering::SeqCst);
}
