//! What can happen to the database or to the members of etcd, and to the way there.

use anyhow::Context;
use rustix::process::Signal;

use super::{Fault, Fit, House, longer_than, rest};
use crate::stores::Store;

pub(super) const DATABASE_KILL: Fault<House> = Fault {
    name: "database-kill",
    about: "the database is killed and starts again",
    fits: has_database,
    strike: |house, dice| {
        house.store.kill();
        rest(dice, 0..=500);
        house.store.again()
    },
};

pub(super) const DATABASE_STOP: Fault<House> = Fault {
    name: "database-stop",
    about: "the database is stopped for longer than a lease, and goes on",
    fits: has_database,
    strike: |house, dice| {
        house.store.signal(Signal::STOP);
        longer_than(house.ttl, dice);
        house.store.signal(Signal::CONT);
        Ok(())
    },
};

pub(super) const MEMBER_KILL: Fault<House> = Fault {
    name: "member-kill",
    about: "one of three members of etcd is killed and starts again",
    fits: has_members,
    strike: |house, dice| {
        let Store::Etcd(cluster) = &mut house.store else { return Ok(()) };
        let nth = dice.usize(0..cluster.count());
        cluster.kill(nth);
        rest(dice, 0..=2_000);
        cluster.again(nth)
    },
};

pub(super) const MEMBER_STOP: Fault<House> = Fault {
    name: "member-stop",
    about: "one of three members of etcd is stopped for longer than a lease, and goes on",
    fits: has_members,
    strike: |house, dice| {
        let Store::Etcd(cluster) = &mut house.store else { return Ok(()) };
        let nth = dice.usize(0..cluster.count());
        cluster.signal(nth, Signal::STOP);
        longer_than(house.ttl, dice);
        cluster.signal(nth, Signal::CONT);
        Ok(())
    },
};

pub(super) const MEMBER_CUT: Fault<House> = Fault {
    name: "member-cut",
    about: "one of three members of etcd is cut off from everybody",
    fits: |house| match (has_members(house), &house.network) {
        (Fit::Yes, Err(why)) => Fit::NotHere(why.clone()),
        (fit, _) => fit,
    },
    strike: |house, dice| {
        let Store::Etcd(cluster) = &house.store else { return Ok(()) };
        let network = house.network.as_ref().ok().context("there is a network")?;
        let space = cluster.space(dice.usize(0..cluster.count()));
        network.unplug(space)?;
        longer_than(house.ttl, dice);
        network.plug(space)
    },
};

pub(super) const SERVER_CUT: Fault<House> = Fault {
    name: "server-cut",
    about: "the server is cut off from everybody",
    fits: |house| house.network.as_ref().map_or_else(|why| Fit::NotHere(why.clone()), |_| Fit::Yes),
    strike: |house, dice| {
        let network = house.network.as_ref().ok().context("there is a network")?;
        network.unplug(crate::world::SERVER)?;
        longer_than(house.ttl, dice);
        network.plug(crate::world::SERVER)
    },
};

fn has_database(house: &House) -> Fit {
    match house.store {
        Store::Postgres(_) | Store::MySql(_) => Fit::Yes,
        Store::Embedded | Store::Sqlite | Store::Etcd(_) => Fit::NotForThisStore,
    }
}

fn has_members(house: &House) -> Fit {
    match house.store {
        Store::Etcd(_) => Fit::Yes,
        Store::Embedded | Store::Sqlite | Store::Postgres(_) | Store::MySql(_) => {
            Fit::NotForThisStore
        }
    }
}
