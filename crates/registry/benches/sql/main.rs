//! What claims in a database cost, side by side with the same transactions sent by hand.
//!
//! `cargo bench -p registry --bench sql -- [SECONDS]`. A cycle is one claim and its release, each made
//! durable, on a resource of its own. Both sides are measured in turns, in one run.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people")]

mod hand;
#[path = "../../../update-if/tests/servers/mod.rs"]
mod servers;

use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use claims::{Command, Farewell, KeyHash, Limit, Name, Owner, Registration, Resources, Rules, Ttl};
use registry::Store;

use self::hand::Hand;

const ROUNDS: usize = 4;
const AT_ONCE: u64 = 8;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let runtime = || tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if let [child, side, url, nth, secs] = &arguments[..]
        && child == "child"
    {
        let (nth, secs) = (nth.parse().unwrap(), Duration::from_secs_f64(secs.parse().unwrap()));
        println!("{}", runtime().block_on(cycles(side, url, nth, 1, secs)));
        return;
    }
    let secs: f64 = arguments.first().and_then(|secs| secs.parse().ok()).unwrap_or(0.3);
    let files = tempfile::tempdir().unwrap();
    let file = |name: &str| format!("sqlite:{}/{name}.db", files.path().display());
    let sqlite = [file("store"), file("hand")];
    runtime().block_on(Hand::prepare(&sqlite));
    compare("SQLite, 8 processes", secs, |side| eight_processes(SIDES[side], &sqlite[side], secs));
    for (what, urls) in [("PostgreSQL, 8 at once", postgres()), ("MariaDB, 8 at once", mariadb())] {
        let runtime = runtime();
        runtime.block_on(Hand::prepare(&urls));
        let span = Duration::from_secs_f64(secs);
        compare(what, secs, |side| {
            runtime.block_on(cycles(SIDES[side], &urls[side], 0, AT_ONCE, span))
        });
    }
}

const SIDES: [&str; 2] = ["store", "hand"];

/// Measures both sides in turns, and tells.
fn compare(what: &str, secs: f64, mut measure: impl FnMut(usize) -> u64) {
    let mut sums = [0, 0];
    for round in 0..ROUNDS {
        // Whoever is second finds warmer caches: that changes sides, too.
        for side in [round % 2, (round + 1) % 2] {
            sums[side] += measure(side);
        }
    }
    let [store, hand] = sums.map(|sum| sum as f64 / (ROUNDS as f64 * secs));
    let share = 100.0 * store / hand;
    println!("{what}: {store:.0} cycles/s, by hand {hand:.0}, {share:.0} %");
}

fn eight_processes(side: &str, url: &str, secs: f64) -> u64 {
    let start = |nth: u64| {
        let mut process = Process::new(std::env::current_exe().unwrap());
        process.args(["child", side, url, &nth.to_string(), &secs.to_string()]);
        process.stdout(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = (0..AT_ONCE).map(start).collect();
    let counts = running.into_iter().map(|process| {
        let output = process.wait_with_output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse::<u64>().unwrap()
    });
    counts.sum()
}

/// How many cycles so many contenders get through in that time.
async fn cycles(side: &str, url: &str, first: u64, contenders: u64, span: Duration) -> u64 {
    let count = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    if side == "store" {
        let store = registry::place::open(url, Rules::default()).await.unwrap();
        let until = Instant::now() + span;
        for nth in first..first + contenders {
            let (store, count) = (store.clone(), count.clone());
            tasks.push(tokio::spawn(async move {
                while Instant::now() < until {
                    cycle(&store, nth).await;
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
    } else {
        let hand = Hand::open(url).await;
        let until = Instant::now() + span;
        for nth in first..first + contenders {
            let (hand, count) = (hand.clone(), count.clone());
            tasks.push(tokio::spawn(async move {
                while Instant::now() < until {
                    hand.cycle(nth).await;
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    count.load(Ordering::Relaxed)
}

async fn cycle(store: &Arc<dyn Store>, nth: u64) {
    let registration = Registration {
        key: KeyHash(key()),
        resources: Resources::one(Name::new(&format!("bench/{nth}")).unwrap()),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::from_secs_f64(60.0).unwrap(),
        data: None,
    };
    let key = registration.key;
    let standing = store.submit(Command::Register(registration)).await.unwrap().unwrap();
    assert!(standing.place.is_none(), "nobody else wants it");
    let owner = Owner { claim: standing.claim.id, key };
    store.submit(Command::End(owner, Farewell::Release)).await.unwrap().unwrap();
}

/// A key that nobody has used.
fn key() -> [u8; 16] {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut key = [0; 16];
    key[..8].copy_from_slice(&(now.as_nanos() as u64).to_le_bytes());
    key[8..12].copy_from_slice(&std::process::id().to_le_bytes());
    key[12..].copy_from_slice(&(NEXT.fetch_add(1, Ordering::Relaxed) as u32).to_le_bytes());
    key
}

/// As it is run in earnest: every commit is synced.
fn postgres() -> [String; 2] {
    let bin = servers::newest("/usr/lib/postgresql", "bin/postgres");
    let root = servers::is_root();
    let user = if root { "setpriv --reuid=postgres --regid=postgres --clear-groups" } else { "" };
    let directory = servers::serve(&format!(
        "{owner} && {user} {bin}/initdb -D $DIR/data -A trust -U postgres --no-sync >&2 && \
         exec {user} {bin}/postgres -D $DIR/data -k $DIR -h ''",
        owner = if root { "chown postgres $DIR" } else { "true" },
        bin = bin.display(),
    ));
    let host = directory.to_str().unwrap().replace('/', "%2F");
    ["postgres", "template1"]
        .map(|name| format!("postgres://postgres@localhost/{name}?host={host}&sslmode=disable"))
}

fn mariadb() -> [String; 2] {
    let user = if servers::is_root() { "--user=root" } else { "" };
    let mariadbd =
        servers::first(&["/usr/sbin/mariadbd", "/usr/libexec/mariadbd", "/usr/bin/mariadbd"]);
    let directory = servers::serve(&format!(
        "mariadb-install-db --no-defaults {user} --datadir=$DIR/data \
         --auth-root-authentication-method=normal >&2 && exec {mariadbd} --no-defaults {user} \
         --datadir=$DIR/data --socket=$DIR/mysql.sock --pid-file=$DIR/pid --skip-networking"
    ));
    let socket = directory.join("mysql.sock").to_str().unwrap().replace('/', "%2F");
    ["test", "mysql"]
        .map(|name| format!("mysql://root@localhost/{name}?socket={socket}&ssl-mode=disabled"))
}
