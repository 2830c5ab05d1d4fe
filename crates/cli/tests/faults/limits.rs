//! What the system takes from a server: the size of its files, its error stream, its memory, and the
//! peace between two signals. Nothing that was acknowledged is lost for it.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};

use crate::rig::{Line, RELEASED, Server, TENURE, Told, until};

/// The smallest that there is: it is full soon.
const SEGMENT: u64 = 1 << 20;

fn with_small_segments() -> Command {
    let mut command = Command::new(TENURE);
    command.env("TENURE_SEGMENT_BYTES", SEGMENT.to_string());
    command
}

/// Returns when the reserve is there: a segment to write to, and a spare one.
fn has_its_reserve(data: &Path) {
    let is_whole = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.unwrap();
        let named = entry.file_name().to_string_lossy().starts_with("log-");
        named && entry.metadata().is_ok_and(|meta| meta.len() == SEGMENT)
    };
    until(|| {
        std::fs::read_dir(data).unwrap().filter_map(|it| is_whole(it).then_some(())).count() == 2
    });
}

fn limit_files(server: &Server, bytes: Option<u64>) {
    let limit = Rlimit { current: bytes, maximum: None };
    prlimit(Pid::from_raw(server.pid()), Resource::Fsize, limit).unwrap();
}

/// Claims something large under a key of its own. None if the server went away.
fn claim(line: &mut Line, nth: usize, data: usize) -> Option<Told> {
    let data = "x".repeat(data);
    let key = format!("key-of-the-claim-with-number-{nth:08}");
    let body = format!(r#"{{"resource":"r{nth}","ttl":3600,"key":"{key}","user_data":"{data}"}}"#);
    line.ask("POST", "/v1/claims/", &body)
}

/// Claims until that is refused or nobody answers any more; what was granted.
fn claim_until_it_ends(line: &mut Line, data: usize) -> (Vec<Told>, Option<Told>) {
    let mut granted = Vec::new();
    for nth in 0..5_000 {
        match claim(line, nth, data) {
            Some(told) if told.status == 201 => granted.push(told),
            last => return (granted, last),
        }
    }
    panic!("there is no end to it");
}

/// A server on these files has everything that was granted, under the same fences.
fn everything_is_there(data: &Path, granted: &[Told]) {
    assert!(!granted.is_empty(), "nothing was granted");
    let server = Server::start(data);
    let mut line = Line::open(&server.address).unwrap();
    for one in granted {
        let told = line.ask("GET", &one.location, "").unwrap().is(200);
        assert_eq!((&told.body["status"], told.fence()), (&"active".into(), one.fence()));
    }
}

/// Where the server's error stream goes, and what was said there.
fn error_stream(command: &mut Command, file: &Path) {
    command.stderr(OpenOptions::new().create(true).append(true).open(file).unwrap());
}

/// No further segment can be made, as on a disk that is full.
#[test]
fn file_size_limit_refuses_what_is_new_and_keeps_serving_what_is_held() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start_as(&mut with_small_segments(), directory.path());
    has_its_reserve(directory.path());
    limit_files(&server, Some(SEGMENT - 4096));
    let mut line = Line::open(&server.address).unwrap();
    let (granted, refused) = claim_until_it_ends(&mut line, 30_000);
    let refused = refused.expect("the server goes on").is(503);
    assert!(refused.body["detail"].as_str().unwrap().contains("the disk is full"), "{refused:?}");
    let (released, held) = granted.split_at(granted.len() / 2);
    for one in held {
        line.ask("PATCH", &one.location, r#"{"ttl":3600}"#).unwrap().is(200);
    }
    for one in released {
        line.ask("PATCH", &one.location, RELEASED).unwrap().is(204);
    }
    limit_files(&server, None);
    until(|| claim(&mut line, 9_999, 0).is_some_and(|told| matches!(told.status, 200 | 201)));
    server.kill();
    everything_is_there(directory.path(), held);
}

/// What is decided cannot be written down any more: the process ends, and says why.
#[test]
fn file_size_limit_within_the_log_ends_the_server_with_a_message_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (data, said) = (directory.path().join("data"), directory.path().join("said"));
    let mut command = with_small_segments();
    error_stream(&mut command, &said);
    let mut server = Server::start_as(&mut command, &data);
    has_its_reserve(&data);
    limit_files(&server, Some(SEGMENT / 2));
    let mut line = Line::open(&server.address).unwrap();
    let (granted, last) = claim_until_it_ends(&mut line, 30_000);
    // It may hear that the store is closed before the process is gone.
    assert!(last.as_ref().is_none_or(|told| told.status == 503), "{last:?}");
    assert_eq!(server.wait().code(), Some(74));
    let said = std::fs::read_to_string(said).unwrap();
    assert!(said.contains("writing the log failed") && said.contains("too large"), "{said}");
    everything_is_there(&data, &granted);
    // A limit that leaves no room from the start is told, too.
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 100; exec \"$0\" \"$@\"", TENURE]);
    let told = limited.args(["serve", "--listen", "127.0.0.1:0", "--data"]);
    let told = told.arg(directory.path().join("new")).output().unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert!(matches!(told.status.code(), Some(69 | 74)), "{}: {said}", told.status);
    assert!(said.contains("too large"), "{said}");
}

/// Nobody reads what it says, or there is no room for it: it does not speak, and works.
#[test]
fn server_whose_error_stream_cannot_be_written_goes_on() {
    let full = || Stdio::from(OpenOptions::new().write(true).open("/dev/full").unwrap());
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    let streams: [&dyn Fn() -> Stdio; 2] = [&full, &closed];
    for stream in streams {
        let directory = tempfile::tempdir().unwrap();
        let mut command = with_small_segments();
        command.env("TENURE_LOG_LEVEL", "trace").env("TENURE_AUDIT", "-").stderr(stream());
        let mut server = Server::start_as(&mut command, directory.path());
        has_its_reserve(directory.path());
        // The log tells of a disk that is full, and of its end.
        limit_files(&server, Some(SEGMENT - 4096));
        let mut line = Line::open(&server.address).unwrap();
        let (granted, refused) = claim_until_it_ends(&mut line, 30_000);
        refused.expect("the server goes on").is(503);
        line.ask("PATCH", &granted[0].location, RELEASED).unwrap().is(204);
        limit_files(&server, Some(4096));
        while line.ask("PATCH", &granted[1].location, r#"{"ttl":3600}"#).is_some() {}
        assert_eq!(server.wait().code(), Some(74), "its last words are lost, its status is not");
        everything_is_there(directory.path(), &granted[1..]);
    }
}

/// Ends the shower, also when the test fails.
struct Dry<'a>(&'a AtomicBool);

impl Drop for Dry<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Signals that are handled come all the time, in the middle of every call.
#[test]
fn shower_of_signals_disturbs_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = with_small_segments();
    command.env("TENURE_AUDIT", directory.path().join("audit"));
    let server = Server::start_as(&mut command, &directory.path().join("data"));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let shower = scope.spawn(|| {
            let mut sent = 0;
            while !over.load(Ordering::SeqCst) {
                for signal in [Signal::HUP, Signal::WINCH, Signal::XFSZ, Signal::CONT] {
                    server.signal(signal);
                    sent += 1;
                }
            }
            sent
        });
        let dry = Dry(&over);
        let mut line = Line::open(&server.address).unwrap();
        // Enough to turn the log over, with its chores.
        let granted: Vec<Told> =
            (0..150).map(|nth| claim(&mut line, nth, 20_000).unwrap().is(201)).collect();
        for one in &granted[..50] {
            line.ask("PATCH", &one.location, r#"{"ttl":3600}"#).unwrap().is(200);
        }
        for one in &granted[50..100] {
            line.ask("PATCH", &one.location, RELEASED).unwrap().is(204);
        }
        drop(dry);
        assert!(shower.join().unwrap() > 1_000, "that was no shower");
    });
}

/// A group of processes whose memory has a bound; the kernel kills who goes beyond it.
struct Bounded(PathBuf);

impl Bounded {
    /// None where groups are not ours to make.
    fn new(server: &Server, bytes: u64) -> Option<Self> {
        let name = format!("tenure-test-{}", server.pid());
        let of_1 = (Path::new("/sys/fs/cgroup/memory"), "memory.limit_in_bytes");
        let of_2 = (Path::new("/sys/fs/cgroup"), "memory.max");
        [of_1, of_2].into_iter().find_map(|(root, file)| {
            let group = root.join(&name);
            std::fs::create_dir(&group).ok()?;
            let bounded = Self(group);
            std::fs::write(bounded.0.join(file), bytes.to_string()).ok()?;
            std::fs::write(bounded.0.join("cgroup.procs"), server.pid().to_string()).ok()?;
            Some(bounded)
        })
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn server_that_the_kernel_kills_for_its_memory_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path());
    let Some(bounded) = Bounded::new(&server, 24 << 20) else {
        eprintln!(
            "SKIPPED: no group with bounded memory can be made here (needs root and cgroups)"
        );
        return;
    };
    let mut line = Line::open(&server.address).unwrap();
    let (granted, last) = claim_until_it_ends(&mut line, 60_000);
    assert!(last.is_none(), "{last:?}");
    let ended = std::os::unix::process::ExitStatusExt::signal(&server.wait());
    assert_eq!(ended, Some(Signal::KILL.as_raw()));
    drop(bounded);
    everything_is_there(directory.path(), &granted);
}
