//! Everything that takes part in a run: networks, a disk, a store, a server, a witness and the
//! workers.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use fastrand::Rng;

use crate::crew::{Brief, Crew};
use crate::disk::{self, Disk};
use crate::faults::House;
use crate::network::Network;
use crate::record::Record;
use crate::server::{Order, Server, faketime, set_clock};
use crate::stores::{self, MEMBERS, Store};
use crate::witness::Witness;
use crate::worker::Holds;

/// The space of the server in the network; those of the workers and then of the members follow.
pub(crate) const SERVER: usize = 0;

/// What a world is made of.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) tenure: PathBuf,
    pub(crate) store: stores::Kind,
    pub(crate) disk: disk::Kind,
    pub(crate) workers: usize,
    pub(crate) resources: u32,
    pub(crate) ttl: Duration,
    pub(crate) holds: Holds,
    /// What else the server is told.
    pub(crate) flags: Vec<String>,
}

/// Dropped in this order: whoever uses something goes before it.
pub(crate) struct World {
    pub(crate) crew: Crew,
    pub(crate) house: House,
}

impl World {
    /// In a directory that outlives it.
    pub(crate) fn open(plan: &Plan, directory: &Path, dice: &mut Rng) -> anyhow::Result<Self> {
        let (history, logs) = (history(directory), logs(directory));
        std::fs::create_dir_all(&history)?;
        std::fs::create_dir_all(&logs)?;
        let network = Network::of(1 + plan.workers + MEMBERS).map(Arc::new);
        let network = network.map_err(|why| format!("{why:#}"));
        let disk = Disk::make(directory, plan.disk).map_err(|why| format!("{why:#}"));
        let files = disk.as_ref().map_or(directory, Disk::place).to_owned();
        let members = network.clone().ok().map(|network| (network, 1 + plan.workers));
        let (store, url) = Store::open(plan.store, &files, directory, members)?;
        let address = match &network {
            Ok(network) => format!("{}:7117", network.address(SERVER)),
            Err(_) => free_address()?,
        };
        let clock = |name: &str| -> anyhow::Result<Option<PathBuf>> {
            let file = directory.join(name);
            set_clock(&file, 0)?;
            Ok(faketime().map(|_| file))
        };
        let server = Server::start(Order {
            tenure: plan.tenure.clone(),
            space: network.as_ref().ok().map(|network| network.space(SERVER).to_owned()),
            address: address.clone(),
            data: files.join("data"),
            store: url,
            flags: plan.flags.clone(),
            clock: clock("server-clock")?,
            log: logs.join("server.log"),
        })?;
        let host =
            network.as_ref().map_or_else(|_| "127.0.0.1".to_owned(), |network| network.host());
        let witness = Witness::watch(&format!("{host}:0"), Record::create(&history, "witness")?)?;
        let brief = Brief {
            tenure: plan.tenure.clone(),
            server: address,
            witness: witness.to_string(),
            history,
            logs,
            resources: plan.resources,
            ttl: plan.ttl,
            holds: plan.holds,
            clock: clock("worker-clock")?,
        };
        let space = |nth| network.as_ref().ok().map(|network| network.space(nth).to_owned());
        let spaces = (1..=plan.workers).map(space).collect();
        let crew = Crew::start(brief, spaces, dice.fork())?;
        Ok(Self { crew, house: House { server, store, disk, network, ttl: plan.ttl } })
    }
}

/// Where everybody writes down what was seen.
pub(crate) fn history(directory: &Path) -> PathBuf {
    directory.join("history")
}

/// Where everybody says what went wrong.
pub(crate) fn logs(directory: &Path) -> PathBuf {
    directory.join("logs")
}

/// An address of this machine where nobody listens now.
pub(crate) fn free_address() -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
    Ok(listener.local_addr()?.to_string())
}
