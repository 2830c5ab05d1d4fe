//! What can be asked for on the command line. Each says whether everything held.

mod cycle;
mod place;
mod run;
mod soak;

use clap::ValueEnum;

pub(crate) use self::cycle::Cycle;
pub(crate) use self::run::Run;
pub(crate) use self::soak::Soak;
use crate::faults::{CREW, HOUSE};

pub(crate) fn tell_faults() -> anyhow::Result<bool> {
    let house = HOUSE.iter().map(|fault| (fault.name, fault.about));
    for (name, about) in house.chain(CREW.iter().map(|fault| (fault.name, fault.about))) {
        println!("{name:<16} {about}");
    }
    Ok(true)
}

/// A value as it is written on the command line.
fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// One that nobody knows before, if none is named.
fn seed(named: Option<u64>) -> u64 {
    named.unwrap_or_else(|| fastrand::u64(..1 << 32))
}
