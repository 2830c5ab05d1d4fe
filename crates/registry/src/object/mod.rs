//! Claims in a bucket with conditional puts, or in a directory.
//!
//! One object for each resource (names whose hashes begin alike share one), swapped if it is still
//! the one expected. Nothing is ever deleted: the counters in an object must outlive its claims. A
//! bucket tells nobody what changes, so waiters look again, less and less often.

pub(crate) mod bucket;
mod directory;
pub(crate) mod place;
mod probe;
mod tags;

use claims::Rules;

use self::bucket::Bucket;
use self::directory::Directory;
use self::place::{Kind, Place};
use crate::error::StoreError;
use crate::store::Store;
use crate::swap::Swap;

/// How many may wait for one resource: a record is read and written as a whole.
const QUEUE_MAX: usize = 1_000;

/// Opens `s3://bucket/prefix`, `az://container/prefix`, `gs://bucket/prefix`, `file:///directory` or
/// `memory:`. Credentials come from the environment, as the tools of each cloud have them.
///
/// `?epoch=N` begins a new epoch: raise it after the bucket was restored from a backup, so that
/// fences go on above any that was ever given.
///
/// A bucket is tried out the first time: one that ignores conditions on puts is refused.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use registry::Store;
/// let store = registry::object::open("memory:", claims::Rules::default()).await?;
/// assert_eq!(store.vitals().await?.tally.active, 0);
/// # Ok::<(), registry::StoreError>(())
/// # }).unwrap();
/// ```
pub async fn open(url: &str, rules: Rules) -> Result<Box<dyn Store>, StoreError> {
    let place = Place::parse(url)?;
    let epoch = place.epoch;
    match place.kind {
        Kind::Directory(path) => {
            let directory = Directory::open(path).await?;
            Ok(Box::new(Swap::over(directory, rules, QUEUE_MAX, epoch)))
        }
        Kind::Bucket(objects, prefix) => {
            let bucket = Bucket::new(objects, prefix, place.shown);
            bucket.prove_once().await?;
            Ok(Box::new(Swap::over(bucket, rules, QUEUE_MAX, epoch)))
        }
    }
}

/// Tries out whether a bucket honours conditions on puts, also when many put at once. A directory
/// and memory do.
pub async fn probe(url: &str) -> Result<(), StoreError> {
    let place = Place::parse(url)?;
    match place.kind {
        Kind::Directory(_) => Ok(()),
        Kind::Bucket(objects, prefix) => Bucket::new(objects, prefix, place.shown).prove().await,
    }
}

/// Removes every record under the address, with all claims and counters. Only for an address that
/// nobody uses any more: fences would begin anew.
pub async fn remove(url: &str) -> Result<(), StoreError> {
    let place = Place::parse(url)?;
    match place.kind {
        Kind::Directory(path) => Directory::remove(path).await,
        Kind::Bucket(objects, prefix) => Bucket::new(objects, prefix, place.shown).remove().await,
    }
}
