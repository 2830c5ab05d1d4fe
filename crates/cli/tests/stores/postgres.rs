//! A PostgreSQL that can be killed and comes back.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::house::until;
use crate::servers::{is_root, newest};

/// A server of its own, with its files. Both are gone with this value.
pub(crate) struct Postgres {
    directory: tempfile::TempDir,
    bin: PathBuf,
    process: Option<Child>,
}

impl Postgres {
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(directory.path(), open).unwrap();
        if is_root() {
            let own = Command::new("chown").arg("postgres").arg(directory.path()).status().unwrap();
            assert!(own.success());
        }
        let bin = newest("/usr/lib/postgresql", "bin/postgres");
        let mut postgres = Self { directory, bin, process: None };
        let mut init = postgres.command("initdb");
        init.args(["-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C", "-D"]);
        let made = init.arg(postgres.data()).stdout(Stdio::null()).status().unwrap();
        assert!(made.success());
        postgres.serve();
        postgres
    }

    /// It refuses to be run by root.
    fn command(&self, program: &str) -> Command {
        let program = self.bin.join(program);
        let mut command = match is_root() {
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
                command.arg(program);
                command
            }
            false => Command::new(program),
        };
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Starts it, also while what was killed is still going.
    pub(crate) fn serve(&mut self) {
        until(|| {
            let mut command = self.command("postgres");
            command.arg("-D").arg(self.data()).arg("-k").arg(self.directory.path());
            command.args(["-h", "", "-c", "deadlock_timeout=50ms"]).stderr(Stdio::null());
            self.process = Some(command.spawn().unwrap());
            let mut is_there = false;
            until(|| {
                is_there = self.answers();
                let ended = self.process.as_mut().unwrap().try_wait().unwrap().is_some();
                is_there || ended
            });
            is_there
        });
    }

    fn answers(&self) -> bool {
        let mut ask = self.command("pg_isready");
        ask.arg("-h").arg(self.directory.path()).stdout(Stdio::null());
        ask.status().unwrap().success()
    }

    /// Kills it without a warning.
    pub(crate) fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    pub(crate) fn url(&self) -> String {
        let socket = self.directory.path().to_str().unwrap().replace('/', "%2F");
        format!("postgres://postgres@localhost/postgres?host={socket}&sslmode=disable")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // At once, with all its children.
            let _ = kill_process(Pid::from_child(&process), Signal::QUIT);
            let _ = process.wait();
        }
    }
}
