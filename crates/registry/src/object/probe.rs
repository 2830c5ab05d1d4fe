//! Finding out whether a bucket tells the truth about conditions on puts.
//!
//! Some stores that look like S3 ignore the conditions and would give everybody the lock; some check
//! and write in two steps, and let several through that come at once. Both are found out by trying.

use futures_util::future::join_all;
use object_store::{Error, ObjectStoreExt, PutMode, PutResult};

use super::bucket::{Bucket, OURS};
use crate::error::StoreError;

/// How many try at once.
const RACERS: usize = 16;
/// The object that says that a bucket has been tried out.
const PROVED: &str = "tenure-proved-1";

impl Bucket {
    /// Tries the bucket out unless that was done before.
    pub(super) async fn prove_once(&self) -> Result<(), StoreError> {
        let path = self.path(PROVED);
        match self.ask(self.objects.head(&path)).await? {
            Ok(_) => return Ok(()),
            Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(self.failed(&error)),
        }
        self.prove().await?;
        let said = "This bucket honours conditions on puts: claims can be kept here.\n";
        let put = self.objects.put(&path, said.into());
        self.ask(put).await?.map(drop).map_err(|error| self.failed(&error))
    }

    /// Tries the bucket out.
    pub(super) async fn prove(&self) -> Result<(), StoreError> {
        let name = format!("{OURS}trial-{:016x}", random());
        let tried = self.try_out(&name).await;
        // Also after a failure. What is left over is harmless.
        let removed = self.ask(self.objects.delete(&self.path(&name))).await?;
        tried?;
        removed.map_err(|error| self.failed(&error))
    }

    async fn try_out(&self, name: &str) -> Result<(), StoreError> {
        let first = self.race(name, PutMode::Create, "created an object that was there").await?;
        let update = || PutMode::Update(first.clone().into());
        self.race(name, update(), "replaced an object that had changed").await?;
        match self.put(name, update()).await? {
            Err(Error::Precondition { .. }) => Ok(()),
            _ => Err(self.lies("replaced an object that had changed")),
        }
    }

    /// Of many who try the same at once, one must win.
    async fn race(&self, name: &str, mode: PutMode, lie: &str) -> Result<PutResult, StoreError> {
        let racers = (0..RACERS).map(|_| self.put(name, mode.clone()));
        let mut winner = None;
        for outcome in join_all(racers).await {
            match outcome? {
                Ok(won) if winner.is_none() => winner = Some(won),
                Ok(_) => return Err(self.lies(lie)),
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
                Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => {
                    return Err(self.lies("has no conditional puts"));
                }
                Err(error) => return Err(self.failed(&error)),
            }
        }
        winner.ok_or_else(|| self.lies("refused a put whose condition was met"))
    }

    async fn put(&self, name: &str, mode: PutMode) -> Result<Result<PutResult, Error>, StoreError> {
        let path = self.path(name);
        // No two are the same: S3 could not tell them apart.
        let text = format!("trial {:016x}", random());
        self.ask(self.objects.put_opts(&path, text.into(), mode.into())).await
    }

    fn lies(&self, lie: &str) -> StoreError {
        StoreError::Unavailable(format!(
            "{} {lie}: it does not honour conditions on puts, and two could hold the same claim. \
             Use another store, or mops+{} for a lease that is right nearly always",
            self.shown, self.shown
        ))
    }
}

fn random() -> u64 {
    getrandom::u64().expect("the system has random numbers")
}
