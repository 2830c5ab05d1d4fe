//! Servers over one store, and programs that contend there.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tenure::blocking::LockManager;

pub(crate) const TENURE: &str = env!("CARGO_BIN_EXE_tenure");

/// Only a hang is that long.
pub(crate) const LONG: Duration = Duration::from_secs(180);

/// A server that does not outlive its test.
pub(crate) struct Server {
    process: Child,
    pub(crate) url: String,
    _data: tempfile::TempDir,
}

impl Server {
    pub(crate) fn start(store: &str) -> Self {
        Self::start_as(Command::new(TENURE), store)
    }

    pub(crate) fn start_as(mut command: Command, store: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut process = command
            .args(["serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--store", store])
            .arg("--data")
            .arg(data.path())
            .env("TENURE_CONFIG", "/dev/null")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (_, rest) = line.split_once("http://").unwrap_or_else(|| panic!("{line:?}"));
        let url = format!("http://{}", rest.split('/').next().unwrap());
        Self { process, url, _data: data }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sees who is inside, and with which fence.
#[derive(Default)]
pub(crate) struct Detector {
    inside: AtomicUsize,
    pub(crate) fences: Mutex<Vec<u64>>,
}

impl Detector {
    /// Goes in and out; nobody else may be there.
    pub(crate) fn pass(&self, fence: u64) {
        assert_eq!(self.inside.fetch_add(1, Ordering::SeqCst), 0, "two were inside");
        std::thread::yield_now();
        self.fences.lock().unwrap().push(fence);
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }

    /// Fences rise in the order in which holders were inside.
    pub(crate) fn passes(&self) -> usize {
        let fences = self.fences.lock().unwrap();
        assert!(fences.is_sorted_by(|one, next| one < next), "{fences:?}");
        fences.len()
    }
}

/// Programs that contend, each at its place, until each has been inside so often. What goes wrong on the
/// way (a server that is gone) is tried again at the next place.
pub(crate) fn contend(
    places: Vec<String>,
    contenders: usize,
    rounds: usize,
) -> (Arc<Detector>, Vec<std::thread::JoinHandle<()>>) {
    let detector = Arc::<Detector>::default();
    let threads = (0..contenders).map(|nth| {
        let (places, detector) = (places.clone(), detector.clone());
        std::thread::spawn(move || {
            let managers: Vec<LockManager> =
                places.iter().map(|place| LockManager::connect(place).unwrap()).collect();
            let began = Instant::now();
            let (mut place, mut passed) = (nth, 0);
            while passed < rounds {
                assert!(began.elapsed() < LONG, "it is never served");
                let manager = &managers[place % managers.len()];
                let wish = manager.claim("contended").ttl(Duration::from_secs(3));
                match wish.timeout(Duration::from_secs(4)).get() {
                    Ok(claim) => {
                        detector.pass(claim.fence().unwrap());
                        passed += 1;
                        // A server that is gone cannot confirm it: then its ttl ends.
                        let _ = claim.release();
                    }
                    Err(_) => place += 1,
                }
            }
        })
    });
    let threads = threads.collect();
    (detector, threads)
}

/// Returns when it is so.
pub(crate) fn until(mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < LONG, "it does not come to that");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The address of a file that is not there yet.
pub(crate) fn file_in(directory: &Path) -> String {
    format!("sqlite:{}", directory.join("claims.db").display())
}
