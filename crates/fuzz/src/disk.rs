//! A directory in memory: the medium of a log that is made, damaged and opened again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use registry::embedded::{Medium, MediumFile};

type Content = Rc<RefCell<Vec<u8>>>;

/// Copies of it are the same directory; [`Disk::image`] is another one.
#[derive(Clone, Default)]
pub(crate) struct Disk(Rc<RefCell<BTreeMap<String, Content>>>);

#[derive(Clone)]
pub(crate) struct DiskFile(Content);

impl Disk {
    /// What a crash at this moment would leave.
    pub(crate) fn image(&self) -> Self {
        let files = self.0.borrow();
        let copy = |file: &Content| Rc::new(RefCell::new(file.borrow().clone()));
        let copies = files.iter().map(|(name, file)| (name.clone(), copy(file)));
        Self(Rc::new(RefCell::new(copies.collect())))
    }

    pub(crate) fn put(&self, name: &str, bytes: Vec<u8>) {
        self.0.borrow_mut().insert(name.into(), Rc::new(RefCell::new(bytes)));
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.borrow().keys().cloned().collect()
    }

    fn file(&self, name: &str) -> io::Result<Content> {
        self.0.borrow().get(name).cloned().ok_or(io::ErrorKind::NotFound.into())
    }
}

impl Medium for Disk {
    type File = DiskFile;

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.names())
    }
    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        Ok(self.file(name)?.borrow().clone())
    }
    fn create(&self, name: &str, len: u64) -> io::Result<DiskFile> {
        self.put(name, vec![0; len as usize]);
        self.open(name)
    }
    fn open(&self, name: &str) -> io::Result<DiskFile> {
        self.file(name).map(DiskFile)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let file = self.file(from)?;
        self.remove(from)?;
        self.0.borrow_mut().insert(to.into(), file);
        Ok(())
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.borrow_mut().remove(name).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }
    fn sync_names(&self) -> io::Result<()> {
        Ok(())
    }
    fn birthmark(&self, _: &str) -> io::Result<u64> {
        // Nobody makes backups here.
        Ok(7)
    }
}

impl MediumFile for DiskFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        let mut file = self.0.borrow_mut();
        let length = file.len().max(end);
        file.resize(length, 0);
        file[start..end].copy_from_slice(bytes);
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
