//! File locks on the directory of a dataset, so that other programs are kept out.
//!
//! **Problem.** There are two kinds of file locks, and they do not see each other: those of `flock`
//! and those of `fcntl`. Programs use one or the other. And the classic locks of `fcntl` belong to a
//! process: closing any descriptor of the file, somewhere in the program, frees them all.
//!
//! **Idea.** Take both, each where its users look: `flock` on the directory itself (`flock /data/7
//! tar …`), and an *open-file-description* lock of `fcntl` on a file in it, because a directory
//! cannot be opened for writing. Both belong to what was opened here and to nothing else.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use super::storage::{Storage, StorageError, StorageLock};
use super::{DatasetId, LockType};

/// The file in the directory of a dataset that is locked with `fcntl`.
const LOCK_FILE: &str = ".lock";

/// Where the directory of a dataset is.
type Place = Box<dyn Fn(DatasetId) -> PathBuf + Send + Sync>;

/// Takes file locks on the directories of datasets: shared or exclusive, seen by `flock` (on the
/// directory) and by `fcntl` and `lockf` (on the file `.lock` in it, which is made when it is missing).
///
/// The directory has to be there. File systems of other machines may have their own mind about locks.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let root = directory.path().to_owned();
/// # std::fs::create_dir(root.join("7"))?;
/// use tenure::datasets::{FileLocks, LockManager, LockType};
///
/// let files = FileLocks::new(move |dataset| root.join(dataset.to_string()));
/// let locks = LockManager::new().with_storage(files);
/// let lock = locks.lock([7], LockType::Exclusive).get()?;
/// # let held = std::fs::File::open(directory.path().join("7"))?;
/// assert!(held.try_lock().is_err()); // another program, `flock` on the directory
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FileLocks {
    place: Place,
}

impl FileLocks {
    /// Locks the directories that `place` names.
    pub fn new(place: impl Fn(DatasetId) -> PathBuf + Send + Sync + 'static) -> Self {
        Self { place: Box::new(place) }
    }
}

impl std::fmt::Debug for FileLocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FileLocks")
    }
}

impl Storage for FileLocks {
    fn lock(
        &self,
        dataset: DatasetId,
        kind: LockType,
    ) -> Result<Option<Box<dyn StorageLock>>, StorageError> {
        let path = (self.place)(dataset);
        let directory = File::open(&path).map_err(|error| about(&path, error))?;
        let flocked = match kind {
            LockType::Shared => directory.try_lock_shared(),
            LockType::Exclusive => directory.try_lock(),
        };
        flocked.map_err(|error| match error {
            TryLockError::WouldBlock => StorageError::AlreadyLocked,
            TryLockError::Error(error) => about(&path, error),
        })?;
        let path = path.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path).map_err(|error| about(&path, error))?;
        lock_description(&file, kind).map_err(|errno| match errno == Errno::EAGAIN {
            true => StorageError::AlreadyLocked,
            false => about(&path, errno.into()),
        })?;
        Ok(Some(Box::new(Both { directory, file })))
    }
}

fn about(path: &Path, error: io::Error) -> StorageError {
    let text = format!("{}: {error}", path.display());
    StorageError::Io(io::Error::new(error.kind(), text))
}

/// Locks the whole file for this open description of it, without waiting.
fn lock_description(file: &File, kind: LockType) -> nix::Result<()> {
    let kind = match kind {
        LockType::Shared => libc::F_RDLCK,
        LockType::Exclusive => libc::F_WRLCK,
    };
    set(file, kind)
}

fn set(file: &File, kind: libc::c_int) -> nix::Result<()> {
    let whole = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        // Has to be nothing for locks of descriptions.
        l_pid: 0,
    };
    fcntl(file, FcntlArg::F_OFD_SETLK(&whole)).map(drop)
}

/// The two locks of a dataset. Dropping them gives them back, too.
struct Both {
    directory: File,
    file: File,
}

impl StorageLock for Both {
    fn close(self: Box<Self>) -> io::Result<()> {
        // Said, not only closed: a copy of a descriptor, in a child between fork and exec, would keep
        // the lock until it is gone, too.
        let unlocked = self.directory.unlock();
        set(&self.file, libc::F_UNLCK)?;
        unlocked
    }
}
