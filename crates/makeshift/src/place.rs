//! Where blobs are: a directory, a bucket, or memory.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreScheme, RetryConfig};
use url::Url;

use crate::Fault;

/// A store of blobs, and a prefix in it.
#[derive(Clone)]
pub struct Place {
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) prefix: Path,
    /// The directory, if it is one: files are replaced there with more care.
    pub(crate) directory: Option<PathBuf>,
    shown: String,
}

impl Place {
    /// Opens `file:///dir`, a bare path, `s3://bucket/prefix`, `az://container/prefix`,
    /// `gs://bucket/prefix` or `memory:///`. Credentials come from the environment, as the tools of
    /// each cloud have them. A directory is made if it is not there.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the kinds of stores are not ours to count")]
    pub fn open(address: &str) -> Result<Self, Fault> {
        let Some((scheme, rest)) = address.split_once("://") else {
            return Self::directory(PathBuf::from(address));
        };
        if scheme == "file" {
            let decoded = Url::parse(address).ok().and_then(|url| url.to_file_path().ok());
            return Self::directory(decoded.ok_or_else(|| {
                Fault::Address(format!("{address} is not a path: it must begin with file:///"))
            })?);
        }
        let url = Url::parse(&format!("{scheme}://{rest}"))
            .map_err(|error| Fault::Address(format!("{address} is not an address: {error}")))?;
        let unknown = || {
            Fault::Address(format!(
                "{address}: no such store; there are file:///, s3://, az://, gs:// and memory:///"
            ))
        };
        let (kind, prefix) = ObjectStoreScheme::parse(&url).map_err(|_| unknown())?;
        // One attempt, and no more: a copy of a write that lands later undoes what came between.
        let once = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let objects: Arc<dyn ObjectStore> = match kind {
            ObjectStoreScheme::AmazonS3 => {
                Arc::new(AmazonS3Builder::from_env().with_url(address).with_retry(once).build()?)
            }
            ObjectStoreScheme::MicrosoftAzure => Arc::new(
                MicrosoftAzureBuilder::from_env().with_url(address).with_retry(once).build()?,
            ),
            ObjectStoreScheme::GoogleCloudStorage => Arc::new(
                GoogleCloudStorageBuilder::from_env().with_url(address).with_retry(once).build()?,
            ),
            ObjectStoreScheme::Memory => Arc::new(InMemory::new()),
            _ => return Err(unknown()),
        };
        Ok(Self { objects, prefix, directory: None, shown: address.trim_end_matches('/').into() })
    }

    /// A store that is open already, and honours conditions on puts.
    pub fn of(objects: Arc<dyn ObjectStore>, prefix: Path) -> Self {
        let shown = format!("{objects}/{prefix}");
        Self { objects, prefix, directory: None, shown }
    }

    fn directory(path: PathBuf) -> Result<Self, Fault> {
        let shown = path.display().to_string();
        std::fs::create_dir_all(&path).map_err(Fault::files(format!("making {shown}")))?;
        let path = path.canonicalize().map_err(Fault::files(format!("opening {shown}")))?;
        let objects = Arc::new(LocalFileSystem::new_with_prefix(&path)?);
        let shown = format!("file://{}", path.display());
        Ok(Self { objects, prefix: Path::default(), directory: Some(path), shown })
    }

    /// Whether a put can be made to fail if the object has changed.
    pub fn is_conditional(&self) -> bool {
        self.directory.is_none()
    }

    /// The object of that name under the prefix. Slashes make levels; nothing leads out of it.
    pub(crate) fn object(&self, name: &str) -> Result<Path, Fault> {
        let bad = |why: String| Fault::Name { name: name.into(), why };
        if name.is_empty() {
            return Err(bad("it is empty".into()));
        }
        let below = Path::parse(name).map_err(|error| bad(error.to_string()))?;
        if below.parts().any(|part| part.as_ref().starts_with('.')) {
            return Err(bad("names with a dot in front are those of temporary files".into()));
        }
        let parts: Vec<String> =
            self.prefix.parts().chain(below.parts()).map(|part| part.as_ref().to_owned()).collect();
        Path::parse(parts.join("/")).map_err(|error| bad(error.to_string()))
    }

    /// The file that an object is, in a directory.
    pub(crate) fn file(&self, object: &Path) -> Option<PathBuf> {
        let directory = self.directory.as_ref()?;
        Some(object.parts().fold(directory.clone(), |path, part| path.join(part.as_ref())))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.shown)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Place({})", self.shown)
    }
}
