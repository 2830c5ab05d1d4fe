//! Which bucket or directory an address means.

use std::path::PathBuf;
use std::sync::Arc;

use claims::Epoch;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreScheme, RetryConfig};
use url::Url;

use crate::error::StoreError;

/// An address that was understood.
pub(crate) struct Place {
    pub(super) kind: Kind,
    pub(super) epoch: Epoch,
    /// The address for people, without its parameters.
    pub(crate) shown: String,
}

pub(super) enum Kind {
    Directory(PathBuf),
    Bucket(Arc<dyn ObjectStore>, Path),
}

impl Place {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the kinds of stores are not ours to count")]
    pub(crate) fn parse(address: &str) -> Result<Self, StoreError> {
        let (plain, parameters) = address.split_once('?').unwrap_or((address, ""));
        let epoch = epoch(parameters, address)?;
        let shown = plain.trim_end_matches('/').to_owned();
        let place = |kind| Ok(Self { kind, epoch, shown: shown.clone() });
        if matches!(plain.trim_end_matches('/'), "memory:") {
            return place(Kind::Bucket(Arc::new(InMemory::new()), Path::default()));
        }
        let url = Url::parse(plain).map_err(|error| bad(address, &error.to_string()))?;
        if url.scheme() == "file" {
            // The parser would take file:x for /x.
            let path = url.to_file_path().ok().filter(|_| plain.starts_with("file:///"));
            let path = path.ok_or_else(|| bad(address, "a directory begins with file:///"))?;
            return place(Kind::Directory(path));
        }
        let none = "there are s3://, az://, gs://, file:/// and memory:";
        let (scheme, prefix) = ObjectStoreScheme::parse(&url).map_err(|_| bad(address, none))?;
        // One attempt, and no more: whether a copy of a write landed must be found out by looking.
        let once = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let failed = |error: object_store::Error| bad(address, &error.to_string());
        let objects: Arc<dyn ObjectStore> = match scheme {
            ObjectStoreScheme::AmazonS3 => {
                let builder = AmazonS3Builder::from_env().with_url(plain).with_retry(once);
                Arc::new(builder.build().map_err(failed)?)
            }
            ObjectStoreScheme::MicrosoftAzure => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(plain).with_retry(once);
                Arc::new(builder.build().map_err(failed)?)
            }
            ObjectStoreScheme::GoogleCloudStorage => {
                let builder = GoogleCloudStorageBuilder::from_env().with_url(plain);
                Arc::new(builder.with_retry(once).build().map_err(failed)?)
            }
            _ => return Err(bad(address, none)),
        };
        place(Kind::Bucket(objects, prefix))
    }
}

fn epoch(parameters: &str, address: &str) -> Result<Epoch, StoreError> {
    let mut epoch = Epoch::default();
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let number = parameter.strip_prefix("epoch=").and_then(|number| number.parse().ok());
        let known = number.and_then(Epoch::from_number);
        epoch = known.ok_or_else(|| {
            bad(address, &format!("{parameter:?} is not known: there is epoch=N, N below 8192"))
        })?;
    }
    Ok(epoch)
}

fn bad(address: &str, why: &str) -> StoreError {
    StoreError::Unavailable(format!("{address} cannot be opened: {why}"))
}
