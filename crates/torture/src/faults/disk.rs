//! What can happen to the disk under a store.

use super::{Fault, Fit, House, rest};
use crate::process::run;
use crate::stores::Store;

pub(super) const FULL: Fault<House> = Fault {
    name: "full-disk",
    about: "the disk is full for a while",
    fits: fit,
    strike: |house, dice| {
        let Ok(disk) = &house.disk else { return Ok(()) };
        disk.fill()?;
        rest(dice, 1_000..=3_000);
        disk.free()
    },
};

pub(super) const POWER: Fault<House> = Fault {
    name: "power-cut",
    about: "the machine of the server loses power: what was not synced is gone",
    fits: |house| {
        let fit = fit(house);
        let can_cut = fit != Fit::Yes || run("xfs_io -V").is_ok();
        if can_cut { fit } else { Fit::NotHere("xfs_io is not installed".to_owned()) }
    },
    strike: |house, dice| {
        let Ok(disk) = &house.disk else { return Ok(()) };
        disk.cut()?;
        rest(dice, 0..=200);
        house.server.kill();
        house.store.kill();
        disk.boot()?;
        house.store.again()?;
        house.server.again()
    },
};

/// Where the files of the store are on a disk of ours.
fn fit(house: &House) -> Fit {
    match (&house.store, &house.disk) {
        (Store::Etcd(_), _) => Fit::NotForThisStore,
        (_, Err(why)) => Fit::NotHere(why.clone()),
        (_, Ok(_)) => Fit::Yes,
    }
}
