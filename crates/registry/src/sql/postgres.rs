//! PostgreSQL: waiters are woken by LISTEN and NOTIFY.

use std::time::Duration;

use claims::{ClaimId, Rules};
use sqlx::pool::PoolOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgListener, PgPool};
use sqlx::{Executor, Postgres};
use tokio::sync::mpsc;

use super::SqlStore;
use super::notice::Bell;
use crate::error::StoreError;

/// Notices can be lost with their connection. Then a look finds out, this often.
const LOOK: Duration = Duration::from_secs(1);
const CONNECT: Duration = Duration::from_secs(5);
/// At most so many decisions of this process are under way at once.
const CONNECTIONS: u32 = 16;

/// Opens the store in a database.
pub(crate) async fn open(url: String, rules: Rules) -> Result<SqlStore<Postgres>, StoreError> {
    let away = |error: sqlx::Error| {
        StoreError::Unavailable(format!("the PostgreSQL database cannot be reached: {error}"))
    };
    let options: PgConnectOptions = url.parse().map_err(away)?;
    let options = options.application_name("tenure");
    let pool = PoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(CONNECT);
    let pool = pool.after_connect(|connection, _| Box::pin(settle_in(connection)));
    let pool = pool.test_before_acquire(false).connect_with(options).await.map_err(away)?;
    let (tell, heard) = mpsc::unbounded_channel();
    tokio::spawn(listen(pool.clone(), tell));
    SqlStore::open(pool, rules, Bell::told_by(heard, LOOK)).await
}

/// No answer before it is durable, whatever the database does for others.
async fn settle_in(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let durable = "SELECT set_config('synchronous_commit', 'on', false) WHERE \
                   current_setting('synchronous_commit') = 'off'";
    connection.execute(durable).await.map(drop)
}

/// Passes on what other processes tell, for as long as somebody wants to hear it.
async fn listen(pool: PgPool, tell: mpsc::UnboundedSender<ClaimId>) {
    while !tell.is_closed() {
        if let Err(error) = listen_once(&pool, &tell).await {
            tracing::debug!(%error, "no notices from the database for a while");
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn listen_once(
    pool: &PgPool,
    tell: &mpsc::UnboundedSender<ClaimId>,
) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen("tenure").await?;
    loop {
        // Whatever was said before is not known.
        let mut heard = tell.send(ClaimId(0)).is_ok();
        while heard {
            let notice = tokio::select! {
                notice = listener.try_recv() => notice?,
                () = tell.closed() => return Ok(()),
            };
            let Some(notice) = notice else { break };
            let ids = notice.payload().split(' ').filter_map(|id| id.parse().ok());
            for id in ids {
                heard = tell.send(ClaimId(id)).is_ok();
            }
        }
        if tell.is_closed() {
            return Ok(());
        }
    }
}
