//! A disk that loses power: a file system in a file, which is shut down without a word.
//!
//! The call that file system testers use for it (`FS_IOC_SHUTDOWN` without a flush of the journal)
//! drops everything that was not made durable. What is found after the next mount is what a machine
//! finds after a power cut.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::{FallocateFlags, fallocate};

use crate::process::{LONG, run, until};

/// Room for the log, its snapshots and a database, and little enough to be filled at once.
const BYTES: u64 = 320 << 20;

/// What the disk is filled with.
const FILLER: &str = "filler";

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    Ext4,
    Xfs,
}

/// A mounted file system in a file, gone when dropped.
pub(crate) struct Disk {
    image: PathBuf,
    place: PathBuf,
}

impl Disk {
    /// Fails where mounting is not permitted.
    pub(crate) fn make(directory: &Path, kind: Kind) -> anyhow::Result<Self> {
        let (image, place) = (directory.join("image"), directory.join("disk"));
        File::create(&image)?.set_len(BYTES)?;
        std::fs::create_dir_all(&place)?;
        let make = match kind {
            Kind::Ext4 => "mkfs.ext4 -q -F -m 0",
            Kind::Xfs => "mkfs.xfs -q -f",
        };
        run(&format!("{make} {}", image.display()))?;
        let disk = Self { image, place };
        disk.mount().context("a file system cannot be mounted here")?;
        Ok(disk)
    }

    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// From now on nothing becomes durable any more. Whoever has files open sees errors.
    pub(crate) fn cut(&self) -> anyhow::Result<()> {
        run(&format!("xfs_io -x -c shutdown {}", self.place.display()))
    }

    /// What the next boot finds. Nobody may have a file open.
    pub(crate) fn boot(&self) -> anyhow::Result<()> {
        let umount = format!("umount {}", self.place.display());
        let mut tried = Ok(());
        // The last process to have a file open may be gone a moment later than it is waited for.
        until(LONG, || {
            tried = run(&umount);
            tried.is_ok()
        });
        tried?;
        self.mount()
    }

    fn mount(&self) -> anyhow::Result<()> {
        run(&format!("mount -o loop {} {}", self.image.display(), self.place.display()))
    }

    /// Leaves no room at all.
    pub(crate) fn fill(&self) -> anyhow::Result<()> {
        let file = File::create(self.place.join(FILLER))?;
        let mut length = 0;
        let mut step = BYTES;
        while step >= 512 {
            match fallocate(&file, FallocateFlags::empty(), length, step) {
                Ok(()) => length += step,
                Err(_) => step /= 2,
            }
        }
        Ok(())
    }

    pub(crate) fn free(&self) -> anyhow::Result<()> {
        Ok(std::fs::remove_file(self.place.join(FILLER))?)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let umount = format!("umount {}", self.place.display());
        if !until(std::time::Duration::from_secs(5), || run(&umount).is_ok()) {
            let _ = run(&format!("umount -l {}", self.place.display()));
        }
    }
}
