//! A directory in memory whose every call is a step of the schedule.

use std::collections::BTreeMap;
use std::io;

use registry::embedded::{Medium, MediumFile};

use crate::model::sync::{Arc, Mutex};

type Bytes = Arc<Mutex<Vec<u8>>>;

/// Copies are the same directory.
#[derive(Clone, Default)]
pub(super) struct Shelf(Arc<Mutex<BTreeMap<String, Bytes>>>);

#[derive(Clone)]
pub(super) struct ShelfFile(Bytes);

impl Shelf {
    fn file(&self, name: &str) -> io::Result<Bytes> {
        let files = self.0.lock().unwrap();
        files.get(name).cloned().ok_or(io::ErrorKind::NotFound.into())
    }
}

impl Medium for Shelf {
    type File = ShelfFile;

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().unwrap().keys().cloned().collect())
    }
    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        Ok(self.file(name)?.lock().unwrap().clone())
    }
    fn create(&self, name: &str, len: u64) -> io::Result<ShelfFile> {
        let bytes = Arc::new(Mutex::new(vec![0; len as usize]));
        self.0.lock().unwrap().insert(name.into(), bytes.clone());
        Ok(ShelfFile(bytes))
    }
    fn open(&self, name: &str) -> io::Result<ShelfFile> {
        self.file(name).map(ShelfFile)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut files = self.0.lock().unwrap();
        let bytes = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.into(), bytes);
        Ok(())
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.lock().unwrap().remove(name).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }
    fn sync_names(&self) -> io::Result<()> {
        Ok(())
    }
    fn birthmark(&self, name: &str) -> io::Result<u64> {
        self.file(name).map(|_| 1)
    }
}

impl MediumFile for ShelfFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap();
        let (from, end) = (offset as usize, offset as usize + bytes.len());
        let length = file.len().max(end);
        file.resize(length, 0);
        file[from..end].copy_from_slice(bytes);
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
