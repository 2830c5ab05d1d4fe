//! The same blow again and again: clients claim and release, the blow falls in the middle of it,
//! the server starts again, and everything that was acknowledged must be there.

mod client;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use fastrand::Rng;
use serde::Serialize;

use self::client::Client;
use crate::disk::{self, Disk};
use crate::process::{LONG, until};
use crate::progress::Progress;
use crate::server::{Order, Server};
use crate::world::free_address;

const CLIENTS: usize = 4;

/// What falls on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blow {
    /// The process is killed.
    Kill,
    /// Its disk loses power.
    PowerCut(disk::Kind),
}

/// What came out of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Outcome {
    pub(crate) rounds: u64,
    /// Rounds after which something acknowledged was gone.
    pub(crate) lost: u64,
    /// Answers that were heard.
    pub(crate) acknowledged: u64,
    /// Requests whose answer never came, because the blow was first.
    pub(crate) unanswered: u64,
    /// The first few losses, in words.
    pub(crate) losses: Vec<String>,
}

/// What cycles are told.
pub(crate) struct Cycles<'a> {
    pub(crate) tenure: &'a Path,
    pub(crate) flags: &'a [String],
    pub(crate) blow: Blow,
    pub(crate) rounds: u64,
    pub(crate) seed: u64,
}

impl Cycles<'_> {
    pub(crate) fn go(self, directory: &Path, progress: &Progress) -> anyhow::Result<Outcome> {
        let mut dice = Rng::with_seed(self.seed);
        let disk = match self.blow {
            Blow::Kill => None,
            Blow::PowerCut(kind) => Some(Disk::make(directory, kind)?),
        };
        let data = disk.as_ref().map_or(directory, Disk::place).join("data");
        let mut server = Server::start(Order {
            tenure: self.tenure.to_owned(),
            space: None,
            address: free_address()?,
            data: data.clone(),
            store: None,
            flags: [
                self.flags,
                // Small, so that the log is rotated, and a start takes no longer after many rounds.
                &["--ended-max=1000000", "--segment-bytes=1048576", "--snapshot-after=1048576"]
                    .map(str::to_owned),
            ]
            .concat(),
            clock: None,
            log: directory.join("server.log"),
        })?;
        let mut clients = self.clients(&server);
        let mut outcome = Outcome::default();
        while outcome.rounds < self.rounds {
            outcome.rounds += 1;
            outcome.round(&mut clients, &mut dice, || {
                disk.as_ref().map_or(Ok(()), Disk::cut)?;
                server.kill();
                disk.as_ref().map_or(Ok(()), Disk::boot)
            })?;
            let found = match server.again() {
                Ok(()) => losses(&mut clients),
                Err(error) => vec![format!("{error:#}")],
            };
            if !found.is_empty() {
                outcome.lose(found);
                // What is left is not worth much: the next round begins anew.
                server.kill();
                std::fs::remove_dir_all(&data)?;
                server.again()?;
                clients = self.clients(&server);
            }
            progress.step();
        }
        Ok(outcome)
    }

    fn clients(&self, server: &Server) -> Vec<Client> {
        (0..CLIENTS).map(|nth| Client::new(nth, server.address(), self.seed)).collect()
    }
}

impl Outcome {
    /// Everybody is at work until the blow has fallen.
    fn round(
        &mut self,
        clients: &mut [Client],
        dice: &mut Rng,
        blow: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let heard = AtomicU64::new(0);
        let enough = dice.u64(1..=60);
        let told = std::thread::scope(|scope| {
            for client in clients.iter_mut() {
                scope.spawn(|| client.work(&heard));
            }
            let reached = until(LONG, || heard.load(Ordering::SeqCst) >= enough);
            let told = blow();
            anyhow::ensure!(reached, "the server does not answer");
            told
        });
        told.context("the blow itself")?;
        self.acknowledged += heard.load(Ordering::SeqCst);
        self.unanswered += clients.iter().filter(|client| client.is_unsure()).count() as u64;
        Ok(())
    }

    fn lose(&mut self, found: Vec<String>) {
        self.lost += 1;
        let first = found.into_iter().next().filter(|_| self.losses.len() < 5);
        self.losses.extend(first.map(|loss| format!("round {}: {loss}", self.rounds)));
    }
}

/// What was acknowledged and is not there.
fn losses(clients: &mut [Client]) -> Vec<String> {
    clients.iter_mut().flat_map(|client| client.losses()).collect()
}
