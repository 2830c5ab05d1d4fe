//! Stores by their addresses: one way in for everybody who is given a URL.

use std::path::PathBuf;
use std::sync::Arc;

use claims::Rules;

use crate::error::StoreError;
use crate::store::{Pending, Store};

/// What a URL may begin with in this build.
pub const SCHEMES: &[&str] = &[
    #[cfg(feature = "sqlite")]
    "sqlite",
    #[cfg(feature = "postgres")]
    "postgres",
    #[cfg(feature = "postgres")]
    "postgresql",
    #[cfg(feature = "mysql")]
    "mysql",
    #[cfg(feature = "mysql")]
    "mariadb",
    #[cfg(feature = "etcd")]
    "etcd",
    #[cfg(feature = "object")]
    "s3",
    #[cfg(feature = "object")]
    "az",
    #[cfg(feature = "object")]
    "gs",
    #[cfg(feature = "object")]
    "file",
    #[cfg(feature = "object")]
    "memory",
];

/// Whether a URL is the address of a store, by how it begins.
///
/// ```
/// assert!(!registry::place::knows("http://127.0.0.1:7117"));
/// ```
pub fn knows(url: &str) -> bool {
    SCHEMES.contains(&scheme(url).as_str())
}

fn scheme(url: &str) -> String {
    url.split_once(':').map_or_else(String::new, |(scheme, _)| scheme.to_ascii_lowercase())
}

/// Opens the store at an address: `sqlite:/var/lib/tenure/claims.db`, `postgres://user@host/database`,
/// `mysql://user@host/database`, `etcd://host,host/prefix`, `s3://bucket/prefix` (`az`, `gs` too) or
/// `file:///var/lib/tenure/claims`. What must be there for it to work is made if it is not.
///
/// ```
/// # #[cfg(feature = "sqlite")]
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let directory = tempfile::tempdir().unwrap();
/// let url = format!("sqlite:{}/claims.db", directory.path().display());
/// let store = registry::place::open(&url, claims::Rules::default()).await?;
/// assert_eq!(store.vitals().await?.tally.active, 0);
/// # Ok::<(), registry::StoreError>(())
/// # }).unwrap();
/// ```
pub fn open(url: &str, rules: Rules) -> Pending<'_, Arc<dyn Store>> {
    Box::pin(opened(url.to_owned(), rules))
}

/// With an address of its own, so that it can be moved to another thread.
async fn opened(url: String, rules: Rules) -> Result<Arc<dyn Store>, StoreError> {
    match scheme(&url).as_str() {
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(Arc::new(crate::sql::sqlite(file_of(&url)?, rules).await?)),
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(Arc::new(crate::sql::postgres(url, rules).await?)),
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => Ok(Arc::new(crate::sql::mysql(url, rules).await?)),
        #[cfg(feature = "etcd")]
        "etcd" => Ok(crate::etcd::open(&url, rules).await?.into()),
        #[cfg(feature = "object")]
        "s3" | "az" | "gs" | "file" | "memory" => {
            Ok(crate::object::open(&url, rules).await?.into())
        }
        _ => {
            let _ = rules;
            let known: Vec<String> = SCHEMES.iter().map(|scheme| format!("{scheme}:")).collect();
            Err(StoreError::Unavailable(format!(
                "{url:?} is not the address of a store: it should begin with one of {}",
                known.join(", ")
            )))
        }
    }
}

/// As [`open`], after the store was restored from a backup: a new epoch begins, in which every fence and
/// every number of a claim is greater than any before, also those the backup does not know of (rule 8).
pub async fn open_restored(url: &str, rules: Rules) -> Result<Arc<dyn Store>, StoreError> {
    let store: Arc<dyn Store> = match scheme(url).as_str() {
        #[cfg(feature = "sqlite")]
        "sqlite" => {
            let store = crate::sql::sqlite(file_of(url)?, rules).await?;
            store.begin_epoch().await?;
            Arc::new(store)
        }
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => {
            let store = crate::sql::postgres(url.to_owned(), rules).await?;
            store.begin_epoch().await?;
            Arc::new(store)
        }
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => {
            let store = crate::sql::mysql(url.to_owned(), rules).await?;
            store.begin_epoch().await?;
            Arc::new(store)
        }
        // These are told in their address, where every server that uses them can read it.
        _ if knows(url) => {
            return Err(StoreError::Unavailable(
                "a new epoch of this store begins with a higher epoch=N in its address".to_owned(),
            ));
        }
        _ => open(url, rules).await?,
    };
    Ok(store)
}

/// The file that an address names: `sqlite:PATH` or `sqlite://PATH`.
pub fn file_of(url: &str) -> Result<PathBuf, StoreError> {
    let path = url.split_once(':').map_or("", |(_, path)| path);
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() || path.contains('?') {
        return Err(StoreError::Unavailable(format!(
            "{url:?} names no file: write sqlite: and its path, such as sqlite:/var/lib/tenure/claims.db"
        )));
    }
    Ok(PathBuf::from(path))
}
