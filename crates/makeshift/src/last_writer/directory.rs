//! Replacing a file so that nobody ever sees half of it, and not a moment too late.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use claims::Timestamp;

use crate::clock;
use crate::fault::random_name;

/// Whether the file was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replaced {
    Yes,
    /// It was too late; nothing was changed.
    TooLate,
}

/// Replaces the file, unless `by` has passed when everything is ready. The temporary file is on the
/// same file system and has a dot in front, which everybody who lists leases leaves out.
pub(crate) fn replace(path: &Path, bytes: &[u8], by: Timestamp) -> io::Result<Replaced> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let name = random_name(8).map_err(io::Error::other)?;
    let temporary = directory.join(format!(".tenure-{name}-lock.json"));
    let written = write_new(directory, &temporary, bytes);
    let done = match written {
        Ok(()) if clock::at() < by => fs::rename(&temporary, path).map(|()| Replaced::Yes),
        Ok(()) => Ok(Replaced::TooLate),
        Err(error) => Err(error),
    };
    if !matches!(done, Ok(Replaced::Yes)) {
        let _ = fs::remove_file(&temporary);
    }
    done
}

fn write_new(directory: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = match File::create_new(temporary) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(directory)?;
            File::create_new(temporary)?
        }
        other => other?,
    };
    file.write_all(bytes)
}
