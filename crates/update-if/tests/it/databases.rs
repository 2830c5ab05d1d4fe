//! Real databases to be thrown away: each server is started once, by the first test that needs it, and ends with this
//! process however that ends. Every test has a database of its own on it.
//!
//! A server is the child of a shell that waits on a pipe. When this process ends, even by a kill, the pipe closes, and
//! the shell stops the server and removes its files.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{ConnectOptions, Connection, MySql, Pool, Postgres, Sqlite, pool::PoolOptions};
use update_if::{Backend, Sql};

/// Long enough for the slowest machine: only a hang is longer.
const PATIENCE: Duration = Duration::from_secs(180);

/// A database of its own for one test.
pub(crate) struct World<DB: sqlx::Database> {
    pub(crate) pool: Pool<DB>,
    pub(crate) server: &'static str,
    /// Where the server listens, and what this test's database is called there.
    pub(crate) socket: PathBuf,
    pub(crate) name: String,
    _files: Option<tempfile::TempDir>,
}

impl<DB: Backend> World<DB> {
    /// Runs any SQL.
    pub(crate) async fn sql(&self, text: &str) -> u64 {
        let mut connection = self.pool.acquire().await.unwrap();
        let sql = Sql { text: text.to_owned(), values: Vec::new() };
        DB::run(&mut connection, sql).await.unwrap_or_else(|error| panic!("{text}: {error}"))
    }
}

/// At most so many connections to each test's database.
const CONNECTIONS: u32 = 40;

fn pool<DB: sqlx::Database>() -> PoolOptions<DB> {
    PoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(PATIENCE)
}

fn fresh() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) async fn sqlite() -> World<Sqlite> {
    let files = tempfile::tempdir().unwrap();
    let options = SqliteConnectOptions::new()
        .filename(files.path().join("db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(PATIENCE);
    let pool = pool().connect_with(options).await.unwrap();
    World {
        pool,
        server: "SQLite",
        socket: PathBuf::new(),
        name: String::new(),
        _files: Some(files),
    }
}

pub(crate) async fn postgres() -> World<Postgres> {
    static SERVER: OnceLock<PathBuf> = OnceLock::new();
    let socket = SERVER.get_or_init(|| {
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
    });
    let options =
        || PgConnectOptions::new().socket(socket).username("postgres").ssl_mode(PgSslMode::Disable);
    let mut connection =
        patiently(|| async { options().database("postgres").connect().await }).await;
    let name = fresh();
    let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"));
    sqlx::query(create).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let options = options().database("postgres").options([("search_path", &name)]);
    let pool = pool().connect_with(options).await.unwrap();
    let socket = socket.join(".s.PGSQL.5432");
    World { pool, server: "PostgreSQL", socket, name, _files: None }
}

pub(crate) async fn mariadb() -> World<MySql> {
    static SERVER: OnceLock<PathBuf> = OnceLock::new();
    let directory = SERVER.get_or_init(|| {
        let user = if is_root() { "--user=root" } else { "" };
        serve(&format!(
            "mariadb-install-db --no-defaults {user} --datadir=$DIR/data --skip-test-db \
             --auth-root-authentication-method=normal >&2 && exec {mariadbd} --no-defaults {user} \
             --datadir=$DIR/data --socket=$DIR/mysql.sock --pid-file=$DIR/pid --skip-networking \
             --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M --max-connections=400",
            mariadbd = first(&["/usr/sbin/mariadbd", "/usr/libexec/mariadbd", "/usr/bin/mariadbd"]),
        ))
    });
    mysql_at(directory, "MariaDB").await
}

/// A MySQL that refuses what MariaDB accepts.
pub(crate) async fn mysql() -> World<MySql> {
    static SERVER: OnceLock<PathBuf> = OnceLock::new();
    let directory = SERVER.get_or_init(|| {
        let cache = std::env::var("XDG_CACHE_HOME")
            .unwrap_or_else(|_| format!("{}/.cache", std::env::var("HOME").unwrap()));
        let package = format!("{cache}/tenure/mysql-5.6/package/server");
        assert!(Path::new(&package).exists(), "no MySQL at {package}: run .ci/install");
        let user = if is_root() { "--user=root" } else { "" };
        serve(&format!(
            "cp -r {package}/data/mysql $DIR/data && export LD_LIBRARY_PATH={package} && \
             exec {package}/mysqld --no-defaults {user} --basedir={package} \
             --lc-messages-dir={package}/share --character-sets-dir={package}/share/charsets \
             --datadir=$DIR/data --tmpdir=$DIR --socket=$DIR/mysql.sock --pid-file=$DIR/pid \
             --skip-networking --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M \
             --max-connections=400 --sql-mode=NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES"
        ))
    });
    mysql_at(directory, "MySQL 5.6").await
}

async fn mysql_at(directory: &Path, server: &'static str) -> World<MySql> {
    let options = || {
        MySqlConnectOptions::new()
            .socket(directory.join("mysql.sock"))
            .username("root")
            .ssl_mode(MySqlSslMode::Disabled)
    };
    let mut connection = patiently(|| async { options().connect().await }).await;
    let name = fresh();
    let create = format!("CREATE DATABASE {name} DEFAULT CHARACTER SET utf8mb4");
    sqlx::query(sqlx::AssertSqlSafe(create)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let pool = pool().connect_with(options().database(&name)).await.unwrap();
    let socket = directory.join("mysql.sock");
    World { pool, server, socket, name, _files: None }
}

/// Starts a server by a shell script in a directory of its own, and says where that is.
fn serve(script: &str) -> PathBuf {
    let directory = tempfile::Builder::new().prefix("update-if-").tempdir().unwrap().keep();
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
async fn patiently<C, F: Future<Output = Result<C, sqlx::Error>>>(connect: impl Fn() -> F) -> C {
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

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn first(paths: &[&'static str]) -> &'static str {
    let found = paths.iter().find(|path| Path::new(path).exists());
    found.unwrap_or_else(|| panic!("none of {paths:?} is there: run .ci/install"))
}

/// The directory of the newest version that has this program.
fn newest(root: &str, program: &str) -> PathBuf {
    let versions = std::fs::read_dir(root).unwrap_or_else(|_| panic!("no {root}: run .ci/install"));
    let programs = versions.map(|version| version.unwrap().path().join(program));
    let newest = programs.filter(|path| path.exists()).max();
    let newest = newest.unwrap_or_else(|| panic!("no {program} in {root}: run .ci/install"));
    newest.parent().unwrap().to_owned()
}

/// Each case runs on every database, as a test of its own.
#[macro_export]
macro_rules! on_every_database {
    ($($(#[$meta:meta])* async fn $name:ident($world:ident) $body:block)*) => {$(
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "a case may need nothing from around it")]
            use super::*;

            async fn on_one<DB: update_if::Backend>($world: $crate::databases::World<DB>) $body

            #[test]
            fn sqlite() {
                $crate::databases::run(async { on_one($crate::databases::sqlite().await).await });
            }

            #[test]
            fn postgres() {
                $crate::databases::run(async { on_one($crate::databases::postgres().await).await });
            }

            #[test]
            fn mariadb() {
                $crate::databases::run(async { on_one($crate::databases::mariadb().await).await });
            }

            #[test]
            fn mysql() {
                $crate::databases::run(async { on_one($crate::databases::mysql().await).await });
            }
        }
    )*};
}

pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}
