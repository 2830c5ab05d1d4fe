//! What can happen to a worker and to its keychain.

use anyhow::ensure;
use fastrand::Rng;
use rustix::process::Signal;

use super::freezer::{self, Frozen};
use super::house::jumps;
use super::{Fault, Fit, longer_than, rest};
use crate::crew::Crew;
use crate::process::{children, signal};
use crate::server::set_clock;
use crate::worker::Manner;

pub(super) const KILL: Fault<Crew> = Fault {
    name: "worker-kill",
    about: "a worker is killed, and another takes its seat",
    fits: |_| Fit::Yes,
    strike: |crew, dice| {
        let nth = anybody(crew, dice);
        crew.kill(nth)?;
        rest(dice, 0..=500);
        crew.hire(nth)
    },
};

pub(super) const STOP: Fault<Crew> = Fault {
    name: "worker-stop",
    about: "a worker is stopped for longer than its lease, and goes on",
    fits: |_| Fit::Yes,
    strike: |crew, dice| {
        let nth = anybody(crew, dice);
        crew.signal(nth, Signal::STOP);
        longer_than(crew.brief.ttl, dice);
        crew.signal(nth, Signal::CONT);
        Ok(())
    },
};

pub(super) const FREEZE: Fault<Crew> = Fault {
    name: "worker-freeze",
    about: "a worker is frozen for longer than its lease, and thaws",
    fits: |_| freezer::fit(),
    strike: |crew, dice| {
        let _frozen = Frozen::new(crew.pid(anybody(crew, dice))?)?;
        longer_than(crew.brief.ttl, dice);
        Ok(())
    },
};

pub(super) const CLOCK: Fault<Crew> = Fault {
    name: "worker-clock",
    about: "the wall clocks of the workers and their keychains jump by hours and years",
    fits: |crew| Fit::given(crew.brief.clock.is_some(), "libfaketime is not installed"),
    strike: |crew, dice| {
        let Some(clock) = &crew.brief.clock else { return Ok(()) };
        for jump in jumps(dice) {
            set_clock(clock, jump)?;
            rest(dice, 200..=700);
        }
        Ok(set_clock(clock, 0)?)
    },
};

pub(super) const KEYCHAIN_KILL: Fault<Crew> = Fault {
    name: "keychain-kill",
    about: "a keychain is killed; its worker goes on with another",
    fits: |_| Fit::Yes,
    strike: |crew, dice| {
        keychains(crew, dice)?.into_iter().for_each(|pid| signal(pid, Signal::KILL));
        Ok(())
    },
};

pub(super) const KEYCHAIN_STOP: Fault<Crew> = Fault {
    name: "keychain-stop",
    about: "a keychain is stopped for longer than a lease, and goes on",
    fits: |_| Fit::Yes,
    strike: |crew, dice| {
        let stopped = keychains(crew, dice)?;
        stopped.iter().for_each(|pid| signal(*pid, Signal::STOP));
        longer_than(crew.brief.ttl, dice);
        stopped.into_iter().for_each(|pid| signal(pid, Signal::CONT));
        Ok(())
    },
};

fn anybody(crew: &Crew, dice: &mut Rng) -> usize {
    dice.usize(0..crew.seats.len())
}

/// The keychain of a worker that has one. It may just be starting another one.
fn keychains(crew: &Crew, dice: &mut Rng) -> anyhow::Result<Vec<u32>> {
    let seats = crew.seats.iter().enumerate();
    let owners: Vec<usize> =
        seats.filter(|(_, seat)| seat.manner == Manner::Keychain).map(|(nth, _)| nth).collect();
    ensure!(!owners.is_empty(), "nobody has a keychain");
    Ok(children(crew.pid(owners[dice.usize(0..owners.len())])?))
}
