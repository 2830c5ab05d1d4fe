//! The command under its guard, as `tenure run` sees it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitStatus};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::lead::Lead;
use super::moment::Moment;
use super::order::Order;
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

/// What the command finds in its environment.
pub(super) type Environment = Vec<(&'static str, String)>;

impl Guarded {
    pub(super) fn start(
        command: &[OsString],
        environment: Environment,
        lead: Lead,
        until: Moment,
    ) -> io::Result<Self> {
        tree::gather_orphans()?;
        // Nobody else gets the writing end, so it closes when this process ends, however that happens.
        let (other_end, orders) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let children = signal(SignalKind::child())?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), other_end.as_raw_fd());
        let guard = Command::new("/proc/self/exe")
            .arg0("tenure")
            .args(["guard", "--orders", &path])
            .args(["--grace-micros", &lead.grace.as_micros().to_string()])
            .args(["--reserve-micros", &lead.reserve.as_micros().to_string()])
            .arg("--")
            .args(command)
            .envs(environment)
            .spawn()?;
        let guard = Pid::from_child(&guard);
        let mut guarded =
            Self { guard, orders: File::from(orders), _other_end: other_end, children };
        guarded.tell(Order::Until(until));
        Ok(guarded)
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
