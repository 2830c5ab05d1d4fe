//! A network of its own for each member, so that one can be cut off.

use std::process::Command;

/// Namespaces joined by a bridge, gone when dropped.
pub(crate) struct Network {
    id: u32,
    count: usize,
}

impl Network {
    /// None, and a word about it, where that is not permitted.
    pub(crate) fn of(count: usize) -> Option<Self> {
        let network = Self { id: std::process::id(), count };
        let bridge = network.bridge();
        let made = run(&format!("ip link add {bridge} type bridge"))
            && run(&format!("ip addr add {}/24 dev {bridge}", network.host(1)))
            && run(&format!("ip link set {bridge} up"))
            && (0..count).all(|nth| network.add(nth));
        if !made {
            eprintln!("SKIPPED, NOT TESTED: network namespaces are not permitted here");
            return None;
        }
        Some(network)
    }

    fn add(&self, nth: usize) -> bool {
        let (space, outer, inner) = (self.space(nth), self.outer(nth), format!("i{}", nth));
        run(&format!("ip netns add {space}"))
            && run(&format!("ip link add {outer} type veth peer name {inner} netns {space}"))
            && run(&format!("ip link set {outer} master {} up", self.bridge()))
            && run(&format!("ip -n {space} addr add {}/24 dev {inner}", self.host(nth + 10)))
            && run(&format!("ip -n {space} link set {inner} up"))
            && run(&format!("ip -n {space} link set lo up"))
    }

    /// The namespace and the address of each member.
    pub(crate) fn members(&self) -> Vec<(String, String)> {
        (0..self.count).map(|nth| (self.space(nth), self.host(nth + 10))).collect()
    }

    /// From now on nobody hears the member, and it hears nobody.
    pub(crate) fn cut(&self, nth: usize) {
        assert!(run(&format!("ip link set {} down", self.outer(nth))));
    }

    pub(crate) fn mend(&self, nth: usize) {
        assert!(run(&format!("ip link set {} up", self.outer(nth))));
    }

    fn bridge(&self) -> String {
        format!("tb{}", self.id)
    }

    fn space(&self, nth: usize) -> String {
        format!("tenure-{}-{nth}", self.id)
    }

    fn outer(&self, nth: usize) -> String {
        format!("tv{}-{nth}", self.id)
    }

    /// Addresses that differ from those of another run on this machine.
    fn host(&self, last: usize) -> String {
        format!("10.{}.{}.{last}", 100 + self.id / 256 % 100, self.id % 256)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for nth in 0..self.count {
            run(&format!("ip netns del {}", self.space(nth)));
            run(&format!("ip link del {}", self.outer(nth)));
        }
        run(&format!("ip link del {}", self.bridge()));
    }
}

fn run(line: &str) -> bool {
    let mut words = line.split(' ');
    let program = words.next().unwrap();
    Command::new(program).args(words).output().is_ok_and(|done| done.status.success())
}
