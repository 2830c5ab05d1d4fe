//! A network of its own for each process, joined by a bridge, so that anybody can be cut off from
//! anybody.

use std::process::Command;

use anyhow::Context;

use crate::process::{inside, run};

/// The name of everybody's way out, seen from inside.
const WAY: &str = "eth0";

/// Namespaces joined by a bridge, gone when dropped.
pub(crate) struct Network {
    id: u32,
    spaces: Vec<String>,
}

/// Which packets between a client and a server are dropped.
#[derive(Clone, Copy)]
pub(crate) enum Lost {
    /// All of them.
    All,
    /// What the client sends.
    Requests,
    /// What the server sends.
    Answers,
    /// So many of a hundred, both ways.
    Percent(u8),
}

impl Network {
    /// With so many spaces. Fails where that is not permitted.
    pub(crate) fn of(count: usize) -> anyhow::Result<Self> {
        let mut network = Self { id: std::process::id(), spaces: Vec::new() };
        sweep();
        let (bridge, host) = (network.bridge(), network.host());
        run(&format!("ip link add {bridge} type bridge"))
            .context("network namespaces are not permitted here")?;
        run(&format!("ip addr add {host}/24 dev {bridge}"))?;
        run(&format!("ip link set {bridge} up"))?;
        for nth in 0..count {
            network.add(nth)?;
        }
        Ok(network)
    }

    fn add(&mut self, nth: usize) -> anyhow::Result<()> {
        let (space, outer) = (format!("{}{nth}", prefix(self.id)), self.outer(nth));
        run(&format!("ip netns add {space}"))?;
        self.spaces.push(space.clone());
        run(&format!("ip link add {outer} type veth peer name {WAY} netns {space}"))?;
        run(&format!("ip link set {outer} master {} up", self.bridge()))?;
        run(&format!("ip -n {space} addr add {}/24 dev {WAY}", self.address(nth)))?;
        run(&format!("ip -n {space} link set {WAY} up"))?;
        run(&format!("ip -n {space} link set lo up"))
    }

    /// The name of a space.
    pub(crate) fn space(&self, nth: usize) -> &str {
        &self.spaces[nth]
    }

    /// The address of a space.
    pub(crate) fn address(&self, nth: usize) -> String {
        self.nth_address(nth + 10)
    }

    /// The address of the bridge, where the rig itself is.
    pub(crate) fn host(&self) -> String {
        self.nth_address(1)
    }

    /// Nobody hears a space any more, and it hears nobody.
    pub(crate) fn unplug(&self, nth: usize) -> anyhow::Result<()> {
        run(&format!("ip link set {} down", self.outer(nth)))
    }

    pub(crate) fn plug(&self, nth: usize) -> anyhow::Result<()> {
        run(&format!("ip link set {} up", self.outer(nth)))
    }

    fn bridge(&self) -> String {
        bridge(self.id)
    }

    fn outer(&self, nth: usize) -> String {
        format!("tov{}-{nth}", self.id)
    }

    /// Addresses that differ from those of another run on this machine.
    fn nth_address(&self, last: usize) -> String {
        format!("10.{}.{}.{last}", 200 + self.id / 256 % 50, self.id % 256)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for (nth, space) in self.spaces.iter().enumerate() {
            let _ = run(&format!("ip netns del {space}"));
            let _ = run(&format!("ip link del {}", self.outer(nth)));
        }
        let _ = run(&format!("ip link del {}", self.bridge()));
    }
}

/// Drops packets between a space and an address, until it is mended.
pub(crate) fn lose(space: &str, address: &str, lost: Lost) -> anyhow::Result<()> {
    let (out, back) = match lost {
        Lost::All => ("drop".to_owned(), "drop".to_owned()),
        Lost::Requests => ("drop".to_owned(), "accept".to_owned()),
        Lost::Answers => ("accept".to_owned(), "drop".to_owned()),
        Lost::Percent(count) => {
            let some = format!("numgen random mod 100 < {count} drop");
            (some.clone(), some)
        }
    };
    filter(
        space,
        &format!(
            "table inet torture {{ \
             chain out {{ type filter hook output priority 0; ip daddr {address} {out}; }}; \
             chain back {{ type filter hook input priority 0; ip saddr {address} {back}; }}; }}"
        ),
    )
}

/// Ends what [`lose`] began.
pub(crate) fn mend(space: &str) -> anyhow::Result<()> {
    filter(space, "delete table inet torture")
}

/// Makes the way out of a space so narrow that each packet waits for the one before.
pub(crate) fn slow(space: &str) -> anyhow::Result<()> {
    run(&format!("tc -n {space} qdisc add dev {WAY} root tbf rate 6kbit burst 1600 latency 20s"))
}

/// Ends what [`slow`] began.
pub(crate) fn hurry(space: &str) -> anyhow::Result<()> {
    run(&format!("tc -n {space} qdisc del dev {WAY} root"))
}

fn filter(space: &str, rules: &str) -> anyhow::Result<()> {
    let way = inside(Some(space));
    let done = Command::new(&way[0]).args(&way[1..]).args(["nft", rules]).output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    anyhow::ensure!(done.status.success(), "nft {rules}: {}", said.trim());
    Ok(())
}

fn prefix(id: u32) -> String {
    format!("torture-{id}-")
}

fn bridge(id: u32) -> String {
    format!("tob{id}")
}

/// Removes what a run left behind that was killed.
fn sweep() {
    let Ok(spaces) = std::fs::read_dir("/run/netns") else { return };
    for space in spaces.flatten() {
        let name = space.file_name().to_string_lossy().into_owned();
        let id =
            name.strip_prefix("torture-").and_then(|rest| rest.split('-').next()?.parse().ok());
        let Some(id): Option<u32> = id else { continue };
        if !std::path::Path::new(&format!("/proc/{id}")).exists() {
            let _ = run(&format!("ip netns del {name}"));
            let _ = run(&format!("ip link del {}", bridge(id)));
        }
    }
}
