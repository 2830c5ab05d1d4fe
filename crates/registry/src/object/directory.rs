//! A directory as a cabinet: files that are replaced by renaming, under a lock.
//!
//! A rename is atomic and knows no condition, so comparing and renaming happen under a lock that the
//! system gives back when its holder dies. Whoever only reads needs none.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use claims::{ClaimId, Name};

use super::tags;
use crate::error::StoreError;
use crate::swap::cabinet::{Cabinet, Content, Exchange, Key, Swapped};

/// A directory on a local disk.
pub(super) struct Directory {
    path: PathBuf,
}

/// Contents are never the same twice: they have a nonce.
type Version = [u8; 32];

impl Directory {
    pub(super) async fn open(path: PathBuf) -> Result<Self, StoreError> {
        let directory = Self { path };
        directory.work(|path| fs::create_dir_all(path)).await?;
        Ok(directory)
    }

    pub(super) async fn remove(path: PathBuf) -> Result<(), StoreError> {
        let directory = Self { path };
        directory
            .work(|path| {
                if !path.exists() {
                    return Ok(());
                }
                for entry in entries(path)? {
                    fs::remove_file(entry)?;
                }
                // Others may have put something else there.
                match fs::remove_dir(path) {
                    Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
                    done => done,
                }
            })
            .await
    }

    /// Does something with files, where that holds nobody up.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        let done = tokio::task::spawn_blocking(move || {
            work(&path).map_err(|error| {
                StoreError::Unavailable(format!("{} cannot be used: {error}", path.display()))
            })
        });
        done.await.map_err(|error| StoreError::Unavailable(error.to_string()))?
    }
}

/// The files that are ours.
fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if tags::is_key(&name) || name.starts_with(".lock-") || name.starts_with(".new-") {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn get(path: &Path) -> io::Result<Content<Version>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some((version(&bytes), bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn version(bytes: &[u8]) -> Version {
    *blake3::hash(bytes).as_bytes()
}

/// Replaces a file if it is the one expected. What was there, if not.
fn replace(
    directory: &Path,
    key: &Key,
    expected: Option<Version>,
    bytes: &[u8],
) -> io::Result<Result<(), Content<Version>>> {
    let file = directory.join(&**key);
    let lock = File::create(directory.join(format!(".lock-{}", &key[..1])))?;
    lock.lock()?;
    let there = get(&file)?;
    if there.as_ref().map(|(version, _)| *version) != expected {
        return Ok(Err(there));
    }
    let new = directory.join(format!(".new-{key}"));
    let mut out = File::create(&new)?;
    out.write_all(bytes)?;
    out.sync_data()?;
    fs::rename(&new, &file)?;
    File::open(directory)?.sync_all()?;
    Ok(Ok(()))
}

impl Cabinet for Directory {
    type Version = Version;
    const SEVERAL: bool = false;
    const SEQUENCES_MAX: u64 = tags::SEQUENCES_MAX;
    const BYTES_MAX: usize = 1024 * 1024;
    const GUESSES: bool = true;
    const FOLLOWS: bool = false;
    const GIVES_UP: bool = false;
    const LOOK: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

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

    async fn read(&self, keys: &[Key]) -> Result<Vec<Content<Version>>, StoreError> {
        let keys = keys.to_vec();
        self.work(move |path| keys.iter().map(|key| get(&path.join(&**key))).collect()).await
    }

    async fn list(&self) -> Result<Vec<(Key, Version)>, StoreError> {
        self.work(|path| {
            let mut found = Vec::new();
            for entry in entries(path)? {
                let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if tags::is_key(&name)
                    && let Some((version, _)) = get(&entry)?
                {
                    found.push((name.into(), version));
                }
            }
            Ok(found)
        })
        .await
    }

    async fn swap(&self, swap: Exchange<Version>) -> Result<Swapped<Version>, StoreError> {
        let mut puts = swap.puts;
        let (Some((key, Some(bytes))), [(_, expected)]) = (puts.pop(), &swap.expected[..]) else {
            unreachable!("a directory swaps one drawer at a time and gives none up");
        };
        let expected = *expected;
        let new = version(&bytes);
        let done = self.work(move |path| replace(path, &key, expected, &bytes)).await?;
        Ok(match done {
            Ok(()) => Swapped::Done(vec![Some(new)], None),
            Err(there) => Swapped::Conflict(Some(vec![there])),
        })
    }
}
