//! The real medium: a directory of the file system, for one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use claims::Span;
use rustix::fs::{AtFlags, CWD, StatxFlags};

use super::direct::Tail;
use super::medium::{Medium, MediumFile};
use crate::error::StoreError;

/// The file whose lock says that a process has the directory, and whose text says which.
const LOCK: &str = "lock";

/// A directory that this process alone has.
#[derive(Debug, Clone)]
pub struct Directory {
    path: Arc<Path>,
    /// Held, never read: the lock goes when the last copy does.
    _lock: Arc<File>,
}

/// A file in a [`Directory`].
#[derive(Debug, Clone)]
pub struct DirectoryFile {
    file: Arc<File>,
    tail: Arc<Mutex<Tail>>,
}

impl DirectoryFile {
    fn of(file: File) -> Self {
        Self { file: Arc::new(file), tail: Arc::default() }
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().expect("writing does not panic")
    }
}

impl Directory {
    /// Takes the directory for this process; makes it, for this user only, if it is not there.
    pub fn claim(path: &Path) -> Result<Self, StoreError> {
        let failed = |error: io::Error| {
            StoreError::Unavailable(format!("{} cannot be used: {error}", path.display()))
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let meta = fs::metadata(path).map_err(failed)?;
        if meta.mode() & 0o002 != 0 {
            return Err(StoreError::Unavailable(format!(
                "{} can be written to by everybody: chmod o-w it, or choose another directory",
                path.display()
            )));
        }
        let lock = lock(path).map_err(failed)??;
        Ok(Self { path: path.into(), _lock: Arc::new(lock) })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// Takes the lock of a directory, or says who has it.
fn lock(path: &Path) -> io::Result<Result<File, StoreError>> {
    let mut file = private().create(true).truncate(false).read(true).open(path.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            file.read_to_string(&mut pid)?;
            return Ok(Err(StoreError::Unavailable(format!(
                "{} is in use by process {}: stop it, or choose another directory",
                path.display(),
                pid.trim()
            ))));
        }
        Err(TryLockError::Error(error)) => return Err(error),
    }
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())?;
    Ok(Ok(file))
}

/// Files of the store are for its user alone, and never followed through a link somebody planted.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    options
}

impl Medium for Directory {
    type File = DirectoryFile;

    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name()));
        let names: io::Result<Vec<_>> = names.collect();
        Ok(names?.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.at(name))
    }

    fn create(&self, name: &str, len: u64) -> io::Result<DirectoryFile> {
        let mut file = private().read(true).create(true).truncate(true).open(self.at(name))?;
        // Real zeros, not a hole or an unwritten extent: those would change metadata when used.
        let zeros = vec![0; 1 << 20];
        let mut left = len;
        while left > 0 {
            let piece = left.min(zeros.len() as u64);
            file.write_all(&zeros[..piece as usize])?;
            left -= piece;
        }
        Ok(DirectoryFile::of(file))
    }

    fn open(&self, name: &str) -> io::Result<DirectoryFile> {
        Ok(DirectoryFile::of(private().read(true).open(self.at(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.at(from), self.at(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.at(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    fn birthmark(&self, name: &str) -> io::Result<u64> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let stat = rustix::fs::statx(CWD, self.at(name), AtFlags::SYMLINK_NOFOLLOW, wanted)?;
        let born = (stat.stx_btime.tv_sec as u64)
            .wrapping_mul(1_000_000_000)
            .wrapping_add(u64::from(stat.stx_btime.tv_nsec));
        Ok(stat.stx_ino.rotate_left(40) ^ born)
    }
}

impl MediumFile for DirectoryFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.tail().forget(&self.file)?;
        self.file.write_all_at(bytes, offset)
    }

    fn append_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.tail().append(&self.file, offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_timed(&self) -> io::Result<Option<Span>> {
        let begun = Instant::now();
        self.sync()?;
        let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(Some(Span::from_micros(micros)))
    }
}
