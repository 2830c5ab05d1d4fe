//! The command under its guard, as `tenure run` sees it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitStatus};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::hold::Manner;
use super::moment::Moment;
use super::order::{Held, Order};
use super::tree;

/// A command that runs under its guard.
pub(super) struct Guarded {
    guard: Pid,
    orders: File,
    /// The guard opens it by its name in `/proc`, as nothing else can be handed over with the standard
    /// streams left to the command.
    _other_end: OwnedFd,
    children: Signal,
}

impl Guarded {
    /// Starts the guard, which waits until it is told that the claim is [held](Self::begin): so much
    /// less is left to be done then. Dropped before that, it ends without having done anything.
    pub(super) fn ready(manner: &Manner<'_>, resources: &str) -> io::Result<Self> {
        tree::gather_orphans()?;
        // Nobody else gets the writing end, so it closes when this process ends, however that happens.
        let (other_end, orders) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let children = signal(SignalKind::child())?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), other_end.as_raw_fd());
        let guard = Command::new("/proc/self/exe")
            .arg0("tenure")
            .args(["guard", "--orders", &path])
            .args(["--grace-micros", &manner.lead.grace.as_micros().to_string()])
            .args(["--reserve-micros", &manner.lead.reserve.as_micros().to_string()])
            .arg("--")
            .args(manner.command)
            .env("TENURE_RESOURCE", resources)
            .spawn()?;
        let guard = Pid::from_child(&guard);
        Ok(Self { guard, orders: File::from(orders), _other_end: other_end, children })
    }

    /// The claim is held: the command may run.
    pub(super) fn begin(&mut self, held: Held, until: Moment) {
        self.tell(Order::Begin(held));
        self.tell(Order::Until(until));
    }

    /// Tells the guard. One that is stopped itself and does not read misses it: then it stops the
    /// command too soon rather than too late.
    pub(super) fn tell(&mut self, order: Order) {
        let _ = self.orders.write_all(order.to_string().as_bytes());
    }

    /// Returns when the guard has ended.
    pub(super) async fn ended(&mut self) -> WaitStatus {
        loop {
            if let Some(status) = tree::bury(self.guard) {
                return status;
            }
            self.children.recv().await;
        }
    }
}
