//! An etcd of three members, each in a network of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use rustix::process::Signal;

use crate::line::Line;
use crate::network::Network;
use crate::process::{LONG, Process, command, until};

/// So that one can be lost.
pub(crate) const MEMBERS: usize = 3;

pub(crate) struct Cluster {
    network: Arc<Network>,
    /// The space of the first member; the others follow.
    first: usize,
    directory: PathBuf,
    members: Vec<Option<Process>>,
}

impl Cluster {
    pub(crate) fn start(
        network: Arc<Network>,
        first: usize,
        beside: &Path,
    ) -> anyhow::Result<Self> {
        let directory = beside.join("etcd");
        std::fs::create_dir_all(&directory)?;
        let mut cluster = Self { network, first, directory, members: Vec::new() };
        for nth in 0..MEMBERS {
            let member = cluster.member(nth)?;
            cluster.members.push(Some(member));
        }
        (0..MEMBERS).try_for_each(|nth| cluster.wait(nth))?;
        Ok(cluster)
    }

    fn member(&self, nth: usize) -> anyhow::Result<Process> {
        let host = self.host(nth);
        let peers: Vec<String> =
            (0..MEMBERS).map(|nth| format!("m{nth}=http://{}:2380", self.host(nth))).collect();
        let log = self.directory.join(format!("m{nth}.log"));
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log)?;
        let mut etcd = command("etcd", Some(self.network.space(self.space(nth))));
        etcd.args(["--name", &format!("m{nth}"), "--log-level", "error", "--data-dir"])
            .arg(self.directory.join(format!("m{nth}")))
            .args(["--listen-client-urls", &format!("http://{host}:2379")])
            .args(["--advertise-client-urls", &format!("http://{host}:2379")])
            .args(["--listen-metrics-urls", &format!("http://{host}:2381")])
            .args(["--listen-peer-urls", &format!("http://{host}:2380")])
            .args(["--initial-advertise-peer-urls", &format!("http://{host}:2380")])
            .args(["--initial-cluster", &peers.join(","), "--initial-cluster-token", "torture"])
            .args(["--heartbeat-interval", "100", "--election-timeout", "1000"])
            .env("ETCD_UNSUPPORTED_ARCH", std::env::consts::ARCH)
            .stdout(Stdio::null())
            .stderr(log);
        Process::spawn(&mut etcd).context("etcd is not there: `make tools` installs it")
    }

    /// Waits until a member says that it is healthy.
    fn wait(&mut self, nth: usize) -> anyhow::Result<()> {
        let mut line = Line::to(&format!("{}:2381", self.host(nth)), Duration::from_secs(5));
        let is_healthy = until(LONG, || {
            let answer = line.ask("GET", "/health", "");
            answer.is_some_and(|answer| answer.body["health"] == "true")
        });
        ensure!(
            is_healthy,
            "member {nth} of etcd does not start: see {}",
            self.directory.display()
        );
        Ok(())
    }

    pub(crate) fn url(&self) -> String {
        let hosts: Vec<String> =
            (0..MEMBERS).map(|nth| format!("{}:2379", self.host(nth))).collect();
        format!("etcd://{}/torture", hosts.join(","))
    }

    pub(crate) fn count(&self) -> usize {
        self.members.len()
    }

    /// Ends a member without a warning.
    pub(crate) fn kill(&mut self, nth: usize) {
        self.members[nth] = None;
    }

    /// Starts a member again, and returns when it has caught up.
    pub(crate) fn again(&mut self, nth: usize) -> anyhow::Result<()> {
        self.members[nth] = Some(self.member(nth)?);
        self.wait(nth)
    }

    pub(crate) fn signal(&self, nth: usize, signal: Signal) {
        if let Some(member) = &self.members[nth] {
            member.signal(signal);
        }
    }

    /// The space in the network where a member is.
    pub(crate) fn space(&self, nth: usize) -> usize {
        self.first + nth
    }

    fn host(&self, nth: usize) -> String {
        self.network.address(self.space(nth))
    }
}
