//! Where tokens are kept: one file in the data directory, for its user alone, replaced as a whole.
//!
//! The command line changes it and the server reads it, whenever it is a different one. No lock of
//! the store is needed for that, so tokens can be made before the first start and while it runs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::token::{BadToken, Token, TokenList};
use crate::files::{FileProblem, Mark};

const NAME: &str = "tokens.json";
const LOCK: &str = "tokens.lock";
const VERSION: u32 = 1;

/// The file that tokens are kept in.
#[derive(Debug, Clone)]
pub struct TokenFile(PathBuf);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content<T> {
    version: u32,
    tokens: T,
}

impl TokenFile {
    /// The file in this data directory.
    pub fn within(data: &Path) -> Self {
        Self(data.join(NAME))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What is in it; nothing if it is not there.
    pub fn read(&self) -> Result<TokenList, FileProblem> {
        let mut file = match private().read(true).open(&self.0) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(TokenList::default());
            }
            Err(error) => return Err(self.failed(error)),
        };
        let mode = file.metadata().map_err(|error| self.failed(error))?.mode();
        if mode & 0o077 != 0 {
            return Err(FileProblem::content(&self.0, "can be read by others: chmod 600 it"));
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| self.failed(error))?;
        TokenList::from_json(&text).map_err(|what| FileProblem::content(&self.0, what))
    }

    /// Changes it: nobody ever sees a half of it, and when this returns it is on disk.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut TokenList) -> Result<T, BadToken>,
    ) -> Result<Result<T, BadToken>, FileProblem> {
        let directory = self.0.parent().unwrap_or(Path::new("."));
        let failed = |error| self.failed(error);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
        // One change at a time. The lock is another file, because this one is replaced.
        let lock = private().write(true).create(true).truncate(false).open(directory.join(LOCK));
        lock.and_then(|lock| lock.lock().map(|()| lock)).map_err(failed).and_then(|_lock| {
            let mut list = self.read()?;
            let done = change(&mut list);
            if done.is_ok() {
                self.replace(directory, &list).map_err(failed)?;
            }
            Ok(done)
        })
    }

    /// Which file it is at the moment.
    pub(crate) fn mark(&self) -> Mark {
        Mark::of(&self.0)
    }

    fn replace(&self, directory: &Path, list: &TokenList) -> io::Result<()> {
        let new = self.0.with_extension("new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private().write(true).create_new(true).open(&new)?;
        file.write_all(&list.to_json().map_err(io::Error::other)?)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&new, &self.0)?;
        File::open(directory)?.sync_all()
    }

    fn failed(&self, error: io::Error) -> FileProblem {
        FileProblem::io(&self.0, error)
    }
}

impl TokenList {
    /// Reads what the file has, or says in words what is wrong with it.
    pub(crate) fn from_json(text: &str) -> Result<Self, String> {
        let content: Content<Vec<Token>> = serde_json::from_str(text).map_err(|error| {
            format!("is not a list of tokens ({error}): restore it, or remove it")
        })?;
        match content.version {
            VERSION => Ok(Self::from_entries(content.tokens)),
            other => Err(format!("has version {other}, and this is {VERSION}")),
        }
    }

    /// What the file has.
    pub(crate) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&Content { version: VERSION, tokens: self.as_slice() })
    }
}

/// For its user alone, and never followed through a link somebody planted.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    options
}
