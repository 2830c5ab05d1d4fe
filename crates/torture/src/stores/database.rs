//! A database server to be thrown away, on a disk of ours, with all its promises kept.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process_group};

use crate::process::{LONG, Process, command, until};

/// A server that can be killed and comes back.
pub(crate) struct Database {
    kind: Kind,
    files: PathBuf,
    /// Where its socket and its log are.
    beside: PathBuf,
    process: Option<Process>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Postgres,
    MariaDb,
}

impl Database {
    pub(crate) fn postgres(files: &Path, beside: &Path) -> anyhow::Result<Self> {
        let mut database = Self::new(Kind::Postgres, files, beside)?;
        if geteuid().is_root() {
            for place in [&database.files, &database.beside] {
                crate::process::run(&format!("chown postgres {}", place.display()))?;
            }
        }
        let mut init = database.program("initdb")?;
        init.args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D"]);
        done(init.arg(&database.files))?;
        database.again()?;
        Ok(database)
    }

    pub(crate) fn mariadb(files: &Path, beside: &Path) -> anyhow::Result<Self> {
        let mut database = Self::new(Kind::MariaDb, files, beside)?;
        let mut init = database.program("mariadb-install-db")?;
        init.args(["--no-defaults", "--user=root", "--skip-test-db"]);
        init.arg("--auth-root-authentication-method=normal");
        done(init.arg(option("--datadir=", &database.files)))?;
        database.again()?;
        let mut create = database.asking("mariadb")?;
        done(create.args(["-e", "CREATE DATABASE claims"]))?;
        Ok(database)
    }

    fn new(kind: Kind, files: &Path, beside: &Path) -> anyhow::Result<Self> {
        let (files, beside) = (files.join("database"), beside.join("database"));
        std::fs::create_dir_all(&files)?;
        std::fs::create_dir_all(&beside)?;
        Ok(Self { kind, files, beside, process: None })
    }

    pub(crate) fn url(&self) -> String {
        let encoded = |path: PathBuf| path.display().to_string().replace('/', "%2F");
        match self.kind {
            Kind::Postgres => {
                let host = encoded(self.beside.clone());
                format!("postgres://postgres@localhost/postgres?host={host}&sslmode=disable")
            }
            Kind::MariaDb => {
                let socket = encoded(self.socket());
                format!("mysql://root@localhost/claims?socket={socket}&ssl-mode=disabled")
            }
        }
    }

    /// Starts it, also while what was killed is still going, and returns when it serves.
    pub(crate) fn again(&mut self) -> anyhow::Result<()> {
        let mut tried = Ok(false);
        let serves = until(LONG, || {
            tried = self.try_again();
            tried.as_ref().map_or(true, |serves| *serves)
        });
        tried?;
        ensure!(serves, "the database does not start: see {}", self.log().display());
        Ok(())
    }

    /// False if it ended instead.
    fn try_again(&mut self) -> anyhow::Result<bool> {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.log())?;
        let mut serve = match self.kind {
            Kind::Postgres => {
                let mut serve = self.program("postgres")?;
                serve.arg("-D").arg(&self.files).arg("-k").arg(&self.beside).args(["-h", ""]);
                serve
            }
            Kind::MariaDb => {
                let mut serve = self.program("mariadbd")?;
                serve.args(["--no-defaults", "--user=root", "--skip-networking"]);
                serve.arg("--innodb-buffer-pool-size=64M");
                serve.arg(option("--datadir=", &self.files));
                serve.arg(option("--socket=", &self.socket()));
                serve.arg(option("--pid-file=", &self.beside.join("pid")));
                serve
            }
        };
        serve.stdout(Stdio::null()).stderr(log).process_group(0);
        let mut process = Process::spawn(&mut serve)?;
        let mut answers = false;
        until(LONG, || {
            answers = self.answers().unwrap_or(false);
            answers || process.ended().is_some()
        });
        self.process = Some(process);
        Ok(answers)
    }

    fn answers(&self) -> anyhow::Result<bool> {
        let mut ask = match self.kind {
            Kind::Postgres => {
                let mut ask = self.program("pg_isready")?;
                ask.arg("-h").arg(&self.beside);
                ask
            }
            Kind::MariaDb => {
                let mut ask = self.asking("mariadb-admin")?;
                ask.arg("ping");
                ask
            }
        };
        Ok(ask.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success())
    }

    fn asking(&self, program: &str) -> anyhow::Result<Command> {
        let mut ask = self.program(program)?;
        ask.args(["--no-defaults", "-u", "root"]).arg(option("--socket=", &self.socket()));
        Ok(ask)
    }

    /// Kills it with all its children, without a warning.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.process = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = self.process.as_ref().and_then(|process| i32::try_from(process.pid()).ok());
        if let Some(group) = pid.and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }

    fn socket(&self) -> PathBuf {
        self.beside.join("mysql.sock")
    }

    fn log(&self) -> PathBuf {
        self.beside.with_extension("log")
    }

    fn program(&self, name: &str) -> anyhow::Result<Command> {
        let mut program = match self.kind {
            Kind::Postgres => {
                let path = postgres_programs()?.join(name);
                match geteuid().is_root() {
                    // It refuses to be run by root.
                    true => {
                        let mut program = command("setpriv", None);
                        program.args(["--pdeathsig=KILL", "--reuid=postgres", "--regid=postgres"]);
                        program.arg("--clear-groups").arg(path);
                        program
                    }
                    false => command(path, None),
                }
            }
            Kind::MariaDb => command(name, None),
        };
        program.current_dir("/");
        Ok(program)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.kill();
    }
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(path);
    option
}

fn done(command: &mut Command) -> anyhow::Result<()> {
    let done = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{command:?}: {}", said.trim());
    Ok(())
}

/// The programs of the newest version.
fn postgres_programs() -> anyhow::Result<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql");
    let versions = versions.context("PostgreSQL is not there: `make tools` installs it")?;
    let programs = versions.flatten().map(|version| version.path().join("bin"));
    programs.filter(|path| path.join("postgres").exists()).max().context("no PostgreSQL")
}
