//! The simulated disk: the [`Medium`] under the real store, with everything a disk may do to it.
//!
//! What was written is at first only in the cache. A power cut leaves, of each block written since
//! the last sync, the new bytes, the old ones, or a mixture sector by sector; and of the names
//! changed since the last sync of the directory, the first few changes. A sync that fails leaves the
//! cache believing that it is clean: a second one succeeds and proves nothing.
//!
//! A crash can be armed to happen *inside* the store's work, at a chosen operation: the disk then
//! answers every call with an error, and the driver turns that into a crash.

mod crash;
mod faults;
mod file;

use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use claims::Span;
use registry::embedded::{Medium, MediumFile};

pub use self::faults::CrashAt;
use self::faults::{Faults, Operation};
use self::file::{Content, Inode};
use crate::rng::Rng;

/// A disk. Copies of it are the same disk.
#[derive(Debug, Clone)]
pub struct Disk(Rc<RefCell<Platter>>);

/// An open file.
#[derive(Debug, Clone)]
pub struct DiskFile {
    disk: Disk,
    inode: Inode,
}

#[derive(Debug)]
struct Platter {
    files: BTreeMap<Inode, Content>,
    /// The directory as the running system sees it, and as a power cut would leave it at least.
    names: BTreeMap<String, Inode>,
    durable_names: BTreeMap<String, Inode>,
    unsynced_names: Vec<NameChange>,
    next_inode: u64,
    faults: Faults,
    rng: Rng,
    /// How long the calls since the last look took.
    latency: Span,
    /// Where the last commit that succeeded began to write: see [`Disk::flip_bits`].
    last_commit: Vec<(Inode, u64)>,
    /// The same for the commit under way.
    commit: Vec<(Inode, u64)>,
    /// Bits that were flipped and can be flipped back.
    flips: Vec<crash::Flip>,
}

#[derive(Debug, Clone)]
enum NameChange {
    Link { name: String, inode: Inode },
    Rename { from: String, to: String },
    Unlink { name: String },
}

impl NameChange {
    fn apply(self, names: &mut BTreeMap<String, Inode>) {
        match self {
            Self::Link { name, inode } => {
                names.insert(name, inode);
            }
            Self::Rename { from, to } => {
                if let Some(inode) = names.remove(&from) {
                    names.insert(to, inode);
                }
            }
            Self::Unlink { name } => {
                names.remove(&name);
            }
        }
    }
}

impl Disk {
    /// An empty disk, on which this seed decides what is lost.
    pub fn seeded(seed: u64) -> Self {
        Self::new(Rng::new(seed))
    }

    pub(crate) fn new(rng: Rng) -> Self {
        Self(Rc::new(RefCell::new(Platter {
            files: BTreeMap::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            unsynced_names: Vec::new(),
            next_inode: 1,
            faults: Faults::default(),
            rng,
            latency: Span::ZERO,
            last_commit: Vec::new(),
            commit: Vec::new(),
            flips: Vec::new(),
        })))
    }

    fn platter(&self) -> RefMut<'_, Platter> {
        self.0.borrow_mut()
    }

    /// How long the calls since the last question took.
    pub(crate) fn take_latency(&self) -> Span {
        std::mem::take(&mut self.platter().latency)
    }

    /// As if it had not been asked.
    pub(crate) fn add_latency(&self, latency: Span) {
        let mut platter = self.platter();
        platter.latency = Span::from_micros(platter.latency.as_micros() + latency.as_micros());
    }

    /// The number of files, and the bytes they take up.
    pub(crate) fn usage(&self) -> (usize, u64) {
        let platter = self.platter();
        (platter.names.len(), platter.used())
    }

    /// What is written from here on belongs to one commit.
    pub(crate) fn begin_commit(&self) {
        self.platter().commit.clear();
    }

    /// That commit succeeded.
    pub(crate) fn end_commit(&self) {
        let platter = &mut *self.platter();
        if !platter.commit.is_empty() {
            std::mem::swap(&mut platter.commit, &mut platter.last_commit);
        }
    }
}

impl Platter {
    fn used(&self) -> u64 {
        let files = self.names.values().filter_map(|at| self.files.get(at));
        files.map(|file| file.bytes.len() as u64).sum()
    }

    fn inode(&self, name: &str) -> io::Result<Inode> {
        let inode = self.names.get(name).copied();
        inode.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn change_names(&mut self, change: NameChange) {
        change.clone().apply(&mut self.names);
        self.unsynced_names.push(change);
    }

    fn sync_names(&mut self) {
        self.unsynced_names.clear();
        self.durable_names.clone_from(&self.names);
        let Self { files, names, .. } = self;
        files.retain(|inode, _| names.values().any(|at| at == inode));
    }
}

impl Medium for Disk {
    type File = DiskFile;

    fn list(&self) -> io::Result<Vec<String>> {
        self.platter().work()?;
        Ok(self.platter().names.keys().cloned().collect())
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let platter = self.platter();
        platter.work()?;
        let inode = platter.inode(name)?;
        Ok(platter.files[&inode].bytes.clone())
    }

    fn create(&self, name: &str, len: u64) -> io::Result<DiskFile> {
        let mut platter = self.platter();
        platter.before(Operation::Names)?;
        platter.take_up(len)?;
        let inode = Inode(platter.next_inode);
        platter.next_inode += 1;
        platter.files.insert(inode, Content::zeros(len));
        let name = name.to_owned();
        platter.change_names(NameChange::Link { name, inode });
        platter.after(Operation::Names)?;
        drop(platter);
        let disk = self.clone();
        Ok(DiskFile { disk, inode })
    }

    fn open(&self, name: &str) -> io::Result<DiskFile> {
        self.platter().work()?;
        let inode = self.platter().inode(name)?;
        let disk = self.clone();
        Ok(DiskFile { disk, inode })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut platter = self.platter();
        platter.before(Operation::Names)?;
        platter.inode(from)?;
        let (from, to) = (from.to_owned(), to.to_owned());
        platter.change_names(NameChange::Rename { from, to });
        platter.after(Operation::Names)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut platter = self.platter();
        platter.before(Operation::Names)?;
        platter.inode(name)?;
        let name = name.to_owned();
        platter.change_names(NameChange::Unlink { name });
        platter.after(Operation::Names)
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut platter = self.platter();
        platter.before(Operation::Sync)?;
        if platter.sync_fails() {
            return Err(io::Error::other("simulated: the directory was not synced"));
        }
        platter.sync_names();
        platter.after(Operation::Sync)
    }

    fn birthmark(&self, name: &str) -> io::Result<u64> {
        self.platter().inode(name).map(|Inode(number)| number)
    }
}

impl MediumFile for DiskFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let platter = &mut *self.disk.platter();
        platter.before(Operation::Write)?;
        if platter.write_fails() {
            return Err(io::Error::other("simulated: the write failed"));
        }
        let len = platter.files.get(&self.inode).map_or(0, Content::len);
        platter.take_up((offset + bytes.len() as u64).saturating_sub(len))?;
        if !platter.commit.iter().any(|&(inode, _)| inode == self.inode) {
            platter.commit.push((self.inode, offset));
        }
        if let Some(file) = platter.files.get_mut(&self.inode) {
            file.write(offset, bytes);
        }
        platter.after(Operation::Write)
    }

    fn sync(&self) -> io::Result<()> {
        let platter = &mut *self.disk.platter();
        platter.before(Operation::Sync)?;
        let fails = platter.sync_fails();
        if let Some(file) = platter.files.get_mut(&self.inode) {
            if fails {
                file.fail_to_sync(&mut platter.rng);
                return Err(io::Error::other("simulated: the sync failed"));
            }
            file.sync();
        }
        platter.after(Operation::Sync)
    }
}
