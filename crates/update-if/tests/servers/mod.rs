//! Database servers to be thrown away: each is started once, by the first test that needs it, and ends with this
//! process however that ends.
//!
//! A server is the child of a shell that waits on a pipe. When this process ends, even by a kill, the pipe closes, and
//! the shell stops the server and removes its files.
#![allow(dead_code, reason = "not every suite needs every server")]

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Long enough for the slowest machine: only a hang is longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// The directory of PostgreSQL's socket.
pub(crate) fn postgres() -> &'static Path {
    static SERVER: OnceLock<PathBuf> = OnceLock::new();
    SERVER.get_or_init(|| {
        let bin = newest("/usr/lib/postgresql", "bin/postgres");
        // It refuses to be run by root.
        let user = if is_root() { "setpriv --reuid=postgres --regid=postgres --clear-groups" } else { "" };
        serve(&format!(
            "{owner} && {user} {bin}/initdb -D $DIR/data -A trust -U postgres --no-sync -E UTF8 --locale=C >&2 && \
             exec {user} {bin}/postgres -D $DIR/data -k $DIR -h '' -c fsync=off -c full_page_writes=off \
             -c max_connections=400 -c deadlock_timeout=10ms",
            owner = if is_root() { "chown postgres $DIR" } else { "true" },
            bin = bin.display(),
        ))
    })
}

/// The directory of MariaDB's socket.
pub(crate) fn mariadb() -> &'static Path {
    static SERVER: OnceLock<PathBuf> = OnceLock::new();
    SERVER.get_or_init(|| {
        let user = if is_root() { "--user=root" } else { "" };
        serve(&format!(
            "mariadb-install-db --no-defaults {user} --datadir=$DIR/data --skip-test-db \
             --auth-root-authentication-method=normal >&2 && exec {mariadbd} --no-defaults {user} \
             --datadir=$DIR/data --socket=$DIR/mysql.sock --pid-file=$DIR/pid --skip-networking \
             --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M --max-connections=400",
            mariadbd = first(&["/usr/sbin/mariadbd", "/usr/libexec/mariadbd", "/usr/bin/mariadbd"]),
        ))
    })
}

/// The same of a MySQL that refuses what MariaDB accepts.
pub(crate) fn mysql() -> &'static Path {
    static SERVER: OnceLock<PathBuf> = OnceLock::new();
    SERVER.get_or_init(|| {
        let cache = std::env::var("XDG_CACHE_HOME")
            .unwrap_or_else(|_| format!("{}/.cache", std::env::var("HOME").unwrap()));
        let package = format!("{cache}/tenure/mysql-5.6/package/server");
        assert!(Path::new(&package).exists(), "no MySQL at {package}: run `make tools`");
        let user = if is_root() { "--user=root" } else { "" };
        serve(&format!(
            "cp -r {package}/data/mysql $DIR/data && export LD_LIBRARY_PATH={package} && \
             exec {package}/mysqld --no-defaults {user} --basedir={package} \
             --lc-messages-dir={package}/share --character-sets-dir={package}/share/charsets \
             --datadir=$DIR/data --tmpdir=$DIR --socket=$DIR/mysql.sock --pid-file=$DIR/pid \
             --skip-networking --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M \
             --max-connections=400 --sql-mode=NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES"
        ))
    })
}

/// Starts a server by a shell script in a directory of its own, and says where that is.
pub(crate) fn serve(script: &str) -> PathBuf {
    let directory = tempfile::Builder::new().prefix("tenure-test-").tempdir().unwrap().keep();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&directory, open).unwrap();
    // The inner shell becomes the server. The outer one waits until the pipe closes. (SIGQUIT is PostgreSQL's immediate
    // end, with all its children.)
    let keeper = format!(
        "( {script} ) >$DIR/log 2>&1 </dev/null & server=$!; read -r _; \
         kill -QUIT $server; test -e $DIR/data/PG_VERSION || kill -9 $server; \
         wait $server; rm -rf $DIR"
    );
    #[allow(clippy::zombie_processes, reason = "it ends after us")]
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(keeper)
        .env("DIR", &directory)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Never dropped: only the end of this process closes it.
    std::mem::forget(child.stdin.take());
    directory
}

/// Connects as soon as the server lets us.
pub(crate) async fn patiently<C, F: Future<Output = Result<C, sqlx::Error>>>(
    connect: impl Fn() -> F,
) -> C {
    let start = Instant::now();
    loop {
        match connect().await {
            Ok(connection) => return connection,
            Err(error) if start.elapsed() > PATIENCE => {
                panic!("the server does not start: {error}")
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub(crate) fn first(paths: &[&'static str]) -> &'static str {
    let found = paths.iter().find(|path| Path::new(path).exists());
    found.unwrap_or_else(|| panic!("none of {paths:?} is there: run `make tools`"))
}

/// The directory of the newest version that has this program.
pub(crate) fn newest(root: &str, program: &str) -> PathBuf {
    let versions =
        std::fs::read_dir(root).unwrap_or_else(|_| panic!("no {root}: run `make tools`"));
    let programs = versions.map(|version| version.unwrap().path().join(program));
    let newest = programs.filter(|path| path.exists()).max();
    let newest = newest.unwrap_or_else(|| panic!("no {program} in {root}: run `make tools`"));
    newest.parent().unwrap().to_owned()
}
