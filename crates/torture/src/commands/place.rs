//! Where what is needed comes from, and what is kept of it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;

use super::name;
use crate::disk;

#[derive(Args, Clone, Debug)]
pub(super) struct Place {
    /// The `tenure` to be tortured; without it, the one beside this program.
    #[arg(long, value_name = "PATH")]
    tenure: Option<PathBuf>,
    /// Keep history and logs in this directory; without it they are kept only if something was
    /// found.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// The file system of the disk that loses power.
    #[arg(long, default_value = "ext4")]
    pub(super) disk: disk::Kind,
    /// One more word for `tenure serve`, such as --server-flag=--durability=none.
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub(super) server_flag: Vec<String>,
}

impl Place {
    pub(super) fn tenure(&self) -> anyhow::Result<PathBuf> {
        let beside = || Ok::<_, std::io::Error>(std::env::current_exe()?.with_file_name("tenure"));
        let path = self.tenure.clone().map_or_else(beside, Ok)?;
        ensure!(path.exists(), "there is no {}: cargo build -p cli makes it", path.display());
        path.canonicalize().with_context(|| path.display().to_string())
    }

    pub(super) fn directory(&self) -> anyhow::Result<Directory> {
        Directory::new(self.keep.as_deref())
    }

    /// The words that say the same again.
    pub(super) fn again(&self) -> String {
        let mut words = format!(" --disk {}", name(&self.disk));
        if let Some(tenure) = &self.tenure {
            let _ = write!(words, " --tenure {}", tenure.display());
        }
        for flag in &self.server_flag {
            let _ = write!(words, " --server-flag={flag}");
        }
        words
    }
}

/// The directory of a run: gone after it, unless somebody wants to keep it.
pub(super) enum Directory {
    Kept(PathBuf),
    Passing(tempfile::TempDir),
}

impl Directory {
    fn new(keep: Option<&Path>) -> anyhow::Result<Self> {
        let Some(keep) = keep else {
            let directory = tempfile::Builder::new().prefix("torture-").tempdir()?;
            // A database that does not run as root must get through.
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(directory.path(), open)?;
            return Ok(Self::Passing(directory));
        };
        std::fs::create_dir_all(keep)?;
        let is_empty = std::fs::read_dir(keep)?.next().is_none();
        ensure!(is_empty, "{} is not empty: name another directory", keep.display());
        Ok(Self::Kept(keep.canonicalize()?))
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Passing(directory) => directory.path(),
        }
    }

    /// Says what to do about what was found, on the error output so that a report stays readable by
    /// programs.
    pub(super) fn tell(self, again: &str) {
        let path = match self {
            Self::Kept(path) => path,
            Self::Passing(directory) => directory.keep(),
        };
        // The disk itself is of no use without the processes.
        let _ = std::fs::remove_file(path.join("image"));
        eprintln!("again: {again}");
        eprintln!("history and logs: {}", path.display());
    }
}
