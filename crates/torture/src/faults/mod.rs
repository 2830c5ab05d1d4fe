//! The menu of faults. Each is begun, lasts for a while, and is over when its function returns.

mod crew;
mod disk;
mod freezer;
mod house;
mod members;
mod network;
mod sync;

use std::time::Duration;

use anyhow::bail;
use fastrand::Rng;

pub(crate) use self::house::House;
use crate::crew::Crew;

/// Something bad that can be done to a part of the world.
pub(crate) struct Fault<Part> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Whether it can be done here.
    pub(crate) fits: fn(&Part) -> Fit,
    /// Does it, and undoes it. An error is a finding: what must hold did not.
    pub(crate) strike: fn(&mut Part, &mut Rng) -> anyhow::Result<()>,
}

/// Whether a fault can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    Yes,
    /// It has no meaning for this store.
    NotForThisStore,
    /// This machine cannot do it.
    NotHere(String),
}

impl Fit {
    pub(crate) fn given(possible: bool, otherwise: &str) -> Self {
        if possible { Self::Yes } else { Self::NotHere(otherwise.to_owned()) }
    }
}

/// What can be done to the server, its disk and its store.
pub(crate) const HOUSE: [&Fault<House>; 16] = [
    &house::KILL,
    &house::STORM,
    &house::STOP,
    &house::FREEZE,
    &house::CLOCK,
    &house::TWICE,
    &sync::SLOW,
    &sync::FAILING,
    &disk::FULL,
    &disk::POWER,
    &members::DATABASE_KILL,
    &members::DATABASE_STOP,
    &members::MEMBER_KILL,
    &members::MEMBER_STOP,
    &members::MEMBER_CUT,
    &members::SERVER_CUT,
];

/// What can be done to the workers, their keychains and their networks.
pub(crate) const CREW: [&Fault<Crew>; 11] = [
    &crew::KILL,
    &crew::STOP,
    &crew::FREEZE,
    &crew::CLOCK,
    &crew::KEYCHAIN_KILL,
    &crew::KEYCHAIN_STOP,
    &network::CUT,
    &network::REQUESTS,
    &network::ANSWERS,
    &network::LOSS,
    &network::DELAY,
];

/// Which faults a run may use.
#[derive(Clone, Debug)]
pub(crate) struct Choice(Vec<String>);

impl Choice {
    /// `all`, or names.
    pub(crate) fn of(names: &[String]) -> anyhow::Result<Self> {
        let all = || {
            let house = HOUSE.iter().map(|fault| fault.name);
            house.chain(CREW.iter().map(|fault| fault.name))
        };
        for name in names.iter().filter(|name| *name != "all") {
            if !all().any(|known| known == name) {
                let known: Vec<&str> = all().collect();
                bail!("there is no fault {name:?}: choose from all, {}", known.join(", "));
            }
        }
        Ok(Self(names.to_vec()))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|chosen| chosen == name || chosen == "all")
    }
}

/// The faults of one lane in an order that the dice decide, each once before any comes again.
pub(crate) struct Deck<Part: 'static> {
    faults: Vec<&'static Fault<Part>>,
    left: Vec<&'static Fault<Part>>,
}

impl<Part> Deck<Part> {
    pub(crate) fn of(faults: Vec<&'static Fault<Part>>) -> Self {
        Self { faults, left: Vec::new() }
    }

    /// None if nothing can be done at all.
    pub(crate) fn draw(&mut self, dice: &mut Rng) -> Option<&'static Fault<Part>> {
        if self.left.is_empty() {
            self.left.clone_from(&self.faults);
            dice.shuffle(&mut self.left);
        }
        self.left.pop()
    }
}

/// A while that the dice decide.
pub(crate) fn rest(dice: &mut Rng, ms: std::ops::RangeInclusive<u64>) {
    std::thread::sleep(Duration::from_millis(dice.u64(ms)));
}

/// Longer than a lease, and not much.
pub(crate) fn longer_than(ttl: Duration, dice: &mut Rng) {
    std::thread::sleep(ttl.mul_f64(1.1 + dice.f64()));
}
