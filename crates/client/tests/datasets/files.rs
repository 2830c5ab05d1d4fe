//! File locks against other programs: `flock` on the directory, `fcntl` on the file in it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tenure::datasets::{FileLocks, LockError, LockManager, LockType};

/// Another program that has a lock until it is told to go.
struct Other(Child);

impl Other {
    /// Started, and in possession of the lock.
    fn with(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut other = Self(child);
        let mut line = String::new();
        BufReader::new(other.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "locked\n");
        other
    }

    fn flock(directory: &Path, how: &str) -> Self {
        Self::with(Command::new("flock").arg(how).arg(directory).args([
            "sh",
            "-c",
            "echo locked; read line; true",
        ]))
    }

    fn fcntl(directory: &Path, how: &str) -> Self {
        let program = "import fcntl, sys\n\
             file = open(sys.argv[1], 'a+')\n\
             fcntl.lockf(file, getattr(fcntl, sys.argv[2]))\n\
             print('locked', flush=True)\n\
             sys.stdin.readline()";
        let file = directory.join(".lock");
        Self::with(Command::new("python3").args(["-c", program]).arg(file).arg(how))
    }

    fn go(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether another program can have the lock now.
fn flock_can(directory: &Path, how: &str) -> bool {
    let status = Command::new("flock").args(["-n", how]).arg(directory).arg("true").status();
    status.unwrap().success()
}

fn fcntl_can(directory: &Path, how: &str) -> bool {
    let program = "import fcntl, sys\n\
         file = open(sys.argv[1], 'a+')\n\
         try: fcntl.lockf(file, getattr(fcntl, sys.argv[2]) | fcntl.LOCK_NB)\n\
         except OSError: sys.exit(1)";
    let file = directory.join(".lock");
    let status = Command::new("python3").args(["-c", program]).arg(file).arg(how).status();
    status.unwrap().success()
}

fn manager(root: &Path) -> LockManager {
    let root = root.to_owned();
    LockManager::new().with_storage(FileLocks::new(move |dataset| root.join(dataset.to_string())))
}

#[test]
fn other_programs_keep_us_out_and_nothing_is_recorded() {
    let root = tempfile::tempdir().unwrap();
    let dataset = root.path().join("7");
    std::fs::create_dir(&dataset).unwrap();
    std::fs::create_dir(root.path().join("8")).unwrap();
    let manager = manager(root.path());
    let attempt = |kind| manager.lock([8, 7], kind).get();
    type Start = fn(&Path, &str) -> Other;
    let kinds: [(Start, [&str; 2]); 2] =
        [(Other::flock, ["-x", "-s"]), (Other::fcntl, ["LOCK_EX", "LOCK_SH"])];
    for (start, [exclusive, shared]) in kinds {
        let other = start(&dataset, exclusive);
        for kind in [LockType::Shared, LockType::Exclusive] {
            let refused = attempt(kind).unwrap_err();
            assert!(matches!(refused, LockError::LockedElsewhere { dataset } if dataset.0 == 7));
            assert!(manager.locks().is_empty());
        }
        other.go();
        let other = start(&dataset, shared);
        assert!(attempt(LockType::Exclusive).unwrap_err().is_busy());
        drop(attempt(LockType::Shared).unwrap());
        other.go();
        drop(attempt(LockType::Exclusive).unwrap());
    }
}

#[test]
fn we_keep_other_programs_out_until_the_last_release() {
    let root = tempfile::tempdir().unwrap();
    let dataset = root.path().join("7");
    std::fs::create_dir(&dataset).unwrap();
    let manager = manager(root.path());

    let writer = manager.lock([7], LockType::Exclusive).get().unwrap();
    assert!(!flock_can(&dataset, "-s") && !fcntl_can(&dataset, "LOCK_SH"));
    // Whatever else this program opens and closes there.
    drop(std::fs::File::open(dataset.join(".lock")).unwrap());
    drop(std::fs::File::open(&dataset).unwrap());
    assert!(!flock_can(&dataset, "-s") && !fcntl_can(&dataset, "LOCK_SH"));
    writer.release();
    assert!(flock_can(&dataset, "-x") && fcntl_can(&dataset, "LOCK_EX"));

    let first = manager.lock([7], LockType::Shared).get().unwrap();
    let second = manager.lock([7], LockType::Shared).get().unwrap();
    drop(first);
    assert!(!flock_can(&dataset, "-x") && !fcntl_can(&dataset, "LOCK_EX"));
    assert!(flock_can(&dataset, "-s") && fcntl_can(&dataset, "LOCK_SH"));
    drop(second);
    assert!(flock_can(&dataset, "-x") && fcntl_can(&dataset, "LOCK_EX"));
}

#[test]
fn two_data_servers_on_one_storage_keep_each_other_out() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("7")).unwrap();
    // Two managers are as two processes: nothing but the files is common to them.
    let (here, there) = (manager(root.path()), manager(root.path()));
    let lock = here.lock([7], LockType::Shared).get().unwrap();
    let other = there.lock([7], LockType::Shared).get().unwrap();
    assert!(matches!(
        there.lock([7], LockType::Exclusive).get(),
        Err(LockError::AlreadyLocked(locked)) if locked.count == 1
    ));
    drop(other);
    let refused = there.lock([7], LockType::Exclusive).get().unwrap_err();
    assert!(matches!(refused, LockError::LockedElsewhere { .. }));
    drop(lock);
    assert!(there.lock([7], LockType::Exclusive).get().is_ok());
}

#[test]
fn missing_directory_is_an_error_not_a_refusal() {
    let root = tempfile::tempdir().unwrap();
    let manager = manager(root.path());
    let error = manager.lock([9], LockType::Shared).get().unwrap_err();
    assert!(matches!(error, LockError::Storage { .. }) && !error.is_busy());
    assert!(error.to_string().contains("/9: "), "{error}");
    std::fs::write(root.path().join("9"), "a file").unwrap();
    assert!(!manager.lock([9], LockType::Shared).get().unwrap_err().is_busy());
    assert!(manager.locks().is_empty());
}

/// A program that counts in a file under its lock, until there is a file `stop`; then it says how often.
const PYTHON: &str = "import fcntl, os, sys, time\n\
     dataset, rounds = sys.argv[1], 0\n\
     while not os.path.exists(dataset + '/stop'):\n\
     \x20   with open(dataset + '/.lock', 'a+') as lock:\n\
     \x20       fcntl.lockf(lock, fcntl.LOCK_EX)\n\
     \x20       with open(dataset + '/python') as file: count = int(file.read())\n\
     \x20       with open(dataset + '/python', 'w') as file: file.write(str(count + 1))\n\
     \x20   rounds += 1\n\
     \x20   time.sleep(0.002)\n\
     print(rounds)";

const SHELL: &str = "rounds=0; while [ ! -e \"$1/stop\" ]; do \
     flock \"$1\" sh -c 'n=$(cat \"$0/shell\"); echo $((n + 1)) > \"$0/shell\"' \"$1\"; \
     rounds=$((rounds + 1)); done; echo $rounds";

/// The two kinds of file locks do not see each other, so each program has a counter of its own. We
/// count in both.
#[test]
fn other_programs_and_we_lose_no_count() {
    const ROUNDS: u32 = 8;
    let root = tempfile::tempdir().unwrap();
    let dataset = root.path().join("7");
    std::fs::create_dir(&dataset).unwrap();
    let counters = [dataset.join("python"), dataset.join("shell")];
    for counter in &counters {
        std::fs::write(counter, "0").unwrap();
    }
    let start = |command: &mut Command| {
        let child = command.arg(&dataset).stdout(Stdio::piped()).spawn().unwrap();
        Other(child)
    };
    let others = [
        start(Command::new("python3").args(["-c", PYTHON])),
        start(Command::new("sh").args(["-c", SHELL, "sh"])),
    ];
    let read = |counter: &Path| -> u32 {
        std::fs::read_to_string(counter).unwrap().trim().parse().unwrap()
    };
    // They are at it before we begin.
    super::wait_until(|| {
        let text = |counter| std::fs::read_to_string(counter).unwrap_or_default();
        counters.iter().all(|counter| text(counter).trim().parse().unwrap_or(0) > 0)
    });
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let manager = manager(root.path());
                for _ in 0..ROUNDS {
                    let locking = manager.lock([7], LockType::Exclusive).within(super::LONG);
                    let lock = locking.get().unwrap();
                    for counter in &counters {
                        let count = read(counter);
                        std::fs::write(counter, (count + 1).to_string()).unwrap();
                    }
                    drop(lock);
                }
            });
        }
    });
    std::fs::write(dataset.join("stop"), "").unwrap();
    for (mut other, counter) in others.into_iter().zip(&counters) {
        let mut said = String::new();
        BufReader::new(other.0.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
        assert!(other.0.wait().unwrap().success());
        let rounds: u32 = said.trim().parse().unwrap();
        assert_eq!(read(counter), rounds + 2 * ROUNDS, "{}", counter.display());
    }
}
