//! What is about to go wrong, and when.

use std::io;

use claims::Span;

use super::{Disk, Platter};

/// Where inside the store's work the machine stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CrashAt {
    /// Before the nth sync from here.
    BeforeSync(u32),
    /// When the nth sync from here is done, and before anybody knows.
    AfterSync(u32),
    /// In the middle of the nth operation from here that changes something.
    Operation(u32),
}

#[derive(Debug, Default)]
pub(super) struct Faults {
    crash: Option<CrashAt>,
    crashed: bool,
    failing_syncs: u32,
    failing_writes: u32,
    /// How long a sync takes while the disk is slow.
    slow: Option<Span>,
    /// No more than this may be used.
    capacity: Option<u64>,
    /// Something did not fit since the last question.
    refused: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Write,
    Names,
    Sync,
}

impl Disk {
    /// The machine will stop there.
    pub fn arm(&self, crash: CrashAt) {
        self.platter().faults.crash = Some(crash);
    }

    /// Whether the machine has stopped.
    pub(crate) fn has_crashed(&self) -> bool {
        self.platter().faults.crashed
    }

    /// The machine runs again; nothing is armed any more.
    pub fn restart(&self) {
        let faults = &mut self.platter().faults;
        faults.crashed = false;
        faults.crash = None;
    }

    /// The next sync fails, and the cache forgets what it did not write.
    pub fn fail_next_sync(&self) {
        self.platter().faults.failing_syncs = 1;
    }

    pub(crate) fn fail_next_write(&self) {
        self.platter().faults.failing_writes = 1;
    }

    /// From now on a sync takes about this long.
    pub(crate) fn slow_down(&self, typical: Span) {
        self.platter().faults.slow = Some(typical);
    }

    pub(crate) fn speed_up(&self) {
        self.platter().faults.slow = None;
    }

    /// From now on nothing more fits than what is there.
    pub fn fill_up(&self) {
        let mut platter = self.platter();
        platter.faults.capacity = Some(platter.used());
    }

    /// There is room again.
    pub fn make_room(&self) {
        self.platter().faults.capacity = None;
    }

    /// Whether nothing more fits, or something did not since this was asked before.
    pub(crate) fn is_or_was_full(&self) -> bool {
        let faults = &mut self.platter().faults;
        faults.capacity.is_some() | std::mem::take(&mut faults.refused)
    }

    /// Nothing will go wrong from now on.
    pub(crate) fn heal(&self) {
        let crashed = self.has_crashed();
        self.platter().faults = Faults { crashed, ..Faults::default() };
    }
}

impl Platter {
    /// Nothing works on a machine that has stopped.
    pub(super) fn work(&self) -> io::Result<()> {
        match self.faults.crashed {
            true => Err(stopped()),
            false => Ok(()),
        }
    }

    /// Called before an operation has any effect.
    pub(super) fn before(&mut self, operation: Operation) -> io::Result<()> {
        self.work()?;
        self.latency = Span::from_micros(self.latency.as_micros() + self.cost(operation));
        let crash = match (&mut self.faults.crash, operation) {
            (Some(CrashAt::BeforeSync(left)), Operation::Sync) => count_down(left),
            (Some(CrashAt::Operation(left)), _) => count_down(left) && self.rng.coin(),
            _ => false,
        };
        self.stop_if(crash)
    }

    /// Called when its effect is there.
    pub(super) fn after(&mut self, operation: Operation) -> io::Result<()> {
        let crash = match (&mut self.faults.crash, operation) {
            (Some(CrashAt::AfterSync(left)), Operation::Sync) => count_down(left),
            (Some(CrashAt::Operation(0)), _) => true,
            _ => false,
        };
        self.stop_if(crash)
    }

    pub(super) fn sync_fails(&mut self) -> bool {
        take_one(&mut self.faults.failing_syncs)
    }

    pub(super) fn write_fails(&mut self) -> bool {
        take_one(&mut self.faults.failing_writes)
    }

    /// Takes up `more` bytes, if they fit.
    pub(super) fn take_up(&mut self, more: u64) -> io::Result<()> {
        match self.faults.capacity {
            Some(capacity) if more > 0 && self.used() + more > capacity => {
                self.faults.refused = true;
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }

    fn stop_if(&mut self, crash: bool) -> io::Result<()> {
        self.faults.crashed |= crash;
        self.work()
    }

    /// In microseconds.
    fn cost(&mut self, operation: Operation) -> u64 {
        match (operation, self.faults.slow) {
            (Operation::Write, _) => 5,
            (Operation::Names, _) => 20,
            (Operation::Sync, None) => self.rng.between(200, 2_000),
            (Operation::Sync, Some(typical)) => self.rng.spread(typical).as_micros(),
        }
    }
}

/// Whether it was the last one.
fn count_down(left: &mut u32) -> bool {
    *left = left.saturating_sub(1);
    *left == 0
}

fn take_one(count: &mut u32) -> bool {
    let some = *count > 0;
    *count = count.saturating_sub(1);
    some
}

fn stopped() -> io::Error {
    io::Error::other("simulated: the machine stopped here")
}
