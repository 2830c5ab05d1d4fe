//! Commits go past the system's cache where that is possible, and through it where it is not. Not
//! every file system offers it, and some say so only when they are written to.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use crate::calls::{
    BY_ITSELF, SCRIPT, SERVING, Script, is_each_at_least, kill_at_every_in, nothing,
};
use crate::rig::{Server, TENURE};

/// A file system in memory that knows nothing but its cache. It is mounted for one process of ours
/// alone, and gone with it; others reach it through that process.
struct CacheOnly {
    keeper: Child,
    directory: tempfile::TempDir,
}

impl CacheOnly {
    /// None, and a word about it, where nobody may mount anything.
    fn mount() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mut keeper = Command::new("unshare");
        keeper.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
        keeper.arg(r#"mount -t ramfs -o mode=700 none "$0" && echo ready && exec cat"#);
        keeper.arg(directory.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut keeper = keeper.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(keeper.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let made = Self { keeper, directory };
        if line.is_empty() {
            eprintln!("SKIPPED, NOT TESTED: no file system can be mounted for a process alone");
            return None;
        }
        assert!(made.refuses_to_go_past_the_cache(), "it is another kind of file system");
        Some(made)
    }

    fn path(&self) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.keeper.id()));
        root.join(self.directory.path().strip_prefix("/").unwrap())
    }

    fn refuses_to_go_past_the_cache(&self) -> bool {
        let file = File::create(self.path().join("trial")).unwrap();
        let direct = fcntl_getfl(&file).unwrap() | OFlags::DIRECT;
        fcntl_setfl(&file, direct) == Err(Errno::INVAL)
    }
}

impl Drop for CacheOnly {
    fn drop(&mut self) {
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

#[test]
fn kill_at_every_write_loses_nothing_where_the_file_system_has_only_a_cache() {
    if let Some(files) = CacheOnly::mount() {
        let kills = kill_at_every_in(&files.path(), "pwrite64", nothing);
        is_each_at_least(kills, [SCRIPT.len(), BY_ITSELF]);
    }
}

/// A server of which some calls of a thread that writes fail as those of a disk do that wants larger
/// blocks. The third is the first that can be of the log: two make a new store.
fn with_refused_writes(threads: &str, when: &str, trace: &Path) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "trace=pwrite64", "-e"]);
    strace.arg(format!("inject=pwrite64:error=EINVAL:when={when}"));
    strace.arg("-o").arg(trace).arg(TENURE).env("TENURE_THREADS", threads);
    strace
}

/// How often it happened.
fn refused(trace: &Path) -> usize {
    std::fs::read_to_string(trace).unwrap().matches("(INJECTED)").count()
}

/// The disk goes back on its word: what it did not take goes through the cache, and so does all that
/// follows.
#[test]
fn write_past_the_cache_that_is_refused_is_made_through_it() {
    // With one thread that writes: the next would have a third call, too.
    for nth in [3, 4, 7] {
        let directory = tempfile::tempdir().unwrap();
        let (data, trace) = (directory.path().join("data"), directory.path().join("trace"));
        let mut script = Script::default();
        let mut refusing = with_refused_writes("1", &nth.to_string(), &trace);
        let server = Server::start_as(&mut refusing, &data);
        assert!(script.run(&server.address), "it went away at write {nth}");
        server.kill();
        assert!(refused(&trace) >= 1, "nothing was refused");
        let again = Server::start(&data);
        script.check(&again.address);
        script.check_fences();
    }
}

/// If that is refused, too, nothing is believed any more.
#[test]
fn write_that_is_refused_either_way_ends_the_server_with_a_message_and_loses_nothing() {
    SERVING.into_iter().for_each(refuse_either_way);
}

fn refuse_either_way(threads: &str) {
    let directory = tempfile::tempdir().unwrap();
    let (data, trace) = (directory.path().join("data"), directory.path().join("trace"));
    let said = directory.path().join("said");
    let mut command = with_refused_writes(threads, "3+", &trace);
    let mut server = Server::start_as(command.stderr(File::create(&said).unwrap()), &data);
    let mut script = Script::default();
    assert!(!script.run(&server.address), "it goes on without writing");
    assert_eq!(server.wait().code(), Some(74));
    assert!(refused(&trace) >= 2, "it was not tried through the cache");
    let said = std::fs::read_to_string(said).unwrap();
    assert!(said.contains("writing the log") && said.contains("Invalid argument"), "{said}");
    // With two threads it depends on which of them makes its third call.
    assert!(script.next == 2 || threads == "2", "what was written was answered, and nothing else");

    let again = Server::start(&data);
    script.check(&again.address);
    assert!(script.run(&again.address), "nothing is wrong any more");
    script.check_fences();
}
