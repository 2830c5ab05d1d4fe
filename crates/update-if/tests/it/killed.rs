//! A connection that ends in the middle: whether it happened is not known, and that is the answer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use sqlx::Connection;
use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};
use sqlx::pool::PoolOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use update_if::{Backend, Error, Group};

use crate::cinder::{Quota, row, tables};
use crate::databases::{self, World};

/// A way to the server that can be cut.
#[derive(Clone)]
struct Cable(Arc<AtomicU8>);

const WHOLE: u8 = 0;
/// The next statement does not arrive.
const CUT_BEFORE: u8 = 1;
/// The next statement arrives, its answer does not.
const CUT_AFTER: u8 = 2;

impl Cable {
    /// Lies between `socket` and whoever connects to `at`.
    fn lay(at: &Path, socket: &Path) -> Self {
        let cable = Self(Arc::new(AtomicU8::new(WHOLE)));
        let listener = UnixListener::bind(at).unwrap();
        let (state, socket) = (cable.0.clone(), socket.to_owned());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&socket).await.unwrap();
                tokio::spawn(carry(client, server, state.clone()));
            }
        });
        cable
    }

    fn cut(&self, where_: u8) {
        self.0.store(where_, Ordering::SeqCst);
    }
}

async fn carry(client: UnixStream, server: UnixStream, state: Arc<AtomicU8>) {
    let (mut client_in, mut client_out) = client.into_split();
    let (mut server_in, mut server_out) = server.into_split();
    let (mut asked, mut told) = (vec![0; 65536], vec![0; 65536]);
    loop {
        tokio::select! {
            size = client_in.read(&mut asked) => {
                let size = size.unwrap_or(0);
                if size == 0 || state.load(Ordering::SeqCst) == CUT_BEFORE {
                    return;
                }
                if server_out.write_all(&asked[..size]).await.is_err() {
                    return;
                }
            }
            size = server_in.read(&mut told) => {
                let size = size.unwrap_or(0);
                if size == 0 || state.load(Ordering::SeqCst) == CUT_AFTER {
                    return;
                }
                if client_out.write_all(&told[..size]).await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn lost_answer_is_unknown<DB: Backend>(
    world: World<DB>,
    options: <DB::Connection as Connection>::Options,
    cable: Cable,
) {
    tables(&world).await;
    world.sql("INSERT INTO quotas (id, in_use) VALUES ('a', 0)").await;
    let count = Quota::update("a").set(Quota::IN_USE.to(Quota::IN_USE + 1));
    let mut expected = 0;
    for (cut, happens) in [(CUT_BEFORE, 0), (CUT_AFTER, 1)] {
        cable.cut(WHOLE);
        let pool = PoolOptions::<DB>::new().connect_with(options.clone()).await.unwrap();
        let mut connection = pool.acquire().await.unwrap();
        // Prepared and cached, so that the next one is a single message.
        assert!(count.run_on::<DB>(&mut connection).await.unwrap().happened());
        cable.cut(cut);
        let error = count.run_on::<DB>(&mut connection).await.unwrap_err();
        // The same answer in both cases: from here they cannot be told apart.
        assert!(matches!(error, Error::Unknown(_)), "{}: {error}", world.server);
        assert!(error.may_have_happened());
        expected += 1 + happens;
        let stored: Quota = row(&world, Quota::update("a")).await;
        assert_eq!(stored.in_use, expected, "{}", world.server);

        // A group that loses its connection before it commits has not happened, and says so.
        cable.cut(WHOLE);
        let mut connection = pool.acquire().await.unwrap();
        let group = Group::new().and(count.clone());
        assert!(group.run_on::<DB>(&mut connection).await.unwrap().happened());
        expected += 1;
        cable.cut(CUT_BEFORE);
        let error = group.run_on::<DB>(&mut connection).await.unwrap_err();
        assert!(matches!(error, Error::Unavailable(_)), "{}: {error}", world.server);
        let stored: Quota = row(&world, Quota::update("a")).await;
        assert_eq!(stored.in_use, expected, "{}", world.server);
    }
}

#[test]
fn lost_answer_is_unknown_on_postgres() {
    databases::run(async {
        let world = databases::postgres().await;
        let directory = tempfile::tempdir().unwrap();
        let cable = Cable::lay(&directory.path().join(".s.PGSQL.5432"), &world.socket);
        let options = PgConnectOptions::new()
            .socket(directory.path())
            .username("postgres")
            .database("postgres")
            .ssl_mode(PgSslMode::Disable)
            .options([("search_path", &world.name)]);
        lost_answer_is_unknown(world, options, cable).await;
    });
}

async fn lost_answer_is_unknown_on(world: World<sqlx::MySql>) {
    let directory = tempfile::tempdir().unwrap();
    let cable = Cable::lay(&directory.path().join("cable"), &world.socket);
    let options = MySqlConnectOptions::new()
        .socket(directory.path().join("cable"))
        .username("root")
        .database(&world.name)
        .ssl_mode(MySqlSslMode::Disabled);
    lost_answer_is_unknown(world, options, cable).await;
}

#[test]
fn lost_answer_is_unknown_on_mariadb() {
    databases::run(async { lost_answer_is_unknown_on(databases::mariadb().await).await });
}

#[test]
fn lost_answer_is_unknown_on_mysql() {
    databases::run(async { lost_answer_is_unknown_on(databases::mysql().await).await });
}

/// The server ends a session while its statement waits for a lock.
#[test]
fn killed_session_is_unknown_on_postgres() {
    databases::run(async {
        let world = databases::postgres().await;
        tables(&world).await;
        world.sql("INSERT INTO quotas (id, in_use) VALUES ('a', 0)").await;
        let mut holder = world.pool.begin().await.unwrap();
        let count = Quota::update("a").set(Quota::IN_USE.to(Quota::IN_USE + 1));
        assert!(count.run(&mut holder).await.unwrap().happened());
        let waiting = tokio::spawn({
            let (pool, count) = (world.pool.clone(), count.clone());
            async move { count.run(&pool).await }
        });
        let holds: i32 =
            sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut *holder).await.unwrap();
        let kill = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE {holds} = ANY(pg_blocking_pids(pid))"
        );
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
        while world.sql(&kill).await == 0 {
            assert!(std::time::Instant::now() < deadline, "the statement never waited");
            tokio::task::yield_now().await;
        }
        let error = waiting.await.unwrap().unwrap_err();
        assert!(matches!(error, Error::Unknown(_)), "{error}");
        holder.rollback().await.unwrap();
        let stored: Quota = row(&world, Quota::update("a")).await;
        assert_eq!(stored.in_use, 0);
    });
}

#[test]
fn unreachable_database_is_unavailable() {
    databases::run(async {
        let directory = tempfile::tempdir().unwrap();
        let options = MySqlConnectOptions::new().socket(directory.path().join("nobody"));
        let pool = PoolOptions::<sqlx::MySql>::new()
            .acquire_timeout(std::time::Duration::from_millis(100))
            .connect_lazy_with(options);
        let error = Quota::update("a").run(&pool).await.unwrap_err();
        assert!(matches!(error, Error::Unavailable(_)), "{error}");
        assert!(!error.may_have_happened());
    });
}
