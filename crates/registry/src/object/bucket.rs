//! A bucket as a cabinet.

use std::sync::Arc;
use std::time::Duration;

use claims::{ClaimId, Name};
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, UpdateVersion};

use super::tags;
use crate::error::StoreError;
use crate::swap::cabinet::{Cabinet, Content, Exchange, Key, Swapped};

/// More than this is not one of ours.
const FOREIGN: u64 = 16 * 1024 * 1024;
/// How many requests are under way at once.
const AT_ONCE: usize = 8;
/// What the names of our other objects begin with.
pub(super) const OURS: &str = "tenure-";
/// No request takes longer, or its outcome is unknown.
const REQUEST: Duration = Duration::from_secs(5);

/// Objects under a prefix.
pub(crate) struct Bucket {
    pub(super) objects: Arc<dyn ObjectStore>,
    prefix: Path,
    pub(super) shown: String,
}

impl Bucket {
    pub(crate) fn new(objects: Arc<dyn ObjectStore>, prefix: Path, shown: String) -> Self {
        Self { objects, prefix, shown }
    }

    pub(super) fn path(&self, name: &str) -> Path {
        self.prefix.clone().join(name)
    }

    /// Waits for an answer, within reason.
    pub(super) async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<Result<T, Error>, StoreError> {
        tokio::time::timeout(REQUEST, request).await.map_err(|_| {
            StoreError::Unavailable(format!("{} does not answer: try again later", self.shown))
        })
    }

    pub(super) fn failed(&self, error: &Error) -> StoreError {
        StoreError::Unavailable(format!("{} cannot serve: {error}", self.shown))
    }

    async fn get(&self, key: &Key) -> Result<Content<UpdateVersion>, StoreError> {
        let path = self.path(key);
        let request = async {
            let answer = self.objects.get(&path).await?;
            let meta = answer.meta.clone();
            if meta.size > FOREIGN {
                return Ok(None);
            }
            Ok(Some((meta, answer.bytes().await?)))
        };
        match self.ask(request).await? {
            Ok(Some((meta, bytes))) => {
                let version = UpdateVersion { e_tag: meta.e_tag, version: meta.version };
                Ok(Some((version, bytes.to_vec())))
            }
            Ok(None) => Err(StoreError::Corrupt(format!(
                "{path} is too large to be a record of Tenure: give Tenure a prefix of its own"
            ))),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Removes everything under the prefix that is ours.
    pub(super) async fn remove(&self) -> Result<(), StoreError> {
        let prefix = Some(&self.prefix).filter(|prefix| !prefix.as_ref().is_empty());
        let listed = self.objects.list(prefix).map_ok(|meta| meta.location);
        let paths: Vec<Path> =
            self.ask(listed.try_collect()).await?.map_err(|e| self.failed(&e))?;
        let is_ours = |path: &Path| {
            let name = path.filename().unwrap_or_default();
            (tags::is_key(name) || name.starts_with(OURS)) && self.path(name) == *path
        };
        for path in paths.into_iter().filter(is_ours) {
            match self.ask(self.objects.delete(&path)).await? {
                Ok(()) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(self.failed(&error)),
            }
        }
        Ok(())
    }
}

impl Cabinet for Bucket {
    type Version = UpdateVersion;
    const SEVERAL: bool = false;
    const SEQUENCES_MAX: u64 = tags::SEQUENCES_MAX;
    const BYTES_MAX: usize = 1024 * 1024;
    const GUESSES: bool = false;
    const FOLLOWS: bool = false;
    const GIVES_UP: bool = false;
    const LOOK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

    fn drawer(&self, name: &Name) -> Key {
        tags::drawer(name)
    }

    fn claim_id(&self, sequence: u64, drawer: &Key) -> ClaimId {
        tags::claim_id(sequence, drawer)
    }

    fn floor(&self) -> u64 {
        0
    }

    async fn find(&self, claim: ClaimId) -> Result<Option<Key>, StoreError> {
        Ok(Some(tags::find(claim)))
    }

    async fn read(&self, keys: &[Key]) -> Result<Vec<Content<UpdateVersion>>, StoreError> {
        let gets: Vec<_> = keys.iter().map(|key| self.get(key)).collect();
        stream::iter(gets).buffered(AT_ONCE).try_collect().await
    }

    async fn list(&self) -> Result<Vec<(Key, UpdateVersion)>, StoreError> {
        let prefix = Some(&self.prefix).filter(|prefix| !prefix.as_ref().is_empty());
        let mut listed = self.objects.list(prefix);
        let mut found = Vec::new();
        while let Some(meta) = self.ask(listed.try_next()).await?.map_err(|e| self.failed(&e))? {
            let name = meta.location.filename().unwrap_or_default();
            if tags::is_key(name) && self.path(name) == meta.location {
                let version = UpdateVersion { e_tag: meta.e_tag, version: meta.version };
                found.push((name.into(), version));
            }
        }
        Ok(found)
    }

    async fn swap(
        &self,
        swap: Exchange<UpdateVersion>,
    ) -> Result<Swapped<UpdateVersion>, StoreError> {
        let ([(key, expected)], [(_, Some(bytes))]) = (&swap.expected[..], swap.puts.as_slice())
        else {
            unreachable!("a bucket swaps one drawer at a time and gives none up");
        };
        let mode = expected.clone().map_or(PutMode::Create, PutMode::Update);
        let path = self.path(key);
        let put = self.objects.put_opts(&path, bytes.clone().into(), mode.into());
        match self.ask(put).await? {
            Ok(done) => Ok(Swapped::Done(vec![Some(done.into())], None)),
            Err(
                Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotFound { .. },
            ) => Ok(Swapped::Conflict(None)),
            Err(error) => Err(self.failed(&error)),
        }
    }
}
