//! A real etcd of three members, started on free ports and gone with the process that started it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Longer than anything here takes, unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// One member: where it listens, and in which network it lives.
#[derive(Clone)]
struct Seat {
    name: String,
    host: String,
    client: u16,
    peer: u16,
    /// Where it says how it is, unencrypted.
    health: u16,
    /// What its command line begins with: `ip netns exec …`, or nothing.
    inside: String,
    /// Further arguments.
    extra: String,
}

pub(crate) struct Cluster {
    seats: Vec<Seat>,
    /// A shell for each member, which ends it when its input is closed.
    keepers: Vec<Option<Child>>,
    directory: PathBuf,
}

/// The one that all tests share which harm nobody.
pub(crate) fn shared() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::start)
}

impl Cluster {
    /// Three members on this machine.
    pub(crate) fn start() -> Self {
        Self::of(3, "")
    }

    /// Members on this machine, with further arguments.
    pub(crate) fn of(count: usize, extra: &str) -> Self {
        for _ in 0..5 {
            let ports = free_ports(3 * count);
            let seats = (0..count).map(|nth| Seat {
                name: format!("m{nth}"),
                host: "127.0.0.1".into(),
                client: ports[3 * nth],
                peer: ports[3 * nth + 1],
                health: ports[3 * nth + 2],
                inside: String::new(),
                extra: extra.into(),
            });
            let cluster = Self::with(seats.collect());
            if cluster.is_up() {
                return cluster;
            }
            // Somebody took one of the ports meanwhile.
        }
        panic!("etcd does not start")
    }

    /// Members in networks of their own.
    pub(crate) fn in_networks(networks: &[(String, String)]) -> Self {
        let seats = networks.iter().enumerate().map(|(nth, (network, host))| Seat {
            name: format!("m{nth}"),
            host: host.clone(),
            client: 2379,
            peer: 2380,
            health: 2381,
            inside: format!("ip netns exec {network}"),
            extra: String::new(),
        });
        let cluster = Self::with(seats.collect());
        assert!(cluster.is_up(), "etcd starts in networks of its own");
        cluster
    }

    fn with(seats: Vec<Seat>) -> Self {
        let directory = tempfile::Builder::new().prefix("tenure-etcd-").tempdir().unwrap().keep();
        let keepers = seats.iter().map(|_| None).collect();
        let mut cluster = Self { seats, keepers, directory };
        (0..cluster.seats.len()).for_each(|nth| cluster.run(nth));
        cluster
    }

    /// Starts a member, for the first time or again.
    pub(crate) fn run(&mut self, nth: usize) {
        let Seat { name, host, client, peer, health, inside, extra } = &self.seats[nth];
        let scheme = if extra.contains("--cert-file") { "https" } else { "http" };
        let all: Vec<String> = self
            .seats
            .iter()
            .map(|seat| format!("{}=http://{}:{}", seat.name, seat.host, seat.peer))
            .collect();
        // The inner shell becomes the member. The outer one waits until the pipe closes.
        let script = format!(
            "{inside} etcd --name {name} --data-dir $DIR/{name} --log-level error \
             --listen-client-urls {scheme}://{host}:{client} \
             --advertise-client-urls {scheme}://{host}:{client} --listen-metrics-urls http://{host}:{health} \
             --listen-peer-urls http://{host}:{peer} --initial-advertise-peer-urls http://{host}:{peer} \
             --initial-cluster {} --initial-cluster-token {} --heartbeat-interval 100 \
             --election-timeout 1000 {extra} >>$DIR/{name}.log 2>&1 </dev/null & \
             echo $! >$DIR/{name}.pid; read -r last; kill -9 $! 2>/dev/null; wait; \
             [ \"$last\" = again ] || rm -rf $DIR",
            all.join(","),
            self.directory.file_name().unwrap().display(),
        );
        let keeper = Command::new("sh")
            .arg("-c")
            .arg(script)
            .env("DIR", &self.directory)
            .env("ETCD_UNSUPPORTED_ARCH", std::env::consts::ARCH)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.keepers[nth] = Some(keeper.unwrap());
    }

    /// Waits until every member says that it is healthy. False if one has ended instead.
    fn is_up(&self) -> bool {
        let start = Instant::now();
        while !self.seats.iter().all(is_healthy) {
            let ended = |seat: &Seat| self.pid(&seat.name).is_some_and(|pid| !is_running(pid));
            if self.seats.iter().any(ended) {
                return false;
            }
            assert!(start.elapsed() < PATIENCE, "etcd does not become healthy");
            std::thread::sleep(Duration::from_millis(50));
        }
        true
    }

    fn pid(&self, name: &str) -> Option<u32> {
        let text = std::fs::read_to_string(self.directory.join(format!("{name}.pid"))).ok()?;
        text.trim().parse().ok()
    }

    /// Ends a member without a word, as a power cut would.
    pub(crate) fn kill(&self, nth: usize) {
        let pid = self.pid(&self.seats[nth].name).unwrap();
        let done = Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        assert!(done.success());
        while is_running(pid) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Starts a member again that was killed, and waits until it has caught up.
    pub(crate) fn revive(&mut self, nth: usize) {
        let mut keeper = self.keepers[nth].take().unwrap();
        writeln!(keeper.stdin.take().unwrap(), "again").unwrap();
        keeper.wait().unwrap();
        self.run(nth);
        let start = Instant::now();
        while !is_healthy(&self.seats[nth]) {
            assert!(start.elapsed() < PATIENCE, "a member comes back");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The address of all members, for claims under a prefix.
    pub(crate) fn url(&self, prefix: &str) -> String {
        let hosts: Vec<String> =
            self.seats.iter().map(|seat| format!("{}:{}", seat.host, seat.client)).collect();
        format!("etcd://{}/{prefix}", hosts.join(","))
    }

    /// What a member says of itself.
    pub(crate) fn page(&self, nth: usize, path: &str) -> std::io::Result<String> {
        page(&self.seats[nth], path)
    }

    /// The addresses of all members.
    pub(crate) fn endpoints(&self) -> Vec<String> {
        self.seats.iter().map(|seat| format!("{}:{}", seat.host, seat.client)).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for keeper in self.keepers.iter_mut().flatten() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn is_running(pid: u32) -> bool {
    // A zombie has ended, too: its shell has not looked yet.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn is_healthy(seat: &Seat) -> bool {
    page(seat, "/health").is_ok_and(|answer| answer.contains("\"true\""))
}

fn page(seat: &Seat, path: &str) -> std::io::Result<String> {
    let address = format!("{}:{}", seat.host, seat.health);
    let mut stream = TcpStream::connect(&address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Ports that nobody listens on now.
fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}
