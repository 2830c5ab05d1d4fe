//! What can happen to a server.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use fastrand::Rng;
use rustix::process::Signal;

use super::freezer::{self, Frozen};
use super::{Fault, Fit, longer_than, rest};
use crate::disk::Disk;
use crate::network::Network;
use crate::process::{LONG, Process};
use crate::server::{Server, set_clock};
use crate::stores::Store;

const HOUR: i64 = 3_600;
const YEAR: i64 = 365 * 24 * HOUR;

/// The server, and all it stands on.
pub(crate) struct House {
    pub(crate) server: Server,
    pub(crate) store: Store,
    /// Where the store keeps its files; none if a file system cannot be mounted, and why.
    pub(crate) disk: Result<Disk, String>,
    /// None if it is not permitted, and why.
    pub(crate) network: Result<Arc<Network>, String>,
    pub(crate) ttl: Duration,
}

impl House {
    /// Nobody ends unless it is made to.
    pub(crate) fn check(&mut self) -> anyhow::Result<()> {
        let ended = self.server.ended();
        let words = self.server.last_words();
        ensure!(ended.is_none(), "the server ended by itself ({ended:?}): {words}");
        Ok(())
    }
}

pub(super) const KILL: Fault<House> = Fault {
    name: "server-kill",
    about: "the server is killed and starts again",
    fits: |_| Fit::Yes,
    strike: |house, dice| {
        house.server.kill();
        rest(dice, 0..=300);
        house.server.again()
    },
};

pub(super) const STORM: Fault<House> = Fault {
    name: "restart-storm",
    about: "the server is killed again and again, right after it has started",
    fits: |_| Fit::Yes,
    strike: |house, dice| {
        for _ in 0..8 {
            house.server.kill();
            house.server.again()?;
            rest(dice, 0..=250);
        }
        Ok(())
    },
};

pub(super) const STOP: Fault<House> = Fault {
    name: "server-stop",
    about: "the server is stopped for longer than a lease, and goes on",
    fits: |_| Fit::Yes,
    strike: |house, dice| {
        house.server.signal(Signal::STOP);
        longer_than(house.ttl, dice);
        house.server.signal(Signal::CONT);
        Ok(())
    },
};

pub(super) const FREEZE: Fault<House> = Fault {
    name: "server-freeze",
    about: "the server is frozen for longer than a lease, and thaws",
    fits: |_| freezer::fit(),
    strike: |house, dice| {
        let _frozen = Frozen::new(house.server.pid()?)?;
        longer_than(house.ttl, dice);
        Ok(())
    },
};

pub(super) const CLOCK: Fault<House> = Fault {
    name: "server-clock",
    about: "the wall clock of the server jumps by hours and years",
    fits: |house| Fit::given(house.server.clock().is_some(), "libfaketime is not installed"),
    strike: |house, dice| {
        let Some(clock) = house.server.clock() else { return Ok(()) };
        for jump in jumps(dice) {
            set_clock(clock, jump)?;
            rest(dice, 200..=700);
        }
        Ok(set_clock(clock, 0)?)
    },
};

/// Forth and back.
pub(super) fn jumps(dice: &mut Rng) -> [i64; 4] {
    let mut jumps = [HOUR, -HOUR, 10 * YEAR, -10 * YEAR];
    dice.shuffle(&mut jumps);
    jumps
}

pub(super) const TWICE: Fault<House> = Fault {
    name: "two-servers",
    about: "a second server is started on the same directory, and must refuse",
    fits: |house| if house.server.store().is_some() { Fit::NotForThisStore } else { Fit::Yes },
    strike: |house, _| {
        let mut command = house.server.command("127.0.0.1:0");
        let mut second = Process::spawn(command.stdout(Stdio::null()))?;
        let status = second.end(LONG);
        let words = house.server.last_words();
        ensure!(status.is_ok(), "a second server serves the same directory");
        ensure!(!status?.success(), "a second server ended as if all were well: {words}");
        Ok(())
    },
};
