//! Names as objects in a bucket with conditional puts.
//!
//! Releasing does not delete the object, it swaps it for one without a tag: an object store deletes
//! whatever is there, which may be somebody else's by then. So the counter in it lives on, and is
//! the fence.

use async_trait::async_trait;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, PutMode, PutOptions, UpdateVersion};
use serde::{Deserialize, Serialize};

use super::{Creation, Names, Sign, Tag};
use crate::{Fault, Place};

/// More than this is not one of ours.
const BYTES_MAX: u64 = 64 * 1024;

/// Names as objects under a place.
#[derive(Debug, Clone)]
pub struct Objects {
    place: Place,
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    /// Rises with every holder.
    fence: u64,
    /// Whose it is; nobody's, without.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    tag: Option<Tag>,
}

struct Found {
    record: Record,
    version: UpdateVersion,
}

impl Objects {
    /// In this place. Directories have [`Files`](super::Files) instead.
    pub fn new(place: Place) -> Result<Self, Fault> {
        if !place.is_conditional() {
            return Err(Fault::Unable(
                "a directory has no conditional puts: use its files as names",
            ));
        }
        Ok(Self { place })
    }

    /// Tries the store out: whether it refuses to create what is there and to swap what has changed.
    /// Some stores that look like S3 ignore the conditions, and would give everybody the lock.
    pub async fn prove(&self) -> Result<(), Fault> {
        let trial = format!("tenure-trial-{}", crate::fault::random_name(8)?);
        let path = self.path(&trial)?;
        let put = |mode: PutMode, text: &'static str| {
            let options = PutOptions::from(mode);
            async { self.place.objects.put_opts(&path, text.into(), options).await }
        };
        let first = put(PutMode::Create, "1").await?;
        let again = put(PutMode::Create, "2").await;
        let swapped = put(PutMode::Update(first.clone().into()), "3").await;
        let stale = put(PutMode::Update(first.into()), "4").await;
        self.place.objects.delete(&path).await?;
        let honest = matches!(again, Err(Error::AlreadyExists { .. } | Error::Precondition { .. }))
            && swapped.is_ok()
            && matches!(stale, Err(Error::Precondition { .. }));
        let lies = "this store does not honour conditions on puts, so it cannot keep locks";
        if honest { Ok(()) } else { Err(Fault::Unable(lies)) }
    }

    fn path(&self, name: &str) -> Result<Path, Fault> {
        self.place.object(&format!("{name}.mutex"))
    }

    async fn find(&self, path: &Path) -> Result<Option<Found>, Fault> {
        let answer = match self.place.objects.get(path).await {
            Ok(answer) => answer,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let meta = answer.meta.clone();
        let foreign = || Fault::Name {
            name: path.to_string(),
            why: "there is an object of that name that is not a lock".into(),
        };
        if meta.size > BYTES_MAX {
            return Err(foreign());
        }
        let record = serde_json::from_slice(&answer.bytes().await?).map_err(|_| foreign())?;
        Ok(Some(Found {
            record,
            version: UpdateVersion { e_tag: meta.e_tag, version: meta.version },
        }))
    }

    async fn put(&self, path: &Path, record: Record, mode: PutMode) -> Result<Creation, Fault> {
        let bytes = serde_json::to_vec(&record).expect("a record can be written as JSON");
        match self.place.objects.put_opts(path, bytes.into(), mode.into()).await {
            Ok(done) => Ok(match record.tag {
                Some(tag) => Creation::Created(sign(tag, record.fence, &done.into())),
                None => Creation::Taken(None),
            }),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                let found = self.find(path).await?.and_then(into_sign);
                Ok(Creation::Taken(found))
            }
            Err(error) => Err(error.into()),
        }
    }
}

#[async_trait]
impl Names for Objects {
    async fn create(&self, name: &str, tag: &Tag) -> Result<Creation, Fault> {
        let path = self.path(name)?;
        let (fence, mode) = match self.find(&path).await? {
            None => (1, PutMode::Create),
            Some(Found { record: Record { fence, tag: None }, version }) => {
                (fence + 1, PutMode::Update(version))
            }
            Some(found) => return Ok(Creation::Taken(into_sign(found))),
        };
        self.put(&path, Record { fence, tag: Some(tag.clone()) }, mode).await
    }

    async fn read(&self, name: &str) -> Result<Option<Sign>, Fault> {
        Ok(self.find(&self.path(name)?).await?.and_then(into_sign))
    }

    async fn remove(&self, name: &str, seen: &Sign) -> Result<bool, Fault> {
        let path = self.path(name)?;
        let fence = seen.fence.unwrap_or(0);
        let bytes = serde_json::to_vec(&Record { fence, tag: None }).expect("JSON");
        let mode = PutMode::Update(version(&seen.version));
        match self.place.objects.put_opts(&path, bytes.into(), mode.into()).await {
            Ok(_) => Ok(true),
            Err(Error::Precondition { .. } | Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn swap(&self, name: &str, seen: &Sign, tag: &Tag) -> Result<Creation, Fault> {
        let path = self.path(name)?;
        let rises = u64::from(!seen.tag.is_same_attempt(tag));
        let fence = seen.fence.unwrap_or(0) + rises;
        let mode = PutMode::Update(version(&seen.version));
        self.put(&path, Record { fence, tag: Some(tag.clone()) }, mode).await
    }

    fn has_leases(&self) -> bool {
        true
    }
}

fn into_sign(found: Found) -> Option<Sign> {
    let fence = found.record.fence;
    found.record.tag.map(|tag| sign(tag, fence, &found.version))
}

fn sign(tag: Tag, fence: u64, version: &UpdateVersion) -> Sign {
    let version = [version.e_tag.as_deref(), version.version.as_deref()];
    let version = serde_json::to_string(&version).expect("JSON");
    Sign { tag, version, fence: Some(fence) }
}

fn version(text: &str) -> UpdateVersion {
    let [e_tag, version] = serde_json::from_str(text).unwrap_or([None, None]);
    UpdateVersion { e_tag, version }
}
